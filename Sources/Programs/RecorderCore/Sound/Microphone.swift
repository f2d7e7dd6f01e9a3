package import ArbiterProtocol
import CLinux
import Glibc
import Synchronization
import System

/// A microphone that a client has attached: the recorder core's end of its socket, read and closed by a thread of its own.
///
/// Nothing that the client does with it concerns anybody else. Its packets are checked, and kept for two seconds; the thread
/// reads as many frames and packets as sound can have, and a client that sends more waits itself. The first problem is reported,
/// once.
///
/// A client may send descriptors along with sound. The kernel closes them when their packet is read, or when the last one
/// closes the socket with packets in it, on the thread that does so; and closing may take as long as the client likes, for a
/// connection that lingers. So a packet with descriptors is left where it is, and ends the microphone; the broker's keeper has
/// a copy of the socket for longer than this process; and where a client gets around both, only this thread reads the socket
/// and closes it, and nobody waits for it.
///
/// Its owner closes it. Any thread may call; nothing here waits.
package final class Microphone: Sendable {
    package let sampleRate, channels: Int

    /// Threads that read microphones in this process. A core has one grant, and that one microphone; others are just being
    /// closed. More than this are stuck in descriptors of their clients.
    private static let readersMax = 8
    /// Packets that are read before the thread looks whether it is to end.
    private static let packetsATurn = 64

    private let clock: CaptureClock
    private let onFault: @Sendable (SoundProblem) -> Void
    private let state: Mutex<State>

    private struct State {
        /// `nil` once it is closed, or its client has closed it: the thread then has them alone.
        var ends: Ends?
        var sound: KeptSound
        var hasFault = false
        var isClosed = false
    }

    private struct Ends: Sendable {
        let socket, wake: Int32
    }

    private struct Threads {
        var count = 0
        /// Sockets that found no thread to close them; the next thread that ends does it.
        var left: [Int32] = []
    }
    private static let threads = Mutex(Threads())

    /// - Parameter socket: a connected `SOCK_SEQPACKET` socket; this object's from here on, also where it throws. It is read until
    ///   `close`, or until its client closes it.
    /// - Parameter onFault: called with the first problem, on the reader's thread or on that of `report`; must not block.
    package init(
        socket: Int32, sampleRate: Int, channels: Int, clock: CaptureClock = .real,
        onFault: @escaping @Sendable (SoundProblem) -> Void
    ) throws(BrokerError) {
        (self.sampleRate, self.channels, self.clock, self.onFault) = (sampleRate, channels, clock, onFault)
        let ends = Ends(socket: socket, wake: camarb_eventfd())
        state = Mutex(State(ends: ends, sound: KeptSound(sampleRate: sampleRate, channels: channels)))
        let isTooMany = Self.threads.withLock { threads in
            threads.count += 1
            return threads.count > Self.readersMax
        }
        if !isTooMany, ends.wake >= 0, startThread({ [self] in run(ends) }) { return }
        shutdown(socket, Int32(SHUT_RDWR))
        if ends.wake >= 0 { Glibc.close(ends.wake) }
        Self.threads.withLock { threads in
            threads.count -= 1
            threads.left.append(socket)
        }
        throw isTooMany
            ? BrokerError(
                .limitExceeded, "\(Self.readersMax) microphones are being closed already, the most that may.")
            : BrokerError(.outOfResources, "No thread could be started for the microphone.")
    }

    package var firstTime: Int64? { state.withLock { $0.sound.firstTime } }
    package var newestTime: Int64 { state.withLock { $0.sound.newestTime } }

    /// The packets since the last call: two seconds of them at the most.
    package func take() -> [SoundPacket] { state.withLock { $0.sound.take() } }

    package func report(_ problem: SoundProblem) {
        let isFirst = state.withLock { state in
            guard !state.isClosed, !state.hasFault else { return false }
            state.hasFault = true
            return true
        }
        if isFirst { onFault(problem) }
    }

    /// The client finds its end closed at once, and nothing is reported any more. May be called again.
    package func close() {
        state.withLock { state in
            state.isClosed = true
            if let ends = state.ends {
                shutdown(ends.socket, Int32(SHUT_RDWR))
                _ = camarb_eventfd_signal(ends.wake)
            }
            state.ends = nil
        }
    }

    // MARK: The thread

    private func run(_ ends: Ends) {
        if let problem = read(ends) { report(problem) }
        state.withLock { $0.ends = nil }
        Glibc.close(ends.wake)
        _ = camarb_microphone_end(ends.socket)
        Glibc.close(ends.socket)
        while let socket = Self.threads.withLock({ $0.left.popLast() }) { Glibc.close(socket) }
        Self.threads.withLock { $0.count -= 1 }
    }

    /// Returns why it ends, where it is not closed here.
    private func read(_ ends: Ends) -> SoundProblem? {
        var bytes = [UInt8](repeating: 0, count: SoundPacket.bytesMax)
        var budget = SoundBudget(sampleRate: sampleRate, now: camarb_monotonic_ns())
        while true {
            let pause = budget.wait(at: camarb_monotonic_ns())
            if pause != nil { report(.tooMuch) }
            var waited = [ends.wake, ends.socket].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
            // The socket is readable all the while.
            if pause != nil { waited.removeLast() }
            let ready = camarb_poll(&waited, waited.count, pause ?? -1)
            guard ready >= 0 else { return .cannotBeRead(errno: -ready) }
            if waited[0].revents != 0 { return nil }
            if pause != nil { continue }
            for _ in 0..<Self.packetsATurn {
                // The whole length of the packet, also where it is longer than the bytes.
                let count = bytes.withUnsafeMutableBytes {
                    camarb_microphone_receive(ends.socket, $0.baseAddress, $0.count)
                }
                if count == -Int(EAGAIN) { break }
                if count == -Int(EBADMSG) { return .descriptors }
                if count == -Int(ECONNRESET) || count == 0 && isClosed(ends.socket) { return .closed }
                if count < 0 { return .cannotBeRead(errno: Int32(-count)) }
                // A wrong packet costs no more than the longest right one.
                budget.spend(frames: min(count / (2 * channels), sampleRate))
                receive(bytes, count)
            }
        }
    }

    /// An empty packet and the end read the same.
    private func isClosed(_ socket: Int32) -> Bool {
        var state = pollfd(fd: socket, events: 0, revents: 0)
        return camarb_poll(&state, 1, 0) > 0 && state.revents & Int16(POLLHUP) != 0
    }

    private func receive(_ bytes: [UInt8], _ count: Int) {
        guard count <= bytes.count else { return report(.tooLong(bytes: count)) }
        do {
            let packet = try bytes.withUnsafeBytes { bytes in
                try SoundPacket(
                    decoding: UnsafeRawBufferPointer(rebasing: bytes.prefix(count)), sampleRate: sampleRate,
                    channels: channels)
            }
            let now = clock.now
            if let problem = state.withLock({ $0.sound.add(packet, at: now) }) { report(problem) }
        } catch { if let problem = error as? SoundProblem { report(problem) } }
    }
}
