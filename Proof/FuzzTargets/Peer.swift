import ArbiterProtocol
import Bus
import CLinux
import Glibc
import Synchronization
import System

/// The other end of a connection of ours, as a stranger has it: a socket to which bytes go in pieces, and the loop gets
/// its turns between two of them.
final class Peer {
    /// Reads in one go; what is not read stays for the next time.
    private static let readBytes = 64 * 1024
    /// Passes of the loop after a piece. A connection has 64 messages in a turn, and no input here has as many.
    static let turnsMax = 10_000

    /// How often a socket may be full while an input, a few kilobytes, is sent.
    private static let fullsMax = 100

    let loop: EventLoop
    private(set) var socket: Int32
    private(set) var heard: [UInt8] = []
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
        for _ in 0..<turnsMax { guard let did = try? loop.turn(timeout: 0), did else { return } }
        preconditionFailure("After \(turnsMax) turns of the loop there is still something to do.")
    }
}

/// A server's connection as camarbd has one for each client, and what comes of it.
final class Hearer: BusConnectionDelegate {
    struct Message: Hashable {
        var kind: BusMessage.Kind
        var path: String
        var interface: String
        var member: String
        var signature: String
        /// The values, written anew; `nil`: the body was refused.
        var body: [UInt8]?
        var refusal = ""
    }

    private(set) var isReady = false
    private(set) var messages: [Message] = []
    /// The arguments of each, where they were read.
    private(set) var arguments: [[WireValue]?] = []
    private(set) var end: BusConnection.End?

    func connectionReady(_ connection: BusConnection) { isReady = true }

    func connection(_ connection: BusConnection, received message: BusMessage) {
        var heard = Message(
            kind: message.kind, path: message.path, interface: message.interface, member: message.member,
            signature: message.signature)
        do throws(BrokerError) {
            let values = try message.arguments(descriptorsInLists: true)
            var marshaller = Marshaller()
            for value in values {
                Self.check(value, depth: 0)
                marshaller.append(value)
                for number in value.fileDescriptors { close(number) }
            }
            heard.body = marshaller.bytes
            arguments.append(values)
        } catch {
            heard.refusal = error.message
            arguments.append(nil)
        }
        messages.append(heard)
    }

    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) { self.end = end }

    /// An accepted value is within its bounds.
    private static func check(_ value: WireValue, depth: Int) {
        precondition(depth <= BusMessage.nestingMax, "A value was taken \(depth) containers deep.")
        switch value {
        case .array(type: "h", let values):
            precondition(
                depth == 0 && values.count <= BusMessage.descriptorsMax,
                "A list of \(values.count) descriptors was taken, \(depth) containers deep.")
        case .array(_, let values), .structure(let values):
            precondition(values.count <= BusMessage.valuesMax, "An array of \(values.count) values was taken.")
            for value in values { check(value, depth: depth + 1) }
        case .dictionary(let dictionary):
            precondition(
                dictionary.entries.count <= BusMessage.keysMax,
                "A dictionary of \(dictionary.entries.count) keys was taken.")
            for entry in dictionary.entries { check(entry.value, depth: depth + 1) }
        case .fileDescriptor: precondition(depth == 0, "A descriptor was taken inside a container.")
        default: break
        }
    }

    /// The effects of a peer's pieces, each sent after the loop has no work left.
    /// - Parameter descriptorAt: the piece that brings one, if any.
    static func hear(_ pieces: [[UInt8]], descriptorAt place: Int? = nil) -> Hearer {
        let hearer = Hearer()
        do throws(SystemFault) {
            let loop = try EventLoop()
            let (ours, its) = try UnixPair.make()
            let connection = try BusConnection(adopting: ours, as: .server, on: loop, delegate: hearer)
            let peer = Peer(its, loop)
            for (index, piece) in pieces.enumerated() {
                if index == place {
                    // It may be over already, and then nothing is sent.
                    _ = camarb_pass(its, piece, piece.count, [STDERR_FILENO], 1)
                    peer.listen()
                } else {
                    peer.send(piece)
                }
            }
            peer.listen()
            peer.close()
            Peer.settle(loop)
            precondition(!connection.isOpen, "A connection outlives its peer.")
            return hearer
        } catch { preconditionFailure("This target could not be set up: \(error)") }
    }

    /// Nothing else of this process opens descriptors.
    static let isAlone = Atomic<Bool>(false)

    /// The number that the next descriptor gets: it grows with each that is left open. In a process with others, such
    /// as other tests, it says nothing, and is always the same.
    static var nextDescriptor: Int32 {
        guard isAlone.load(ordering: .relaxed) else { return -1 }
        let number = open("/dev/null", O_RDONLY | O_CLOEXEC)
        if number >= 0 { Glibc.close(number) }
        return number
    }
}

/// The messages of a connection to its peer, read independently of camarb. Little-endian.
struct Said {
    struct Message {
        /// 1 call, 2 answer, 3 error, 4 signal.
        var kind: UInt8
        /// Which call it answers; 0: none.
        var answers: UInt32 = 0
        var body: [UInt8]
    }

    private(set) var messages: [Message] = []

    /// Stops the process where the bytes are no messages.
    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        // Lines end where the first message begins: no line begins with the letter of an order of bytes.
        while let first = rest.first, first != UInt8(ascii: "l") && first != UInt8(ascii: "B") {
            rest = rest[(rest.firstIndex(of: 10).map { $0 + 1 } ?? rest.endIndex)...]
        }
        while !rest.isEmpty {
            precondition(rest.count >= 16, "What was said ends within the header of a message.")
            let body = Int(Self.number(rest, 4))
            let fields = Int(Self.number(rest, 12))
            let begin = 16 + (fields + 7) & ~7
            precondition(
                rest.first == UInt8(ascii: "l") && body >= 0 && begin + body <= rest.count,
                "What was said ends within a message.")
            var message = Message(kind: rest[rest.startIndex + 1], body: Array(rest.dropFirst(begin).prefix(body)))
            Self.read(Array(rest.dropFirst(16).prefix(fields)), into: &message)
            messages.append(message)
            rest = rest.dropFirst(begin + body)
        }
    }

    private static func read(_ fields: [UInt8], into message: inout Message) {
        var at = 0
        while at < fields.count {
            at = (at + 7) & ~7
            guard at + 4 < fields.count else { break }
            let code = fields[at]
            // Every field of ours has a signature of one letter: its length, itself, a zero.
            let type = fields[at + 2]
            at += 4
            if type == UInt8(ascii: "g") {
                at += 2 + Int(fields[at])
            } else if type == UInt8(ascii: "u") {
                if code == 5 { message.answers = number(fields[at...], 0) }
                at += 4
            } else {
                at += 5 + Int(number(fields[at...], 0))
            }
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt32 {
        bytes.dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    static func text(_ body: [UInt8]) -> String {
        String(decoding: body.dropFirst(4).prefix(Int(number(body[...], 0))), as: UTF8.self)
    }
}
