/// A session's event as it travels: with its place in the session's order, and the decision it came from.
public struct SessionSignal: Hashable, Sendable {
    /// Counts the session's events from 1, without gaps.
    public var sequence: UInt64
    /// What `Explain` takes. Events of one decision share it.
    public var decision: DecisionID
    public var event: SessionEvent

    public init(sequence: UInt64, decision: DecisionID, event: SessionEvent) {
        self.sequence = sequence
        self.decision = decision
        self.event = event
    }

    /// Reads a signal of `org.camarb.Session1`.
    /// - Throws: `.invalidArguments` with what is wrong; a signal this library does not know is wrong too,
    ///   since skipping it would hide a gap.
    public init(signal: WireSignal) throws(BrokerError) {
        var reader = WireReader(signal.member, signal.arguments)
        sequence = try reader.uint64("sequence")
        decision = try reader.uint64("decision")
        event = try SessionEvent(member: signal.member, &reader)
    }

    /// The signal as `session` sends it.
    public func signal(of session: SessionID) -> WireSignal {
        WireSignal(
            path: ObjectPath.session(session), interface: InterfaceName.session, member: event.wireName,
            arguments: event.wireArguments(sequence: sequence, decision: decision))
    }
}

extension Interrupter {
    /// The word on the wire; `""` there means that nobody is named.
    public var wireName: String { description }

    /// Nil for `""`.
    public init?(wireName: String) {
        guard !wireName.isEmpty else { return nil }
        if wireName == Interrupter.anotherUsersApp.wireName {
            self = .anotherUsersApp
        } else if wireName.hasPrefix(Self.outsidePrefix) {
            self = .outside(String(wireName.dropFirst(Self.outsidePrefix.count)))
        } else {
            self = .app(wireName)
        }
    }
}

extension SessionEvent {
    /// The signal's arguments, in the order of the table in `Interface.session`.
    public func wireArguments(sequence: UInt64, decision: DecisionID) -> [WireValue] {
        [.uint64(sequence), .uint64(decision)] + bareArguments
    }

    private var bareArguments: [WireValue] {
        switch self {
        case .willBeInterrupted(let id, let cause, let deadline, let rule):
            [.uint64(id), .string(cause.wireName), .int64(deadline.nanoseconds), .string(rule)]
        case .interruptionWithdrawn(let id):
            [.uint64(id)]
        case .wasInterrupted(let id, let causes, let interrupter, let cutting, let rule):
            [
                .uint64(id), causes.wire, causes.wireReason, .string(interrupter?.wireName ?? ""),
                .uint64(cutting ?? 0), .string(rule),
            ]
        case .interruptionChanged(let id, let causes, let interrupter, let rule):
            [.uint64(id), causes.wire, causes.wireReason, .string(interrupter?.wireName ?? ""), .string(rule)]
        case .interruptionEnded(let id, let causesItHad, let duration, let willResume):
            [.uint64(id), causesItHad.wire, .int64(duration.wholeNanoseconds), .boolean(willResume)]
        case .didStartRunning(let grant):
            [.uint64(grant.rawValue)]
        case .didStopRunning:
            []
        case .accessChanged(let access, let causes, let rule):
            [.strings(access.names), causes.wire, .string(rule)]
        case .sharersChanged(let sharers):
            [.strings(sharers.map(\.wireName))]
        case .sessionStopped(let reason, let rule):
            [.string(reason.rawValue), .string(rule)]
        case .recordingStarted(let recording):
            [.uint64(recording)]
        case .recordingFinished(let end):
            [
                .uint64(end.recording), .string(end.why.rawValue), .uint64(end.frames),
                .int64(end.duration.wholeNanoseconds), .uint64(end.bytes), .string(end.nextChance.rawValue),
            ]
        case .photoCaptured(let photo):
            [
                .uint64(photo.photo), .uint32(photo.width), .uint32(photo.height), .uint64(photo.bytes),
                .string(photo.error ?? ""),
            ]
        case .configurationApplied(let asked, let inForce, let by):
            [.dictionary(asked.wire), .dictionary(inForce.wire), .string(by.rawValue)]
        case .rampFinished(let videoZoomFactor):
            [.double(videoZoomFactor)]
        case .runtimeError(let code, let message):
            [.string(code), .string(message)]
        }
    }

