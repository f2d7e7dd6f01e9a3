public import ArbiterProtocol
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
    /// What became of some sound.
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

    /// Sound is sent in packets of at most so much, in nanoseconds: a packet can be used only when all of it is there, and
    /// what comes 250 ms behind the picture is silence.
    static let packetMax: Int64 = 50_000_000
    /// A call waits for room at most so long for each packet, in nanoseconds.
    static let waitMax: Int64 = 20_000_000

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
    public func attach(to session: borrowing SessionHandle) async throws(BrokerError) {
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
        let (rate, channels) = (Int64(format.sampleRate), Int(format.channels))
        let frames = samples.count / channels
        let most = Int(rate * Self.packetMax / 1_000_000_000)
        var outcome = Outcome.written
        for first in stride(from: 0, to: frames, by: most) {
            let count = min(most, frames - first)
            let part = samples[first * channels..<(first + count) * channels]
            switch send(part, frames: count, at: time + Int64(first) * 1_000_000_000 / rate) {
            case .written: break
            case .leftOut: outcome = .leftOut
            case .closed: return .closed
            }
        }
        return outcome
    }

    /// Ends it; the rest of a recording is silent. May be called again.
    public func close() {
        ends.withLock { ends in
            for end in [ends.own, ends.recorders] where end >= 0 { Glibc.close(end) }
            ends = Ends(own: -1, recorders: -1)
        }
    }

    private func send(_ samples: ArraySlice<Int16>, frames: Int, at time: Int64) -> Outcome {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(16 + samples.count * 2)
        withUnsafeBytes(of: time.littleEndian) { bytes += $0 }
        withUnsafeBytes(of: UInt32(frames).littleEndian) { bytes += $0 }
        withUnsafeBytes(of: UInt32(0)) { bytes += $0 }
        for sample in samples { withUnsafeBytes(of: sample.littleEndian) { bytes += $0 } }
        // The lock keeps the number from becoming another descriptor's meanwhile.
        return ends.withLock { ends in
            guard ends.own >= 0 else { return .closed }
            var result = camarb_packet_send(ends.own, bytes, bytes.count, -1)
            if result == -EAGAIN {
                var room = pollfd(fd: ends.own, events: Int16(POLLOUT), revents: 0)
                _ = camarb_poll(&room, 1, Self.waitMax)
                result = camarb_packet_send(ends.own, bytes, bytes.count, -1)
            }
            switch result {
            case 0: return .written
            case -EAGAIN, -ENOBUFS, -ENOMEM: return .leftOut
            default: return .closed
            }
        }
    }
}
