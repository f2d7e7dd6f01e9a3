public import ArbiterProtocol

/// What a session's client is told, as a program likes to switch over it. The order, and what each means, is
/// `docs/semantics.md` §4; `SessionNotice` has the same with sequence number and decision id.
public enum ClientEvent: Hashable, Sendable {
    /// The camera goes at the deadline. Finish what you do and answer `ready`, or let time run out.
    case willBeInterrupted(InterruptionWarning)
    case interruptionWithdrawn(InterruptionID)
    case wasInterrupted(Interruption)
    /// Other causes or another interrupter, the same interruption.
    case interruptionChanged(Interruption)
    case interruptionEnded(InterruptionEnd)
    /// Frames flow: open the stream. A stream belongs to one grant, so open it anew each time.
    case didStartRunning(GrantID)
    case didStopRunning
    case accessChanged(AccessChange)
    /// To the holder of a shared camera: whose apps watch it now. Empty when nobody does.
    case sharersChanged([Interrupter])
    /// Stopped for good; `startRunning` may ask anew.
    case sessionStopped(SessionStop)
    case recordingStarted(RecordingID)
    /// Its client asked for it; `recordingResumed` goes on in the same file.
    case recordingPaused(RecordingID)
    case recordingResumed(RecordingID)
    case recordingFinished(RecordingFinished)
    case photoCaptured(PhotoCaptured)
    case configurationApplied(ConfigurationChange)
    case rampFinished(videoZoomFactor: Double)
    /// After a switch of cameras: the outputs that have to be opened again.
    case connectionsFormed(camera: CameraID, reopen: [SessionOutput])
    /// What of the camera's state is not as it was told last: `adjustingFocus`, `lensPosition`, a mode that ended by itself …
    case cameraStateChanged(Configuration)
    case runtimeError(code: String, message: String)
    /// The last event, always: the session is over, and why.
    case ended(BrokerError)
}

/// An interruption that comes, unless it is withdrawn.
public struct InterruptionWarning: Hashable, Sendable {
    public var id: InterruptionID
    public var cause: Cause
    /// On `CLOCK_MONOTONIC`.
    public var deadline: Moment
    /// The policy's rule, by name.
    public var rule: String
}

/// An interruption under way.
public struct Interruption: Hashable, Sendable {
    public var id: InterruptionID
    public var causes: CauseSet
    /// The app that took the camera, as far as the client may know; nil where none did.
    public var interrupter: Interrupter?
    /// The recording that was cut by it.
    public var recording: RecordingID?
    /// The policy's rule, by name.
    public var rule: String

    /// The most telling of its causes; nil only if the broker sent an empty set.
    public var reason: Cause? { causes.reason }
    /// Whether the client itself must act (`continue`) before the session can run again.
    public var needsAction: Bool { causes.contains(.sensitiveContentMitigationActivated) }
}

/// An interruption that is over.
public struct InterruptionEnd: Hashable, Sendable {
    public var id: InterruptionID
    /// All the causes it had.
    public var causes: CauseSet
    public var duration: Duration
    /// False when `stopRunning` ended it.
    public var willResume: Bool
    /// The recording that it cut: none goes on by itself.
    public var recording: RecordingID?
}

/// Another access, without an interruption.
public struct AccessChange: Hashable, Sendable {
    public var access: Access
    public var causes: CauseSet
    public var rule: String
}

/// A terminal stop.
public struct SessionStop: Hashable, Sendable {
    public var reason: StopReason
    public var rule: String
}

/// A configuration that took effect.
public struct ConfigurationChange: Hashable, Sendable {
    public var asked: Configuration
    /// The whole of what is in force; differs from `asked` where the nearest supported value was taken.
    public var inForce: Configuration
    public var by: Applier
}