    /// Reads what follows the sequence number and the decision.
    fileprivate init(member: String, _ reader: inout WireReader) throws(BrokerError) {
        switch member {
        case "WillBeInterrupted":
            self = .willBeInterrupted(
                id: try reader.uint64("interruption"), cause: try reader.cause("cause"),
                deadline: Moment(nanoseconds: try reader.int64("deadline")), rule: try reader.string("rule"))
        case "InterruptionWithdrawn":
            self = .interruptionWithdrawn(id: try reader.uint64("interruption"))
        case "WasInterrupted":
            let id = try reader.uint64("interruption")
            let causes = try reader.causes("causes")
            _ = try reader.string("reason")  // The set says it already: the reason is its first.
            let interrupter = Interrupter(wireName: try reader.string("interrupter"))
            let recording = try reader.uint64("recording")
            self = .wasInterrupted(
                id: id, causes: causes, interrupter: interrupter, cutting: recording == 0 ? nil : recording,
                rule: try reader.string("rule"))
        case "InterruptionChanged":
            let id = try reader.uint64("interruption")
            let causes = try reader.causes("causes")
            _ = try reader.string("reason")
            let interrupter = Interrupter(wireName: try reader.string("interrupter"))
            self = .interruptionChanged(
                id: id, causes: causes, interrupter: interrupter, rule: try reader.string("rule"))
        case "InterruptionEnded":
            self = .interruptionEnded(
                id: try reader.uint64("interruption"), causesItHad: try reader.causes("causes"),
                duration: .nanoseconds(try reader.int64("duration")), willResume: try reader.boolean("willResume"))
        case "DidStartRunning":
            self = .didStartRunning(grant: GrantID(try reader.uint64("grant")))
        case "DidStopRunning":
            self = .didStopRunning
        case "AccessChanged":
            self = .accessChanged(
                try reader.access("access"), causes: try reader.causes("causes"), rule: try reader.string("rule"))
        case "SharersChanged":
            self = .sharersChanged(try reader.strings("sharers").compactMap(Interrupter.init(wireName:)))
        case "SessionStopped":
            self = .sessionStopped(try reader.word("reason"), rule: try reader.string("rule"))
        case "RecordingStarted":
            self = .recordingStarted(try reader.uint64("recording"))
        case "RecordingFinished":
            self = .recordingFinished(
                RecordingFinished(
                    recording: try reader.uint64("recording"), why: try reader.word("why"),
                    frames: try reader.uint64("frames"), duration: .nanoseconds(try reader.int64("duration")),
                    bytes: try reader.uint64("bytes"), nextChance: try reader.word("nextChance")))
        case "PhotoCaptured":
            self = .photoCaptured(try PhotoCaptured(reading: &reader))
        case "ConfigurationApplied":
            self = .configurationApplied(
                asked: try Configuration(wire: reader.dictionary("asked")),
                inForce: try Configuration(wire: reader.dictionary("inForce")), by: try reader.word("by"))
        case "RampFinished":
            self = .rampFinished(videoZoomFactor: try reader.number("videoZoomFactor"))
        case "RuntimeError":
            self = .runtimeError(code: try reader.string("code"), message: try reader.string("message"))
        default:
            throw BrokerError(
                .invalidArguments,
                "\(member.quotedShort) is no signal of \(InterfaceName.session) that this library knows.")
        }
    }
}

extension PhotoCaptured {
    /// As the recorder core's signal and the session's both end.
    package init(reading reader: inout WireReader) throws(BrokerError) {
        self.init(
            photo: try reader.uint64("photo"), width: try reader.uint32("width"), height: try reader.uint32("height"),
            bytes: try reader.uint64("bytes"))
        let said = try reader.string("error")
        error = said.isEmpty ? nil : said
    }
}

extension CauseSet {
    /// `as`, the reason first.
    public var wire: WireValue { .strings(ordered.map(\.wireName)) }
    /// The reason's name, or `""`.
    public var wireReason: WireValue { .string(reason?.wireName ?? "") }
}
