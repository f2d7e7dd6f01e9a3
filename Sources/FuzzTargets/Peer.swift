import Glibc
import Loop

/// The other end of a connection of ours, as a stranger has it: a socket to which bytes go in pieces, and the loop gets its
/// turns between two of them.
final class Peer {
    /// Reads in one go; what is not read stays for the next time.
    private static let readBytes = 64 * 1024
    /// Passes of the loop after a piece. A connection has 64 messages in a turn, and no input here has as many.
    static let turnsMax = 10_000

    /// How often a socket may be full while an input, a few kilobytes, is sent.
    private static let fullsMax = 100

    let loop: EventLoop
    private(set) var socket: Int32
    /// All that was said to it.
    private(set) var heard: [UInt8] = []
    /// The other side has closed.
    private(set) var isOver = false

    init(_ socket: Int32, _ loop: EventLoop) {
        self.socket = socket
        self.loop = loop
    }

    deinit { close() }

    func close() {
        if socket >= 0 { Glibc.close(socket) }
        socket = -1
    }

    /// Sends, and lets the loop run until there is nothing to do.
    func send(_ bytes: some Collection<UInt8>) {
        var left = Array(bytes)
        var fulls = 0
        while !left.isEmpty && !isOver {
            let count = Glibc.send(socket, left, left.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT))
            if count < 0 && errno == EAGAIN {
                // The broker takes what there is as soon as its loop runs.
                fulls += 1
                precondition(fulls <= Self.fullsMax, "What a peer sends is not read.")
                listen()
                continue
            }
            guard count > 0 else { break }
            left.removeFirst(count)
        }
        listen()
    }

    /// Lets the loop run, and reads what is said.
    func listen() {
        Self.settle(loop)
        guard socket >= 0 else { return }
        var buffer = [UInt8](repeating: 0, count: Self.readBytes)
        while !isOver {
            let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count < 0 && errno == EAGAIN { return }
            guard count > 0 else {
                isOver = true
                return
            }
            heard += buffer.prefix(count)
            // There is room again for what is queued.
            Self.settle(loop)
        }
    }

    static func settle(_ loop: EventLoop) {
        for _ in 0..<turnsMax {
            guard let did = try? loop.turn(timeout: 0), did else { return }
        }
        preconditionFailure("After \(turnsMax) turns of the loop there is still something to do.")
    }
}
