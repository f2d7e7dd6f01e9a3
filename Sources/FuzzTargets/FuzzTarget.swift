import Synchronization

/// What reads bytes that somebody else wrote, and what must hold of it whatever they are.
///
/// A target does with them what camarb does, and stops the process where it broke a promise: `fuzzer` (libFuzzer, with
/// AddressSanitizer) looks for such bytes, and the tests run every one that was ever found, and the corpus, on each change.
///
/// Threading: one thread at a time.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// A policy file.
    case policy
    /// A scenario that a client sends as a `Plan`.
    case scenario
    /// A policy and a scenario that a client sends as a `PlanPolicy`.
    case planPolicy = "plan-policy"
    /// A simulated camera's file.
    case cameraFile = "camera-file"
    /// A trace with checksums that are right.
    case trace
    /// A record on a preview stream, either way.
    case frameRecord = "frame-record"
    /// What a recorder core says of its camera, its photos and its recordings.
    case recorderAnswer = "recorder-answer"
    /// What a stranger says before `BEGIN`, as the gate and libsystemd behind it have it.
    case sasl
    /// Messages of a stranger: where they end, and what a connection hears of them.
    case framing
    /// The body of a call.
    case body
    /// Calls of two clients to a whole broker.
    case connection
    /// What a client's microphone sends.
    case microphone
    /// What a client appends to a recording's metadata.
    case metadata
    /// What users said of their apps, as a broker keeps it.
    case answers
    /// Who has the cameras, as a broker leaves it to the next.
    case holders
    /// Where a process is, of which its user has named a part.
    case controlGroup = "control-group"
    /// A recording's file whose recorder core was lost.
    case lostRecording = "lost-recording"
    /// What a camera of the machine says of its formats and controls, and gives as frames.
    case videoDevice = "video-device"
    /// What sway and KWin say of their windows.
    case desktop
    /// What an X server answers.
    case xServer = "x-server"
    /// What comes to the port of `camclient policy play`, and what its page asks.
    case playPage = "play-page"

    /// Says that the process does nothing else: from here on it is a broken promise where a target leaves a descriptor open.
    public static func isAlone() { Hearer.isAlone.store(true, ordering: .relaxed) }

    /// Runs the bytes through. Returns, or stops the process with a sentence.
    public func run(_ bytes: [UInt8]) {
        switch self {
        case .policy: Self.policy(bytes)
        case .scenario: Self.scenario(bytes)
        case .planPolicy: Self.planPolicy(bytes)
        case .cameraFile: Self.cameraFile(bytes)
        case .trace: Self.trace(bytes)
        case .frameRecord: Self.frameRecord(bytes)
        case .recorderAnswer: Self.recorderAnswer(bytes)
        case .sasl: Self.sasl(bytes)
        case .framing: Self.framing(bytes)
        case .body: Self.body(bytes)
        case .connection: Self.connection(bytes)
        case .microphone: Self.microphone(bytes)
        case .metadata: Self.metadata(bytes)
        case .answers: Self.answers(bytes)
        case .holders: Self.holders(bytes)
        case .controlGroup: Self.controlGroup(bytes)
        case .lostRecording: Self.lostRecording(bytes)
        case .videoDevice: Self.videoDevice(bytes)
        case .desktop: Self.desktop(bytes)
        case .xServer: Self.xServer(bytes)
        case .playPage: Self.playPage(bytes)
        }
    }

    /// Longer inputs find nothing that shorter ones do not, and take the time of many.
    public var bytesMax: Int {
        switch self {
        case .policy, .trace: 16 * 1024
        case .planPolicy, .cameraFile: 8 * 1024
        case .scenario: 4 * 1024
        case .frameRecord: 256
        case .recorderAnswer: 4 * 1024
        // Above a line's bound.
        case .sasl: 2 * 1024
        case .framing, .body, .connection, .metadata, .videoDevice, .xServer: 2 * 1024
        case .microphone, .controlGroup: 512
        case .answers, .holders: 1024
        case .lostRecording, .playPage: 8 * 1024
        case .desktop: 4 * 1024
        }
    }
}
