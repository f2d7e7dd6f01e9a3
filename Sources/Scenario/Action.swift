public import Arbiter
public import ArbiterProtocol
import EventTable

/// What an input line does, with its names resolved. Grants and interruption ids are known only while it runs.
public enum Action: Hashable, Sendable {
    case event(Event)
    /// `ready NAME [#N]`: nil answers the latest warning.
    case ready(SessionID, InterruptionID?)
    /// A recorder says what the event says, as far as the line does; the stage knows the rest. `grant` nil: of the grant it
    /// has.
    case answer(Event, grant: GrantID?)
    /// From here on the recorder behaves so; `camera` nil: every one.
    case behave(CameraID?, RecorderBehaviour)
}

/// How a camera's recorder deals with orders.
public struct RecorderBehaviour: Hashable, Sendable {
    /// No answer by itself at all: a trace brings the answers as lines.
    public var isManual = false
    /// Takes orders and does nothing, until it is killed; the next process works.
    public var hangs = false
    /// As above, and the next process too.
    public var hangsAlways = false
    /// Dies of every `open`.
    public var diesOnOpen = false
    public var openDelay: Duration = .zero
    public var cutDelay: Duration = .zero
    public var configureDelay: Duration = .zero
    /// From a recording's last frame to its finished file.
    public var finishDelay: Duration = .zero
    /// Every `open` fails with this sentence.
    public var openFailure: String?
    /// Every batch is refused with this sentence.
    public var configureRefusal: String?

    public init() {}

    public static let works = RecorderBehaviour()
    public static let manual: RecorderBehaviour = {
        var behaviour = RecorderBehaviour()
        behaviour.isManual = true
        return behaviour
    }()
}
