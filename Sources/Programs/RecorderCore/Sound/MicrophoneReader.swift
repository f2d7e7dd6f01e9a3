import ArbiterProtocol
import CLinux
import Glibc
import Synchronization
import System

/// The thread that reads one microphone's socket, and closes it.
///
/// A client may send descriptors along with sound. The kernel closes them when their packet is read, or when the last one
/// closes the socket with packets in it, on the thread that does so; and closing may take as long as the client likes, for a
/// connection that lingers. So a packet with descriptors is left where it is, and ends the microphone; the broker's keeper has
/// a copy of the socket for longer than this process; and where a client gets around both, only this thread reads the socket
/// and closes it, and nobody waits for it.
enum MicrophoneReader {
    /// Threads that read microphones in this process. A core has one grant, and that one microphone; others are just being
    /// closed. More than this are stuck in what their clients sent.
    static let readersMax = 8
    /// Packets that are read before the thread looks whether it is to end.
    private static let packetsATurn = 64

    /// The socket, and an eventfd that wakes the thread.
    struct Ends: Sendable {
        var socket, wake: Int32

        /// The client's end is closed at once, and the thread goes.
        func end() {
            shutdown(socket, Int32(SHUT_RDWR))
            _ = camarb_eventfd_signal(wake)
        }
    }

    private struct Threads {
        var count = 0
        /// Sockets that found no thread to close them; the next that ends does it.
        var left: [Int32] = []
    }
    private static let threads = Mutex(Threads())

    /// Reads for a microphone from now on. The descriptors are the thread's to close.
    static func start(_ ends: Ends, for microphone: Microphone) throws(BrokerError) {
        let mayStart = threads.withLock { threads in
            guard threads.count < readersMax else { return false }
            threads.count += 1
            return true
        }
        guard mayStart else {
            giveUp(ends)
            throw BrokerError(.limitExceeded, "\(readersMax) microphones are being closed already, the most that may.")
        }
        guard ends.wake >= 0, startThread({ run(ends, for: microphone) }) else {
            threads.withLock { $0.count -= 1 }
            giveUp(ends)
            throw BrokerError(.outOfResources, "No thread could be started for the microphone.")
        }
    }

    private static func giveUp(_ ends: Ends) {
        shutdown(ends.socket, Int32(SHUT_RDWR))
        if ends.wake >= 0 { close(ends.wake) }
        threads.withLock { $0.left.append(ends.socket) }
    }

    private static func run(_ ends: Ends, for microphone: Microphone) {
        if let problem = read(ends, for: microphone) { microphone.report(problem) }
        microphone.hasEnded()
        close(ends.wake)
        _ = camarb_microphone_end(ends.socket)
        close(ends.socket)
        while let socket = threads.withLock({ $0.left.popLast() }) { close(socket) }
        threads.withLock { $0.count -= 1 }
    }

    private static func read(_ ends: Ends, for microphone: Microphone) -> SoundProblem? {
        var bytes = [UInt8](repeating: 0, count: SoundPacket.bytesMax)
        var budget = SoundBudget(
            sampleRate: microphone.sampleRate, packetsASecond: KeptSound.packetsASecond, now: camarb_monotonic_ns())
        while true {
            let pause = budget.wait(at: camarb_monotonic_ns())
            if pause != nil { microphone.report(.tooMuch) }
            var waited = [
                pollfd(fd: ends.wake, events: Int16(POLLIN), revents: 0),
                pollfd(fd: ends.socket, events: Int16(POLLIN), revents: 0),
            ]
            // The socket has something all the while.
            if pause != nil { waited.removeLast() }
            let ready = camarb_poll(&waited, waited.count, pause ?? -1)
            guard ready >= 0 else { return .cannotBeRead(errno: -ready) }
            if waited[0].revents != 0 { return nil }
            if pause != nil { continue }
            for _ in 0..<packetsATurn {
                // The whole length of the packet, also where it is longer than the bytes.
                let count = bytes.withUnsafeMutableBytes {
                    camarb_microphone_receive(ends.socket, $0.baseAddress, $0.count)
                }
                if count < 0 {
                    if count == -Int(EAGAIN) { break }
                    if count == -Int(EBADMSG) { return .descriptors }
                    return count == -Int(ECONNRESET) ? .closed : .cannotBeRead(errno: Int32(-count))
                }
                if count == 0, isClosed(ends.socket) { return .closed }
                // One that is wrong costs no more than the longest that is right.
                budget.spend(frames: min(count / (2 * microphone.channels), microphone.sampleRate))
                take(bytes, count, for: microphone)
            }
        }
    }

    /// An empty packet and the end read the same.
    private static func isClosed(_ socket: Int32) -> Bool {
        var state = [pollfd(fd: socket, events: 0, revents: 0)]
        return camarb_poll(&state, 1, 0) > 0 && state[0].revents & Int16(POLLHUP) != 0
    }

    private static func take(_ bytes: [UInt8], _ count: Int, for microphone: Microphone) {
        guard count <= bytes.count else { return microphone.report(.tooLong(bytes: count)) }
        let packet = bytes.withUnsafeBytes { bytes in
            Result { () throws(SoundProblem) in
                try SoundPacket(
                    decoding: UnsafeRawBufferPointer(rebasing: bytes.prefix(count)),
                    sampleRate: microphone.sampleRate, channels: microphone.channels)
            }
        }
        switch packet {
        case .success(let packet): microphone.received(packet)
        case .failure(let problem): microphone.report(problem)
        }
    }
}
