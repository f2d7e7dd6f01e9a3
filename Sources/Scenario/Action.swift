public import Arbiter
public import ArbiterProtocol

/// What an input line does, with its names resolved. Grants and interruption ids are known only while it runs.
public enum Action: Hashable, Sendable {
    case event(Event)
    /// `ready NAME [#N]`: nil answers the latest warning.
    case ready(SessionID, InterruptionID?)
    /// The recorder says something; `grant` nil: for the grant it has.
    case answer(CameraID, RecorderAnswer, grant: GrantID?)
    /// From here on the recorder behaves so; `camera` nil: every one.
    case behave(CameraID?, RecorderBehaviour)
}

/// What a recorder says when a line says it, rather than by itself.
public enum RecorderAnswer: Hashable, Sendable {
    /// Nil: what was asked over the format's defaults.
    case streaming(Configuration?)
    case cut
    case closedStreams(SessionID)
    case configured(asked: Configuration?, inForce: Configuration?)
    case refusedConfiguration(asked: Configuration?, String)
    case gone
    case failed(String)
    case rampFinished(Double)
    case trouble(code: String, String)
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
