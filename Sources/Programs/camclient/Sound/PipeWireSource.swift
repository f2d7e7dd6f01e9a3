import ArbiterProtocol
import CLinux
import CPipeWire
import Glibc
import Workbench

/// The user's own microphone: the usual source of the PipeWire that runs in this session.
///
/// `play` on one thread, which may be another one than that which made it.
final class PipeWireSource: SoundSource, @unchecked Sendable {
    let format: MicrophoneFormat
    // Used by `init`, then by `play` alone, then by `deinit`.
    private let microphone: OpaquePointer

    /// From the connection until sound comes, in nanoseconds: a sound card that slept takes a second.
    private static let startMax: Int64 = 5_000_000_000

    /// Connects, and waits until PipeWire has said which rate and channels it gives.
    /// - Throws: where PipeWire is missing, does not run, or has no microphone, with a sentence.
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