extension ClientEvent {
    public init(_ event: SessionEvent) {
        self =
            switch event {
            case .willBeInterrupted(let id, let cause, let deadline, let rule):
                .willBeInterrupted(InterruptionWarning(id: id, cause: cause, deadline: deadline, rule: rule))
            case .interruptionWithdrawn(let id): .interruptionWithdrawn(id)
            case .wasInterrupted(let id, let causes, let interrupter, let cutting, let rule):
                .wasInterrupted(
                    Interruption(id: id, causes: causes, interrupter: interrupter, recording: cutting, rule: rule))
            case .interruptionChanged(let id, let causes, let interrupter, let rule):
                .interruptionChanged(
                    Interruption(id: id, causes: causes, interrupter: interrupter, recording: nil, rule: rule))
            case .interruptionEnded(let id, let causes, let duration, let willResume, let cut):
                .interruptionEnded(
                    InterruptionEnd(id: id, causes: causes, duration: duration, willResume: willResume, recording: cut))
            case .didStartRunning(let grant): .didStartRunning(grant)
            case .didStopRunning: .didStopRunning
            case .accessChanged(let access, let causes, let rule):
                .accessChanged(AccessChange(access: access, causes: causes, rule: rule))
            case .sharersChanged(let sharers): .sharersChanged(sharers)
            case .sessionStopped(let reason, let rule): .sessionStopped(SessionStop(reason: reason, rule: rule))
            case .recordingStarted(let recording): .recordingStarted(recording)
            case .recordingPaused(let recording): .recordingPaused(recording)
            case .recordingResumed(let recording): .recordingResumed(recording)
            case .recordingFinished(let recording): .recordingFinished(recording)
            case .photoCaptured(let photo): .photoCaptured(photo)
            case .configurationApplied(let asked, let inForce, let by):
                .configurationApplied(ConfigurationChange(asked: asked, inForce: inForce, by: by))
            case .rampFinished(let factor): .rampFinished(videoZoomFactor: factor)
            case .connectionsFormed(let camera, let reopen): .connectionsFormed(camera: camera, reopen: reopen)
            case .cameraStateChanged(let state): .cameraStateChanged(state)
            case .runtimeError(let code, let message): .runtimeError(code: code, message: message)
            }
    }
}

/// A session's event with its place in the order and its decision, or the end.
public enum SessionNotice: Hashable, Sendable {
    case event(SessionSignal)
    /// The last one, always.
    case ended(BrokerError)

    /// The same, without sequence number and decision.
    public var clientEvent: ClientEvent {
        switch self {
        case .event(let signal): ClientEvent(signal.event)
        case .ended(let error): .ended(error)
        }
    }
}

/// What the broker tells every client, and subscribers.
public enum BrokerNotice: Hashable, Sendable {
    case camerasChanged
    /// A camera has another holder, or none.
    case holderChanged(camera: CameraID, holder: Interrupter?)
    case prioritiesChanged
    /// After `listClients`: ask again.
    case clientsChanged
    /// This client no longer speaks for a user's desktop in this role; `by` names the one that does, in words.
    case displaced(role: String, by: String)
    /// After `answerQuestions`: may an app of its user have cameras?
    case question(AppQuestion)
    /// That question is over, answered or not.
    case questionEnded(QuestionID, QuestionEnd)
    /// After `cameraUse`: ask again.
    case useChanged
    /// For a client that speaks for a user: an interruption ended a recording of one of its apps.
    case recordingCut(RecordingCut)
    /// For a client that speaks for a user: somebody else answered for one of its apps.
    case answerChanged(AnswerChange)
    /// For subscribers: a decision as scenario lines, and the same as values, in their order.
    case decided(DecisionID, at: Moment, trace: String, parts: [DecidedPart])
    /// For clients that trace: a step of the core, as a line without its checksum.
    case traced(String)
    /// This reader was too slow, and the trace has ended; `trace()` begins another.
    case traceLost
    /// The last one, always.
    case ended(BrokerError)

    /// Reads a signal of `org.camarb.Broker1` or `.Shell1`.
    /// - Throws: `.invalidArguments` with what is wrong. Nil for signals that a newer broker may send.
    init?(signal: WireSignal) throws(BrokerError) {
        var reader = WireReader(signal.member, signal.arguments)
        switch signal.member {
        case "CamerasChanged": self = .camerasChanged
        case "HolderChanged":
            self = .holderChanged(
                camera: CameraID(try reader.string("camera")),
                holder: Interrupter(wireName: try reader.string("holder")))
        case "PrioritiesChanged": self = .prioritiesChanged
        case "ClientsChanged": self = .clientsChanged
        case "Displaced": self = .displaced(role: try reader.string("role"), by: try reader.string("by"))
        case "Question": self = .question(try AppQuestion(arguments: &reader))
        case "QuestionEnded": self = .questionEnded(try reader.uint32("question"), try reader.word("answer"))
        case "UseChanged": self = .useChanged
        case "RecordingCut": self = .recordingCut(try RecordingCut(arguments: &reader))
        case "AnswerChanged": self = .answerChanged(try AnswerChange(arguments: &reader))
        case "Decided":
            let decision = try reader.uint64("decision")
            let moment = Moment(nanoseconds: try reader.int64("moment"))
            let trace = try reader.string("trace")
            var parts: [DecidedPart] = []
            for part in try reader.dictionaries("parts") { parts.append(try DecidedPart(part, of: decision)) }
            self = .decided(decision, at: moment, trace: trace, parts: parts)
        case "Traced": self = .traced(try reader.string("step"))
        case "TraceLost": self = .traceLost
        default: return nil
        }
    }
}
