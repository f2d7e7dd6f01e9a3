import ArbiterProtocol
import ArgumentParser
import Camarb
import Synchronization

/// The sound of a command's recordings: a source that plays from the first recording on, and the microphone of the present one.
final class RecordingMicrophone: Sendable {
    private let source: any SoundSource
    private let state = Mutex(State())

    private struct State {
        /// Nil while none is attached.
        var writer: MicrophoneWriter?
        var hasBegun = false
        var isOver = false
    }

    init(_ source: any SoundSource) { self.source = source }

    /// Attaches a microphone for the recording that begins next; the one before it was closed with its camera.
    func attach(to session: borrowing SessionHandle) async throws(BrokerError) {
        let writer = try MicrophoneWriter(source.format)
        try await writer.attach(to: session)
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            state.writer = writer
            return !state.hasBegun
        }
        guard isFirst else { return }
        guard detachThread({ [self] in play() }) else {
            throw BrokerError(.outOfResources, "No thread could be started for the microphone.")
        }
    }

    func end() {
        state.withLock { state in
            state.isOver = true
            state.writer?.close()
            state.writer = nil
        }
    }

    private func play() {
        let why = source.play { samples, time in
            let (writer, isOver) = state.withLock { ($0.writer, $0.isOver) }
            // Between two recordings nobody hears.
            if writer?.write(samples, capturedAt: time) == .closed {
                state.withLock { state in if state.writer === writer { state.writer = nil } }
            }
            return !isOver
        }
        if let why { Output.notice("camclient: \(why)") }
    }
}

/// What a recording hears: `tone`, `pipewire`, or a file.
enum MicrophoneArgument: ExpressibleByArgument {
    case tone, pipewire
    case file(String)

    init?(argument: String) {
        switch argument {
        case "": return nil
        case "tone": self = .tone
        case "pipewire": self = .pipewire
        default: self = .file(argument)
        }
    }

    /// Opens it, before anything is asked of the broker.
    func open() throws(Failure) -> RecordingMicrophone {
        switch self {
        case .tone: RecordingMicrophone(ToneSource())
        case .pipewire: RecordingMicrophone(try PipeWireSource())
        case .file(let path): RecordingMicrophone(try WaveFile(path))
        }
    }
}
