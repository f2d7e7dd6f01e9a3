public import ArbiterProtocol

/// A session's events, in a form to switch over. Their order, and the meaning of each, is
/// `docs/semantics.md` §4; `SessionNotice` has the same with sequence number and decision id.
public typealias ClientEvent = SessionEvent

/// A session's event with its place in the order and its decision, or the end.
public enum SessionNotice: Hashable, Sendable {
    case event(SessionSignal)
    /// The last one, always.
    case ended(BrokerError)

    /// The same, without sequence number and decision.
    public var clientEvent: ClientEvent {
        switch self {
        case .event(let signal): signal.event
        case .ended(let error): .ended(error)
        }
    }
}

/// The broker's notices to every client, and to subscribers.
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
