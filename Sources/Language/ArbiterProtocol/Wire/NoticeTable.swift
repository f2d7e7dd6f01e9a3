/// Every notice to a session, described once.
extension NoticeDescription {
    static let interruptions: [NoticeDescription] = [
        NoticeDescription(
            .willBeInterrupted, "The camera goes at the deadline (nanoseconds of CLOCK_MONOTONIC), or on `Ready`.",
            SessionEvent.willBeInterrupted, .number("interruption"), .cause, .deadline, .text("rule")
        ) {
            guard case .willBeInterrupted(let id, let cause, let deadline, let rule) = $0 else { return nil }
            return (id, cause, deadline, rule)
        },
        NoticeDescription(
            .interruptionWithdrawn, "It stays.", SessionEvent.interruptionWithdrawn, .number("interruption")
        ) { if case .interruptionWithdrawn(let id) = $0 { id } else { nil } },
        NoticeDescription(
            .wasInterrupted, "Interrupted; `recording` is the one that was cut, or 0.", SessionEvent.wasInterrupted,
            .number("interruption"), .causesAndReason, .interrupter, .anyNumber("recording"), .text("rule")
        ) {
            guard case .wasInterrupted(let id, let causes, let interrupter, let cutting, let rule) = $0
            else { return nil }
            return (id, causes, interrupter, cutting, rule)
        },
        NoticeDescription(
            .interruptionChanged, "Other causes or another interrupter, the same interruption.",
            SessionEvent.interruptionChanged, .number("interruption"), .causesAndReason, .interrupter, .text("rule")
        ) {
            guard case .interruptionChanged(let id, let causes, let interrupter, let rule) = $0 else { return nil }
            return (id, causes, interrupter, rule)
        },
        NoticeDescription(
            .interruptionEnded,
            "Ended after `duration` nanoseconds; `causes` lists all that it had; `recording` is the one that it cut, or 0.",
            SessionEvent.interruptionEnded, .number("interruption"), .causes, .duration, .flag("willResume"),
            .anyNumber("recording").orAbsent(nil)
        ) {
            guard case .interruptionEnded(let id, let causes, let duration, let willResume, let cut) = $0
            else { return nil }
            return (id, causes, duration, willResume, cut)
        },
    ]

    private static let stopped: @Sendable () -> SessionEvent = { .didStopRunning }

    static let running: [NoticeDescription] = [
        NoticeDescription(
            .didStartRunning, "Frames flow: open the stream.", SessionEvent.didStartRunning, .grant
        ) { if case .didStartRunning(let grant) = $0 { grant } else { nil } },
        NoticeDescription(
            .didStopRunning, "No frame is captured for this session any more.", stopped
        ) { if case .didStopRunning = $0 { () } else { nil } },
        NoticeDescription(
            .accessChanged, "What the session may do now, without an interruption.", SessionEvent.accessChanged,
            .access, .causes, .text("rule")
        ) { if case .accessChanged(let access, let causes, let rule) = $0 { (access, causes, rule) } else { nil } },
        NoticeDescription(
            .sharersChanged,
            "To a shared camera's holder: the apps that watch it, each once; other users' as \"another user's app\".",
            SessionEvent.sharersChanged, .sharers
        ) { if case .sharersChanged(let sharers) = $0 { sharers } else { nil } },
        NoticeDescription(
            .sessionStopped, "Stopped for good; may start again.", SessionEvent.sessionStopped, .word("reason"),
            .text("rule")
        ) { if case .sessionStopped(let reason, let rule) = $0 { (reason, rule) } else { nil } },
    ]

