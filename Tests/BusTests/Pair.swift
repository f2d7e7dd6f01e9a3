import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Glibc
import System
import Testing

/// A server that answers `Echo` with its arguments, and a client, on one loop.
struct Pair {
    let loop: EventLoop
    let server: BusConnection
    let client: BusConnection
    let serverSide = Recorder()
    let clientSide = Recorder()

    /// - Parameter anonymous: the server trusts its client.
    init(anonymous: Bool = false, keepers: DescriptorKeepers? = nil, on given: EventLoop? = nil) throws {
        loop = try given ?? EventLoop()
        let (a, b) = try socketPair()
        serverSide.onMessage = { message in
            if message.kind == .call && message.member == "Echo" {
                do throws(BrokerError) {
                    let arguments = try message.arguments()
                    message.answer(arguments)
                    for case .fileDescriptor(let number) in arguments { Glibc.close(number) }
                } catch {
                    message.answer(error)
                }
            }
        }
        server = try BusConnection(
            adopting: a, as: .server, on: loop, delegate: serverSide, anonymous: anonymous, keepers: keepers)
        client = try BusConnection(adopting: b, as: .client, on: loop, delegate: clientSide)
    }

    func close() { for end in [server, client] { end.close() } }

    /// Until both have let each other in. What a server said before would be bytes that follow the authentication.
    func ready() throws { try loop.turn(until: { serverSide.ready == 1 && clientSide.ready == 1 }) }

    func call(
        _ member: String, _ values: [WireValue] = [], _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        client.call(path: "/a", interface: "org.camarb.Test", member: member, values, handler)
    }

    func answer(_ member: String, _ values: [WireValue] = []) throws -> Result<[WireValue], BrokerError> {
        var answer: Result<[WireValue], BrokerError>?
        call(member, values) { result in
            do throws(BrokerError) {
                answer = .success(try result.get().arguments())
            } catch {
                answer = .failure(error)
            }
        }
        try loop.turn(until: { answer != nil })
        return try #require(answer)
    }

    func echo(_ values: [WireValue]) throws -> Result<[WireValue], BrokerError> { try answer("Echo", values) }
}

extension BusConnection {
    /// A signal that leaves at once.
    func tell(_ member: String, _ values: WireValue...) {
        signal(path: "/a", interface: "org.camarb.Test", member: member, values)
        flush()
    }
}

/// A server before a stranger whose bytes are written by hand.
final class Stranger {
    let loop: EventLoop
    let side = Recorder()
    let server: BusConnection
    let socket: Int32

    init(keepers program: String? = nil, on given: EventLoop? = nil) throws {
        let loop = try given ?? EventLoop()
        self.loop = loop
        let (a, b) = try socketPair()
        socket = b
        side.onMessage = { $0.answer() }
        let keepers = program.map { DescriptorKeepers(program: $0, on: loop) { _ in } }
        server = try BusConnection(adopting: a, as: .server, on: loop, delegate: side, keepers: keepers)
    }

    deinit {
        server.close()
        close(socket)
    }

    func say(_ bytes: some Sequence<UInt8>, _ descriptors: [Int32] = []) throws {
        let bytes = Array(bytes)
        try #require(camarb_pass(socket, bytes, bytes.count, descriptors, descriptors.count) == 0)
    }

    func authenticate() throws {
        try say(RawWords.hello())
        try loop.turn(until: { side.ready == 1 })
    }

    /// The answer, once that is enough.
    func heard(_ what: String, until isEnough: (String) -> Bool) throws -> String {
        var text = ""
        var buffer = [UInt8](repeating: 0, count: 4096)
        try loop.turn(
            until: {
                while case let count = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT)), count > 0 {
                    text += String(decoding: buffer.prefix(count), as: UTF8.self)
                }
                return isEnough(text)
            }, what)
        return text
    }

    func refuses(_ sentence: String, at place: SourceLocation = #_sourceLocation) throws {
        try loop.turn(until: { !side.ends.isEmpty }, "the end", line: place.line)
        #expect(side.ends == [.unfit(sentence)], sourceLocation: place)
    }
}

/// A client's messages, marshalled by hand: the one way to put one into the same write as another.
enum RawWords {
    static func hello(of user: UInt32 = getuid()) -> [UInt8] {
        let name = String(user).utf8.map { String($0, radix: 16) }.joined()
        return Array("\0AUTH EXTERNAL \(name)\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n".utf8)
    }

    static let ping: [UInt8] = {
        var fields: [UInt8] = []
        func field(_ code: UInt8, _ type: Unicode.Scalar, _ text: String) {
            while fields.count % 8 != 0 { fields.append(0) }
            fields += [code, 1, UInt8(ascii: type), 0]
            fields += number(text.utf8.count)
            fields += Array(text.utf8) + [0]
        }
        field(1, "o", "/a")
        field(2, "s", "org.camarb.Test")
        field(3, "s", "Ping")
        var message = [UInt8(ascii: "l"), 1, 0, 1]
        for value in [0, 1, fields.count] { message += number(value) }
        message += fields
        while message.count % 8 != 0 { message.append(0) }
        return message
    }()

    private static func number(_ value: Int) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
    }
}
