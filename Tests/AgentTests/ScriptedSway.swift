import BusTesting
import CLinux
import Glibc
import System
import Testing

/// A sway that says what a test lets it say, in the framing that sway-ipc(7) describes: "i3-ipc", a length, a kind, and so
/// many bytes. It has one connection at a time.
final class ScriptedSway {
    struct Message: Hashable {
        var kind: UInt32
        var text = ""

        static let version = Message(kind: 7)
        static let tree = Message(kind: 4)
        static let events = Message(kind: 2, text: #"["window","workspace","binding"]"#)
        /// The first requests of a new connection.
        static let greeting = [version, events, tree]

        var bytes: [UInt8] {
            func word(_ number: UInt32) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }
            return Array("i3-ipc".utf8) + word(UInt32(text.utf8.count)) + word(kind) + Array(text.utf8)
        }
    }

    let path: String
    private let listener: Int32
    private var connection: Int32 = -1
    private var unread: [UInt8] = []
    /// Requests over the connection, oldest first.
    private(set) var asked: [Message] = []
    private(set) var connections = 0
    private var hasLeft = false
    /// The other end of its connection is closed.
    var isLeft: Bool {
        look()
        return hasLeft
    }

    init(at path: String) throws {
        self.path = path
        listener = try check(camarb_unix_listen(path, 4), "listen at \(path)")
    }

    deinit {
        die()
        close(listener)
        unlink(path)
    }

    /// It ends, and is there again at once, under the same name.
    func die() {
        if connection >= 0 { close(connection) }
        connection = -1
        unread = []
    }

    /// Takes in what has come: a connection, where it has none, and whole requests.
    func look() {
        if connection < 0 {
            let accepted = camarb_unix_accept(listener)
            guard accepted >= 0 else { return }
            connection = accepted
            connections += 1
            hasLeft = false
        }
        var bytes = [UInt8](repeating: 0, count: 4096)
        while case let count = read(connection, &bytes, bytes.count), count >= 0 {
            if count == 0 {
                hasLeft = true
                break
            }
            unread += bytes.prefix(count)
        }
        while unread.count >= 14 {
            let (length, kind) = unread.withUnsafeBytes {
                (
                    $0.loadUnaligned(fromByteOffset: 6, as: UInt32.self),
                    $0.loadUnaligned(fromByteOffset: 10, as: UInt32.self)
                )
            }
            let end = 14 + Int(length)
            guard unread.starts(with: "i3-ipc".utf8), unread.count >= end else { return }
            asked.append(Message(kind: kind, text: String(decoding: unread[14..<end], as: UTF8.self)))
            unread.removeFirst(end)
        }
    }

    func hasHeard(_ count: Int) -> Bool {
        look()
        return asked.count >= count
    }

    func send(_ bytes: some Sequence<UInt8>) {
        let bytes = Array(bytes)
        #expect(Glibc.send(connection, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
    }

    func say(_ messages: Message...) { send(messages.flatMap(\.bytes)) }

    static func event(_ change: String) -> Message { Message(kind: 0x8000_0003, text: #"{"change":"\#(change)"}"#) }

    static func version(_ words: String) -> Message {
        Message(kind: 7, text: #"{"human_readable":"\#(words)","variant":"sway","major":1,"minor":7}"#)
    }

    /// A screen with these windows, the last of which has the focus, if there is one.
    static func tree(_ windows: Int...) -> Message { tree(windows) }

    static func tree(_ windows: [Int]) -> Message {
        let nodes = windows.map { window in
            """
            {"id":\(window),"type":"con","focused":\(window == windows.last),"rect":{"x":0,"y":25,"width":400,"height":575},
            "nodes":[],"floating_nodes":[],"fullscreen_mode":0,"pid":\(1000 + window),"visible":true}
            """
        }.joined(separator: ",")
        return Message(
            kind: 4,
            text: """
                {"id":1,"type":"root","nodes":[{"id":3,"type":"output","nodes":[{"id":4,"type":"workspace","nodes":[\(nodes)],
                "floating_nodes":[]}],"floating_nodes":[]}],"floating_nodes":[]}
                """)
    }
}

extension EventLoop {
    /// Turns until all is done that was due: what has arrived by now is read, and timers that were due have fired.
    func turnWhatIsDue() throws {
        // Two of them: the first may come in one turn with what was due.
        for _ in 0..<2 {
            var hasFired = false
            let timer = try addTimer { hasFired = true }
            timer.arm(at: EventLoop.now + 2_000_000)
            try withExtendedLifetime(timer) { try turn(until: { hasFired }, "a timer of two milliseconds") }
            while try turn(timeout: 0) {}
        }
    }
}