    static let outputs: [NoticeDescription] = [
        NoticeDescription(
            .recordingStarted,
            """
            Recording: the file begins with the next picture that is captured, and its tag `FIRST_CAPTURE` says when that was \
            (nanoseconds of CLOCK_MONOTONIC).
            """, SessionEvent.recordingStarted, .number("recording")
        ) { if case .recordingStarted(let recording) = $0 { recording } else { nil } },
        NoticeDescription(
            .recordingPaused, "Paused by its client: no frame gets into the file.", SessionEvent.recordingPaused,
            .number("recording")
        ) { if case .recordingPaused(let recording) = $0 { recording } else { nil } },
        NoticeDescription(
            .recordingResumed, "The same file goes on, with the next frame.", SessionEvent.recordingResumed,
            .number("recording")
        ) { if case .recordingResumed(let recording) = $0 { recording } else { nil } },
        NoticeDescription(
            .recordingFinished,
            """
            The file is whole and playable. What is not known of it (“Files for a photo or a recording”) is 2^64 - 1 in `frames` and \
            `bytes`, and -1 in `duration`. `framesLeftOut` could not be written in time, or not be had from footage in time; \
            `lastCapture` is when its last frame was captured (nanoseconds of CLOCK_MONOTONIC, 0: not known); `cause` and \
            `interrupter` say for what it was cut ("": it was not, or the client may not know).
            """, SessionEvent.recordingFinished, .finishedRecording
        ) { if case .recordingFinished(let finished) = $0 { finished } else { nil } },
        NoticeDescription(
            .photoCaptured, "The JPEG is whole, or `error` says why not; `metadata` is how it was taken.",
            SessionEvent.photoCaptured, .photo
        ) { if case .photoCaptured(let photo) = $0 { photo } else { nil } },
        NoticeDescription(
            .configurationApplied, "What was asked, and the whole of what is in force.",
            SessionEvent.configurationApplied, .configuration("asked"), .configuration("inForce"), .word("by")
        ) { if case .configurationApplied(let asked, let inForce, let by) = $0 { (asked, inForce, by) } else { nil } },
        NoticeDescription(
            .rampFinished, "A zoom ramp arrived.", SessionEvent.rampFinished, .factor("videoZoomFactor")
        ) { if case .rampFinished(let factor) = $0 { factor } else { nil } },
        NoticeDescription(
            .connectionsFormed,
            "After a switch of cameras, which severs all connections: `reopen` are the outputs to open again: `preview` by `OpenStream`, `microphone` by `AttachMicrophone`, `metadata` by the next `StartRecording`.",
            SessionEvent.connectionsFormed, .camera, .outputs
        ) { if case .connectionsFormed(let camera, let reopen) = $0 { (camera, reopen) } else { nil } },
        NoticeDescription(
            .cameraStateChanged,
            """
            What the camera says of itself and is not as it was told last (keys: below), at most 10 times a second; a mode \
            that was `auto` and has done its work is `locked`.
            """, SessionEvent.cameraStateChanged, .configuration("state")
        ) { if case .cameraStateChanged(let state) = $0 { state } else { nil } },
        NoticeDescription(
            .runtimeError, "Something failed; the session lives.", SessionEvent.runtimeError, .text("code"),
            .text("message")
        ) { if case .runtimeError(let code, let message) = $0 { (code, message) } else { nil } },
    ]
}

/// What is to be known of a notice to a session on the wire: the signal that carries it, with which arguments of which types
/// (introspection, `docs/wire.md`), how it is written, and how it is read.
package struct NoticeDescription: Sendable {
    package let kind: SessionEventKind
    package let summary: String
    private let field: NoticeField<SessionEvent>
    /// Of all that the signal carries.
    package let signature: String

    /// - Parameters:
    ///   - make: the notice's own case.
    ///   - fields: one for each of its values, in their order.
    ///   - take: the notice's values; nil: it is another one.
    init<each Value: Sendable>(
        _ kind: SessionEventKind, _ summary: String, _ make: @escaping @Sendable (repeat each Value) -> SessionEvent,
        _ fields: repeat NoticeField<each Value>, take: @escaping @Sendable (SessionEvent) -> (repeat each Value)?
    ) {
        self.kind = kind
        self.summary = summary
        field = NoticeField(make, repeat each fields, take: take)
        signature = (Self.head + field.carries).map(\.type).joined()
    }

    /// What every notice begins with: its place in the session's order, and the decision it came from.
    private static let head = [Interface.Argument("sequence", "t"), Interface.Argument("decision", "t")]

    package var signal: Interface.Signal { Interface.Signal(kind.rawValue, Self.head + field.carries, summary) }

    /// Says each argument behind sequence and decision, with its name.
    package func forEachValue(of notice: SessionEvent, _ say: (String, WireValue) -> Void) { field.write(notice, say) }

    /// Reads what follows sequence and decision.
    func read(_ reader: inout WireReader) throws(BrokerError) -> SessionEvent { try field.read(&reader) }

    /// In the order of `SessionEventKind`.
    package static let all: [NoticeDescription] = {
        let described = interruptions + running + outputs
        return SessionEventKind.allCases.map { kind in
            let found = described.filter { $0.kind == kind }
            guard let description = found.first, found.count == 1 else {
                preconditionFailure("\(kind) is described \(found.count) times")
            }
            return description
        }
    }()

    private static let byKind: [SessionEventKind: NoticeDescription] = Dictionary(
        uniqueKeysWithValues: all.map { ($0.kind, $0) })

    package static func of(_ kind: SessionEventKind) -> NoticeDescription {
        guard let description = byKind[kind] else { preconditionFailure("\(kind) is not described") }
        return description
    }
}
