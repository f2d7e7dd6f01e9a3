public import ArbiterProtocol
import CCamarb
import CLinux
import Glibc
import Synchronization

/// One microphone of a session: the client's end of its socket, into which sound is written as it is captured.
///
///     let microphone = try MicrophoneWriter(MicrophoneFormat(sampleRate: 48_000, channels: 1))
///     try await microphone.attach(to: session)
///     while let (samples, time) = source.next(), microphone.write(samples, capturedAt: time) != .closed {}
///
/// It is of use while the session holds the camera: at an interruption, and where another one is attached, its other end is
/// closed, and `write` says so. The session's next run wants another one.
///
/// Threading: any thread; packets of two threads at once would overlap in time.
public final class MicrophoneWriter: Sendable {
    /// The outcome of writing sound.
    public enum Outcome: Hashable, Sendable {
        case written
        /// The recorder core did not read for as long as a call waits: this sound is left out.
        case leftOut
        /// It is attached no more, and never will be again.
        case closed
    }

    public let format: MicrophoneFormat
    private let ends: Mutex<Ends>

    private struct Ends {
        /// Both -1 once they are closed.
        var own: Int32
        var recorders: Int32
    }

    /// Makes the socket.
    /// - Throws: `.invalidValue` for another format than there may be, `.outOfResources` where there is no socket to be had.
    public init(_ format: MicrophoneFormat) throws(BrokerError) {
        if let problem = format.problem { throw BrokerError(.invalidValue, problem) }
        self.format = format
        var ends = Ends(own: -1, recorders: -1)
        let result = camarb_packet_pair(&ends.recorders, &ends.own)
        guard result == 0 else {
            throw BrokerError(.outOfResources, "No socket could be made for the microphone (error \(-result)).")
        }
        self.ends = Mutex(ends)
    }

    deinit { close() }

    /// Makes it the session's microphone. Once.
    /// - Throws: as `SessionHandle.attachMicrophone`; it is closed then.
    public func attach(to session: SessionHandle) async throws(BrokerError) {
        let end = ends.withLock { ends in
            defer { ends.recorders = -1 }
            return ends.recorders
        }
        guard end >= 0 else { throw BrokerError(.invalidValue, "This microphone was attached before.") }
        // The recorder core has it by then, or nobody.
        defer { Glibc.close(end) }
        do throws(BrokerError) { try await session.attachMicrophone(end, format: format) } catch {
            close()
            throw error
        }
    }

    /// Writes sound that was captured in one go. Waits at most 20 ms for each 50 ms of it, and only where nobody reads.
    /// - Parameters:
    ///   - samples: interleaved, of whole frames: what is behind the last one is left out.
    ///   - time: when the first frame was captured, in nanoseconds of CLOCK_MONOTONIC.
    @discardableResult
    public func write(_ samples: [Int16], capturedAt time: Int64) -> Outcome {
        // The lock keeps the number from becoming another descriptor's meanwhile.
        ends.withLock { ends in
            guard ends.own >= 0 else { return .closed }
            let frames = samples.count / Int(format.channels)
            let result = camarb_microphone_write(
                ends.own, format.sampleRate, format.channels, samples, frames, time)
            return switch result {
            case 0: .written
            case -EAGAIN: .leftOut
            default: .closed
            }
        }
    }

    /// Ends it; the rest of a recording is silent. May be called again.
    public func close() {
        ends.withLock { ends in
            for end in [ends.own, ends.recorders] where end >= 0 { Glibc.close(end) }
            ends = Ends(own: -1, recorders: -1)
        }
    }
}
