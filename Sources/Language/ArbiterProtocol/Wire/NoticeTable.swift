/// Every notice to a session, described once.
extension NoticeDescription {
    private static let interruptions: [NoticeDescription] = [
        NoticeDescription(
            "WillBeInterrupted", "The camera goes at the deadline (nanoseconds of CLOCK_MONOTONIC), or on `Ready`.",
            SessionEvent.willBeInterrupted, InterruptionWarning(),
            [
                Field("interruption", \.id), Field("cause", \.cause), Field("deadline", \.deadline),
                Field("rule", \.rule), .later("message", \.message),
            ]
        ) { if case .willBeInterrupted(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "InterruptionWithdrawn", "It stays.", SessionEvent.interruptionWithdrawn, InterruptionID(),
            [Field("interruption", \.self)]
        ) { if case .interruptionWithdrawn(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "WasInterrupted", "Interrupted; `recording` is the one that was cut, or 0.", SessionEvent.wasInterrupted,
            Interruption(),
            [
                Field("interruption", \.id), Field("causes", \.causes), .reason, Field("interrupter", \.interrupter),
                Field("recording", \.recording), Field("rule", \.rule), .later("message", \.message),
            ]
        ) { if case .wasInterrupted(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "InterruptionChanged", "Other causes or another interrupter, the same interruption.",
            SessionEvent.interruptionChanged, Interruption(),
            [
                Field("interruption", \.id), Field("causes", \.causes), .reason, Field("interrupter", \.interrupter),
                Field("rule", \.rule), .later("message", \.message),
            ]
        ) { if case .interruptionChanged(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "InterruptionEnded",
            "Ended after `duration` nanoseconds; `causes` lists all that it had; `recording` is the one that it cut, or 0.",
            SessionEvent.interruptionEnded, InterruptionEnd(),
            [
                Field("interruption", \.id), Field("causes", \.causes), Field("duration", \.duration),
                Field("willResume", \.willResume), .later("recording", \.recording),
            ]
        ) { if case .interruptionEnded(let told) = $0 { told } else { nil } },
    ]

    private static let running: [NoticeDescription] = [
        NoticeDescription(
            "DidStartRunning", "Frames flow: open the stream.", SessionEvent.didStartRunning, GrantID(0),
            [Field("grant", \.self)]
        ) { if case .didStartRunning(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "DidStopRunning", "No frame is captured for this session any more.", { .didStopRunning }, (), [],
            value: { if case .didStopRunning = $0 { () } else { nil } }),
        NoticeDescription(
            "AccessChanged", "What the session may do now, without an interruption.", SessionEvent.accessChanged,
            AccessChange(),
            [
                Field("access", \.access), Field("causes", \.causes), Field("rule", \.rule),
                .later("message", \.message), .later("controller", \.controller),
            ]
        ) { if case .accessChanged(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "SharersChanged",
            "To a shared camera's holder: the apps that watch it, each once; other users' as \"another user's app\".",
            SessionEvent.sharersChanged, [], [Field("sharers", \.self)]
        ) { if case .sharersChanged(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "SessionStopped", "Stopped for good; may start again.", SessionEvent.sessionStopped, SessionStop(),
            [Field("reason", \.reason), Field("rule", \.rule), .later("message", \.message)]
        ) { if case .sessionStopped(let told) = $0 { told } else { nil } },
    ]

    private static let outputs: [NoticeDescription] = [
        NoticeDescription(
            "RecordingStarted",
            """
            Recording: the file begins with the next picture that is captured, and its tag `FIRST_CAPTURE` says when that was \
            (nanoseconds of CLOCK_MONOTONIC).
            """, SessionEvent.recordingStarted, RecordingID(), [Field("recording", \.self)]
        ) { if case .recordingStarted(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "RecordingPaused", "Paused by its client: no frame gets into the file.", SessionEvent.recordingPaused,
            RecordingID(), [Field("recording", \.self)]
        ) { if case .recordingPaused(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "RecordingResumed", "The same file goes on, with the next frame.", SessionEvent.recordingResumed,
            RecordingID(), [Field("recording", \.self)]
        ) { if case .recordingResumed(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "RecordingFinished",
            """
            The file is whole and playable. What is not known of it (“Files for a photo or a recording”) is 2^64 - 1 in `frames` and \
            `bytes`, and -1 in `duration`. `framesLeftOut` could not be written in time, or not be had from footage in time; \
            `lastCapture` is when its last frame was captured (nanoseconds of CLOCK_MONOTONIC, 0: not known); `cause` and \
            `interrupter` say for what it was cut ("": it was not, or the client may not know).
            """, SessionEvent.recordingFinished, RecordingFinished(),
            [
                Field("recording", \.recording), Field("why", \.why),
                .known("frames", \.frames, else: UnknownFigure.count, if: { $0 != UnknownFigure.count }),
                .known("duration", \.duration, else: .nanoseconds(UnknownFigure.nanoseconds), if: { $0 >= .zero }),
                .known("bytes", \.bytes, else: UnknownFigure.count, if: { $0 != UnknownFigure.count }),
                Field("nextChance", \.nextChance),
                .later("framesLeftOut", \.framesLeftOut), .later("lastCapture", \.lastCapture),
                .later("cause", \.cause), .later("interrupter", \.interrupter),
            ]
        ) { if case .recordingFinished(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "PhotoCaptured", "The JPEG is whole, or `error` says why not; `metadata` is how it was taken.",
            SessionEvent.photoCaptured, PhotoCaptured(), PhotoCaptured.fields
        ) { if case .photoCaptured(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "ConfigurationApplied", "What was asked, and the whole of what is in force.",
            SessionEvent.configurationApplied, ConfigurationChange(),
            [Field("asked", \.asked), Field("inForce", \.inForce), Field("by", \.by)]
        ) { if case .configurationApplied(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "RampFinished", "A zoom ramp arrived.", SessionEvent.rampFinished, 1, [Field("videoZoomFactor", \.self)]
        ) { if case .rampFinished(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "ConnectionsFormed",
            "After a switch of cameras, which severs all connections: `reopen` are the outputs to open again: `preview` by `OpenStream`, `microphone` by `AttachMicrophone`, `metadata` by the next `StartRecording`.",
            { .connectionsFormed(camera: $0.camera, reopen: $0.reopen) }, (camera: CameraID(""), reopen: []),
            [Field("camera", \.camera), Field("reopen", \.reopen)],
            value: { if case .connectionsFormed(let camera, let reopen) = $0 { (camera, reopen) } else { nil } }),
        NoticeDescription(
            "CameraStateChanged",
            """
            What the camera says of itself and is not as it was told last (keys: below), at most 10 times a second; a mode \
            that was `auto` and has done its work is `locked`.
            """, SessionEvent.cameraStateChanged, Configuration(), [Field("state", \.self)]
        ) { if case .cameraStateChanged(let told) = $0 { told } else { nil } },
        NoticeDescription(
            "RuntimeError", "Something failed; the session lives.",
            { .runtimeError(code: $0.code, message: $0.message) }, (code: "", message: ""),
            [Field("code", \.code), Field("message", \.message)],
            value: { if case .runtimeError(let code, let message) = $0 { (code, message) } else { nil } }),
    ]

    package static let all: [NoticeDescription] = interruptions + running + outputs

    private static let byName: [String: NoticeDescription] = Dictionary(uniqueKeysWithValues: all.map { ($0.name, $0) })

    package static func named(_ name: String) -> NoticeDescription? { byName[name] }
}

/// The description of a notice: its signal and arguments (introspection, `docs/wire.md`), how it is written, and how it
/// is read.
package struct NoticeDescription: Sendable {
    package let name: String
    /// Of all arguments of the signal.
    package let signature: String
    package let signal: Interface.Signal
    private let write: @Sendable (SessionEvent, (String, WireValue) -> Void) -> Void
    private let reading: @Sendable (inout WireReader) throws(BrokerError) -> SessionEvent

    /// The first arguments of every notice: its place in the session's order, and its decision.
    private static let head = [Interface.Argument("sequence", "t"), Interface.Argument("decision", "t")]

    private init<Value: Sendable>(
        _ name: String, _ summary: String, _ make: @escaping @Sendable (Value) -> SessionEvent, _ blank: Value,
        _ fields: [Field<Value>], value: @escaping @Sendable (SessionEvent) -> Value?
    ) {
        self.name = name
        let arguments = Self.head + fields.map { Interface.Argument($0.name, $0.type) }
        signature = arguments.map(\.type).joined()
        signal = Interface.Signal(name, arguments, summary)
        write = { notice, say in
            guard let value = value(notice) else { preconditionFailure("\(notice) is not described by \(name)") }
            for place in fields.indices { if let wire = fields[place].value(value) { say(fields[place].name, wire) } }
        }
        reading = { (reader) throws(BrokerError) in make(try fields.read(blank, &reader)) }
    }

    /// Passes each argument behind sequence and decision, with its name.
    package func forEachValue(of notice: SessionEvent, _ say: (String, WireValue) -> Void) { write(notice, say) }

    /// Passes all arguments of the signal, in order.
    package func forEachArgument(
        of notice: SessionEvent, sequence: UInt64, decision: DecisionID, _ say: (WireValue) -> Void
    ) {
        say(.uint64(sequence))
        say(.uint64(decision))
        write(notice) { _, value in say(value) }
    }

    func read(_ reader: inout WireReader) throws(BrokerError) -> SessionEvent { try reading(&reader) }
}

extension Field<Interruption> {
    /// It follows from the set: the reason is its first.
    fileprivate static var reason: Field { .repeating("reason") { $0.reason?.wireName ?? "" } }
}

extension PhotoCaptured {
    /// The last arguments of the recorder core's signal and of the session's.
    fileprivate static let fields: [Field<PhotoCaptured>] = [
        Field("photo", \.photo), Field("width", \.width), Field("height", \.height), Field("bytes", \.bytes),
        Field("error", \.error), .later("metadata", \.metadata),
    ]

    package init(reading reader: inout WireReader) throws(BrokerError) {
        self = try Self.fields.read(PhotoCaptured(), &reader)
    }
}
