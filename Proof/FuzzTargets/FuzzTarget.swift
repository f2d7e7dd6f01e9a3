import Synchronization

/// A reader of other people's bytes, with what must hold for any bytes. A target stops the process where a promise is broken: `fuzzer`
/// (libFuzzer, with AddressSanitizer) looks for such bytes, and the tests run every one that was found, and the corpus.
///
/// Threading: one thread at a time.
package enum FuzzTarget: String, CaseIterable, Sendable {
    case policy, scenario
    case planPolicy = "plan-policy"
    case cameraFile = "camera-file"
    case trace
    case frameRecord = "frame-record"
    case recorderAnswer = "recorder-answer"
    case sasl, framing, body, connection, microphone
    case metadata, answers, holders
    case controlGroup = "control-group"
    case lostRecording = "lost-recording"
    case videoDevice = "video-device"
    case desktop
    case xServer = "x-server"
    case playPage = "play-page"

    /// In a process that does nothing else, a target that leaves a descriptor open breaks a promise.
    package static func isAlone() { Hearer.isAlone.store(true, ordering: .relaxed) }

    /// Returns, or stops the process with a sentence.
    package func run(_ bytes: [UInt8]) { target.run(bytes) }

    /// Longer inputs find nothing that shorter ones do not.
    package var bytesMax: Int { target.bytesMax }

    private var target: (run: ([UInt8]) -> Void, bytesMax: Int) {
        switch self {
        case .policy: (Self.policy(_:), 16 * 1024)
        case .scenario: (Self.scenario(_:), 4 * 1024)
        case .planPolicy: (Self.planPolicy(_:), 8 * 1024)
        case .cameraFile: (Self.cameraFile(_:), 8 * 1024)
        case .trace: (Self.trace(_:), 16 * 1024)
        case .frameRecord: (Self.frameRecord(_:), 256)
        case .recorderAnswer: (Self.recorderAnswer(_:), 4 * 1024)
        case .sasl: (Self.sasl(_:), 2 * 1024)
        case .framing: (Self.framing(_:), 2 * 1024)
        case .body: (Self.body(_:), 2 * 1024)
        case .connection: (Self.connection(_:), 2 * 1024)
        case .microphone: (Self.microphone(_:), 512)
        case .metadata: (Self.metadata(_:), 2 * 1024)
        case .answers: (Self.answers(_:), 1024)
        case .holders: (Self.holders(_:), 1024)
        case .controlGroup: (Self.controlGroup(_:), 512)
        case .lostRecording: (Self.lostRecording(_:), 8 * 1024)
        case .videoDevice: (Self.videoDevice(_:), 2 * 1024)
        case .desktop: (Self.desktop(_:), 4 * 1024)
        case .xServer: (Self.xServer(_:), 2 * 1024)
        case .playPage: (Self.playPage(_:), 8 * 1024)
        }
    }

    static func checkReadsBack<Value: Equatable, Fault: Error>(
        _ value: Value, _ what: String, _ read: () throws(Fault) -> Value
    ) {
        do throws(Fault) {
            let again = try read()
            precondition(again == value, "\(what) reads back as another: \(again), not \(value)")
        } catch { preconditionFailure("\(what) does not read back: \(error)") }
    }
}
