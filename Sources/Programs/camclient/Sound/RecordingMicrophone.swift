import ArbiterProtocol
import ArgumentParser
import CLinux
import CPipeWire
import Camarb
import Glibc
import Synchronization
import System
import Workbench

/// The sound of a command's recordings: a source that plays from the first recording on, and the microphone of the present one.
final class RecordingMicrophone: Sendable {
    private let source: any SoundSource
    private let state = Mutex(State())

    private struct State {
        var writer: MicrophoneWriter?
        var hasBegun = false
        var isOver = false
    }

    init(_ source: any SoundSource) { self.source = source }

    /// Attaches a microphone for the recording that begins next; the one before it was closed with its camera.
    func attach(to session: SessionHandle) async throws(BrokerError) {
        let writer = try MicrophoneWriter(source.format)
        try await writer.attach(to: session)
        let isFirst = state.withLock { state in
            defer { state.hasBegun = true }
            state.writer = writer
            return !state.hasBegun
        }
        guard isFirst else { return }
        guard startThread({ [self] in play() }) else {
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

/// The usual source of the PipeWire that runs in this session; `play` may be on another thread than `init`.
final class PipeWireSource: SoundSource, @unchecked Sendable {
    let format: MicrophoneFormat
    // Used by `init`, then by `play` alone, then by `deinit`.
    private let microphone: OpaquePointer

    /// From the connection until sound comes, in nanoseconds: a sound card that slept takes a second.
    private static let startMax: Int64 = 5_000_000_000

    /// Connects, and waits until PipeWire has said which rate and channels it gives.
    init() throws(Failure) {
        var opened: OpaquePointer?
        switch camarb_pipewire_fault(rawValue: UInt32(camarb_pipewire_microphone_open(&opened))) {
        case camarb_pipewire_good: break
        case camarb_pipewire_no_library:
            throw Failure(
                .answerIsNo,
                "PipeWire's library (libpipewire-0.3.so.0) is not installed, or older than 0.3.50. \(Self.else)")
        default: throw Failure(.answerIsNo, "PipeWire does not run in this session. \(Self.else)")
        }
        guard let opened else { throw Failure(.answerIsNo, "PipeWire does not run in this session. \(Self.else)") }
        let deadline = camarb_monotonic_ns() + Self.startMax
        while camarb_pipewire_microphone_rate(opened) == 0 {
            let left = deadline - camarb_monotonic_ns()
            guard left > 0, camarb_pipewire_microphone_turn(opened, left) >= 0 else {
                let said = String(cString: camarb_pipewire_microphone_error(opened))
                camarb_pipewire_microphone_close(opened)
                throw Failure(
                    .answerIsNo,
                    "PipeWire gives no sound: " + (said.isEmpty ? "it has no microphone" : said.printable)
                        + ". \(Self.else)")
            }
        }
        microphone = opened
        format = MicrophoneFormat(
            sampleRate: camarb_pipewire_microphone_rate(opened), channels: camarb_pipewire_microphone_channels(opened))
    }

    deinit { camarb_pipewire_microphone_close(microphone) }

    private static let `else` = "--microphone also takes tone, or a WAV file."

    func play(_ take: ([Int16], Int64) -> Bool) -> String? {
        // What it heard until now is nobody's.
        while camarb_pipewire_microphone_peek(microphone) != nil { camarb_pipewire_microphone_taken(microphone) }
        let channels = Int(format.channels)
        while true {
            while let heard = camarb_pipewire_microphone_peek(microphone)?.pointee {
                let samples = Array(UnsafeBufferPointer(start: heard.samples, count: Int(heard.frames) * channels))
                let isWanted = take(samples, heard.captured)
                camarb_pipewire_microphone_taken(microphone)
                guard isWanted else { return nil }
            }
            guard camarb_pipewire_microphone_turn(microphone, 1_000_000_000) >= 0 else {
                let said = String(cString: camarb_pipewire_microphone_error(microphone))
                return "PipeWire's microphone has gone: \(said.printable)."
            }
        }
    }
}
