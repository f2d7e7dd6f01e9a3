import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Glibc
import Loop
import Testing

@Suite struct BusConnectionTests {
    @Test func everyTypeOfTheInterfacesSurvivesTheWay() throws {
        let pair = try Pair()
        let nested: WireDictionary = [
            "b": .boolean(true), "as": .strings(["x", ""]), "in": .dictionary(["d": .double(0.5)]),
        ]
        let values: [WireValue] = [
            .boolean(false), .int32(-5), .uint32(.max), .int64(.min), .uint64(.max), .double(-1.25),
            .string("Grüße, \u{1F4F7}"), .objectPath("/org/camarb"), .strings([]), .array(type: "t", [.uint64(7)]),
            .dictionary(nested), .dictionaries([nested, [:]]),
        ]
        #expect(try pair.echo(values) == .success(values))
    }

    @Test func aDescriptorArrivesAsOneOfTheReadersOwn() throws {
        let pair = try Pair(anonymous: true)
        let file = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(file) }
        let answer = try pair.echo([.fileDescriptor(file)]).get()
        let received = try #require(answer.first?.fileDescriptor)
        #expect(received != file)
        var ours = stat()
        var theirs = stat()
        #expect(fstat(file, &ours) == 0 && fstat(received, &theirs) == 0)
        #expect(ours.st_rdev == theirs.st_rdev)
        #expect(fcntl(received, F_GETFD) & FD_CLOEXEC != 0)
        close(received)
    }

    @Test("Who reads arguments without descriptors, or the first descriptor alone, leaves nobody else's open")
    func descriptorsThatNobodyTakes() throws {
        let pair = try Pair(anonymous: true)
        var ends: [Int32] = [-1, -1]
        // Not for processes that other tests start meanwhile.
        try #require(pipe(&ends) == 0)
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var refused: BrokerError?
        pair.serverSide.onMessage = { message in
            if message.isMember("TakeNone") {
                do throws(BrokerError) { _ = try message.argumentsWithoutDescriptors() } catch { refused = error }
            } else if let first = try? message.firstDescriptor() {
                close(first)
            }
            message.answer()
        }
        for member in ["TakeNone", "TakeFirst"] {
            var isAnswered = false
            pair.client.call(
                path: "/a", interface: "org.camarb.Test", member: member,
                Array(repeating: .fileDescriptor(ends[1]), count: 3)
            ) { result in isAnswered = (try? result.get()) != nil }
            try pair.loop.turn(until: { isAnswered })
        }
        #expect(refused?.kind == .invalidArguments && refused?.message.contains("TakeNone") == true)
        close(ends[1])
        pair.serverSide.messages = []
        // Nobody has the writing end any more: reading ends.
        var byte: UInt8 = 0
        #expect(read(ends[0], &byte, 1) == 0)
    }

    @Test("A connection that is closed with a call under way is gone, and its loop with it")
    func closedWithACallUnderWay() throws {
        weak var gone: BusConnection?
        weak var loop: EventLoop?
        do {
            let pair = try Pair()
            pair.serverSide.onMessage = { _ in }
            try pair.loop.turn(until: { pair.serverSide.ready == 1 && pair.clientSide.ready == 1 })
            var answers: [Result<BusMessage, BrokerError>] = []
            pair.client.call(path: "/a", interface: "org.camarb.Test", member: "Never") { answers.append($0) }
            try pair.loop.turn(until: { !pair.serverSide.messages.isEmpty })
            pair.client.close()
            try pair.loop.turn(until: { !answers.isEmpty })
            #expect(throws: BrokerError.self) { try answers[0].get() }
            pair.serverSide.messages = []
            pair.server.close()
            // What it had left to do.
            _ = try pair.loop.turn(timeout: 0)
            (gone, loop) = (pair.client, pair.loop)
        }
        #expect(gone == nil && loop == nil)
    }

    @Test("A call to a peer that has closed, which was not read yet, is disconnected; what the peer said last is heard")
    func callToAPeerThatHasClosed() throws {
        let pair = try Pair()
        try pair.loop.turn(until: { pair.serverSide.ready == 1 && pair.clientSide.ready == 1 })
        let last = BusMessage.signal(on: pair.server, path: "/a", interface: "org.camarb.Test", member: "Last")
        #expect(last?.send() == true)
        pair.server.close()
        var answers: [Result<BusMessage, BrokerError>] = []
        pair.client.call(path: "/a", interface: "org.camarb.Test", member: "Echo") { answers.append($0) }
        #expect(answers.isEmpty)
        try pair.loop.turn(until: { !answers.isEmpty && !pair.clientSide.ends.isEmpty })
        #expect(throws: BrokerError(.disconnected, "The connection is closed.")) { try answers[0].get() }
        #expect(pair.clientSide.messages.map(\.member) == ["Last"])
        #expect(pair.clientSide.ends == [.disconnected])
    }

    @Test("A call that finds out by being sent that the peer takes nothing more is disconnected")
    func callThatCannotBeSent() throws {
        let loop = try EventLoop()
        let (a, b) = try socketPair()
        let again = dup(a)
        defer { close(again) }
        let (serverSide, clientSide) = (Recorder(), Recorder())
        let server = try BusConnection(adopting: a, as: .server, on: loop, delegate: serverSide)
        let client = try BusConnection(adopting: b, as: .client, on: loop, delegate: clientSide)
        try loop.turn(until: { serverSide.ready == 1 && clientSide.ready == 1 })
        // Nothing of it shows at the other end before it writes.
        #expect(shutdown(again, Int32(SHUT_RD)) == 0)
        var answers: [Result<BusMessage, BrokerError>] = []
        client.call(path: "/a", interface: "org.camarb.Test", member: "Echo") { answers.append($0) }
        try loop.turn(until: { !answers.isEmpty && !clientSide.ends.isEmpty })
        #expect(throws: BrokerError(.disconnected, "The connection is closed.")) { try answers[0].get() }
        #expect(clientSide.ends == [.disconnected])
        server.close()
    }

    @Test func typesThatCamarbDoesNotUseAreAnError() throws {
        let pair = try Pair()
        pair.serverSide.onMessage = { message in
            let answer = message.makeAnswer()
            answer?.container("r", "sv") {
                answer?.append("x")
                answer?.container("v", "u") { answer?.append(UInt32(1)) }
            }
            answer?.send()
        }
        #expect(
            try pair.echo([])
                == .failure(BrokerError(.invalidArguments, "camarb uses no structures of the D-Bus type \"(sv)\".")))
    }

    @Test func aStructureOfBasicValuesComesAsItWasSent() throws {
        let pair = try Pair()
        pair.serverSide.onMessage = { $0.answer([.structure(of: [0.25, 1]), .array(type: "d", [.double(2)])]) }
        #expect(try pair.echo([]) == .success([.structure(of: [0.25, 1]), .array(type: "d", [.double(2)])]))
    }

    @Test func errorsKeepTheirKindAndSentence() throws {
        let pair = try Pair()
        let error = BrokerError(.unknownCamera, "There is no camera \"x\".")
        pair.serverSide.onMessage = { $0.answer(error) }
        #expect(try pair.echo([]) == .failure(error))
    }

    @Test func twoHundredSignalsArriveInOrder() throws {
        let pair = try Pair()
        try pair.loop.turn(until: { pair.serverSide.ready == 1 })
        for number in 0..<200 as Range<UInt64> {
            let signal = try #require(
                BusMessage.signal(on: pair.server, path: "/a", interface: "org.camarb.Test", member: "Tick"))
            signal.append(number)
            #expect(signal.send())
        }
        try pair.loop.turn(until: { pair.clientSide.messages.count == 200 })
        #expect(try pair.clientSide.messages.map { try $0.readUInt64() } == Array(0..<200))
    }

    @Test func oneSealedSignalGoesToManyConnections() throws {
        let loop = try EventLoop()
        let sides = [Recorder(), Recorder(), Recorder()]
        var servers: [BusConnection] = []
        var clients: [BusConnection] = []
        let listening = Recorder()
        for side in sides {
            let (a, b) = try socketPair()
            servers.append(try BusConnection(adopting: a, as: .server, on: loop, delegate: listening))
            clients.append(try BusConnection(adopting: b, as: .client, on: loop, delegate: side))
        }
        try loop.turn(until: { listening.ready == 3 })
        let signal = try #require(
            BusMessage.sealedSignal(
                on: servers[0], path: "/a", interface: "org.camarb.Test", member: "News", [.string("all")]))
        for server in servers { #expect(server.send(signal)) }
        try loop.turn(until: { sides.allSatisfy { $0.messages.count == 1 } })
        for side in sides { #expect(try side.messages[0].readString() == "all") }
    }

    @Test func aFirstCallGluedToTheEndOfTheAuthenticationIsAnswered() throws {
        // Repeated: the trap depends on how the bytes fall into reads.
        for _ in 0..<20 {
            let loop = try EventLoop()
            let (a, b) = try socketPair()
            defer { close(b) }
            let side = Recorder()
            side.onMessage = { $0.answer([]) }
            let server = try BusConnection(adopting: a, as: .server, on: loop, delegate: side)
            let uid = String(getuid()).utf8.map { String($0, radix: 16) }.joined()
            var bytes = Array("\0AUTH EXTERNAL \(uid)\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n".utf8)
            bytes += RawCall.bytes(path: "/a", interface: "org.camarb.Test", member: "Ping")
            #expect(write(b, bytes, bytes.count) == bytes.count)
            try loop.turn(until: { side.messages.count == 1 })
            #expect(side.messages[0].member == "Ping")
            #expect(side.ready == 1)
            var answer = [UInt8](repeating: 0, count: 4096)
            let length = read(b, &answer, answer.count)
            // The answer to authentication, then a message: little-endian, a method's return.
            let text = answer.prefix(max(0, length))
            #expect(text.starts(with: Array("OK ".utf8)))
            #expect(text.contains(UInt8(ascii: "l")))
            server.close()
        }
    }

    @Test func aPeerThatDoesNotReadIsDisconnectedAndOnlyThat() throws {
        let loop = try EventLoop()
        let (a, b) = try socketPair()
        let side = Recorder()
        let server = try BusConnection(adopting: a, as: .server, on: loop, delegate: side)
        let uid = String(getuid()).utf8.map { String($0, radix: 16) }.joined()
        let bytes = Array("\0AUTH EXTERNAL \(uid)\r\nBEGIN\r\n".utf8)
        #expect(write(b, bytes, bytes.count) == bytes.count)
        try loop.turn(until: { side.ready == 1 })
        var sent = 0
        let limit = 100_000
        while side.ends.isEmpty && sent < limit {
            let signal = BusMessage.signal(on: server, path: "/a", interface: "org.camarb.Test", member: "Flood")
            signal?.append(String(repeating: "x", count: 200))
            signal?.send()
            sent += 1
            if sent % 64 == 0 { _ = try loop.turn(timeout: 0) }
        }
        #expect(side.ends == [.tooMuchQueued])
        // The kernel's buffer and our queue, and not much more.
        #expect(sent < 4096)
        #expect(!server.isOpen)
        close(b)
    }

    @Test("A message beyond the bound ends the connection before it is read, and those within it arrive")
    func messagesBeyondTheBound() throws {
        let pair = try Pair()
        pair.client.bound = MessageBound(bytesMax: 100_000)
        // What the server said before the client was ready would be bytes that follow the authentication.
        try pair.loop.turn(until: { pair.serverSide.ready == 1 && pair.clientSide.ready == 1 })
        func say(_ bytes: Int) throws {
            let signal = try #require(
                BusMessage.signal(on: pair.server, path: "/a", interface: "org.camarb.Test", member: "News"))
            signal.append(String(repeating: "x", count: bytes))
            #expect(signal.send())
        }
        // Of all lengths, and while something is sent the other way, so that reads and writes alternate.
        for bytes in [0, 1, 50_000, 99_000, 7, 90_000] {
            try say(bytes)
            pair.client.call(path: "/a", interface: "org.camarb.Test", member: "Echo", [.string("y")]) { _ in }
        }
        try pair.loop.turn(until: { pair.clientSide.messages.count == 6 })
        #expect(pair.clientSide.ends.isEmpty)
        try say(101_000)
        try pair.loop.turn(until: { !pair.clientSide.ends.isEmpty })
        guard case .messageTooLong(let bytes)? = pair.clientSide.ends.first else {
            Issue.record("it ended with \(pair.clientSide.ends)")
            return
        }
        #expect(bytes > 101_000 && pair.clientSide.ends.count == 1)
        #expect(pair.clientSide.messages.count == 6)
    }

    /// A bounded client whose server is the test, which has answered its authentication.
    /// - Parameter more: bytes that come in one piece with the answer.
    /// - Returns: the client, and the server's end.
    private func boundedClient(
        on loop: EventLoop, _ side: Recorder, followedBy more: [UInt8] = []
    ) throws -> (BusConnection, Int32) {
        let (a, b) = try socketPair()
        let client = try BusConnection(adopting: a, as: .client, on: loop, delegate: side)
        client.bound = MessageBound(bytesMax: 100_000)
        // Its lines say which answers it waits for.
        var said = ""
        try loop.turn(until: {
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = read(b, &bytes, bytes.count)
            said += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            return said.contains("BEGIN\r\n")
        })
        let data = said.contains("DATA\r\n") ? "DATA\r\n" : ""
        let answer = Array((data + "OK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n").utf8) + more
        #expect(write(b, answer, answer.count) == answer.count)
        return (client, b)
    }

    private let ping = RawCall.bytes(path: "/a", interface: "org.camarb.Test", member: "Ping")

    @Test("What a peer says before it is asked ends a bounded connection")
    func gluedMessage() throws {
        let loop = try EventLoop()
        let side = Recorder()
        let (client, peer) = try boundedClient(on: loop, side, followedBy: ping)
        defer { close(peer) }
        try loop.turn(until: { !client.isOpen })
        #expect(side.messages.isEmpty)
        #expect(side.ends.count == 1 && side.ends != [.disconnected])
    }

    @Test(
        "A header in pieces, and a malformed message, which libsystemd drops and reads on, end a bounded connection",
        arguments: [true, false])
    func beginningsOfMessages(isWhole: Bool) throws {
        let loop = try EventLoop()
        let side = Recorder()
        let (client, peer) = try boundedClient(on: loop, side)
        defer { close(peer) }
        try loop.turn(until: { side.ready == 1 })
        var message = isWhole ? ping : Array(ping.prefix(4))
        // No type of message has this number.
        if isWhole { message[1] = 0 }
        #expect(write(peer, message, message.count) == message.count)
        try loop.turn(until: { !client.isOpen })
        #expect(side.messages.isEmpty)
        #expect(side.ends.count == 1 && side.ends != [.disconnected])
    }

    @Test func aPeerThatGoesEndsTheConnectionOnce() throws {
        let pair = try Pair()
        try pair.loop.turn(until: { pair.serverSide.ready == 1 })
        pair.client.close()
        try pair.loop.turn(until: { !pair.serverSide.ends.isEmpty })
        #expect(pair.serverSide.ends == [.disconnected])
        #expect(pair.clientSide.ends == [])
        #expect(!pair.server.isOpen)
    }

    @Test func callsUnderWayFailWhenThePeerGoes() throws {
        let pair = try Pair()
        pair.serverSide.onMessage = { message in message.connection.close() }
        var answer: Result<BusMessage, BrokerError>?
        pair.client.call(path: "/a", interface: "org.camarb.Test", member: "Never") { answer = $0 }
        try pair.loop.turn(until: { answer != nil })
        guard case .failure(let error) = try #require(answer) else {
            Issue.record("The call succeeded.")
            return
        }
        #expect(error.kind == .disconnected)
    }

    @Test func aCallWithoutAnAnswerEndsAtItsTimeLimit() throws {
        let pair = try Pair()
        pair.serverSide.onMessage = { _ in }
        var answer: Result<BusMessage, BrokerError>?
        pair.client.call(
            path: "/a", interface: "org.camarb.Test", member: "Never", timeout: 20_000_000
        ) { answer = $0 }
        try pair.loop.turn(until: { answer != nil })
        guard case .failure(let error) = try #require(answer) else {
            Issue.record("The call succeeded.")
            return
        }
        #expect(error.kind == .noReply)
    }

    @Test func whoClaimsToBeAnotherUserIsNotLetIn() throws {
        let loop = try EventLoop()
        let (a, b) = try socketPair()
        let side = Recorder()
        let server = try BusConnection(adopting: a, as: .server, on: loop, delegate: side)
        let other = String(getuid() + 1).utf8.map { String($0, radix: 16) }.joined()
        let bytes = Array("\0AUTH EXTERNAL \(other)\r\nBEGIN\r\n".utf8)
        #expect(write(b, bytes, bytes.count) == bytes.count)
        var answer = [UInt8](repeating: 0, count: 256)
        var length = -1
        try loop.turn(until: {
            length = read(b, &answer, answer.count)
            return length > 0
        })
        #expect(String(decoding: answer.prefix(8), as: UTF8.self) == "REJECTED")
        #expect(side.ready == 0 && !server.isReady)
        close(b)
    }

    @Test func garbageEndsTheConnectionAndNothingElse() throws {
        for garbage in [
            "\0HELLO\r\n", "GET / HTTP/1.1\r\n\r\n", "\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\nxxxxxxxxxxxxxxxxxxxxxxxx",
        ] {
            let loop = try EventLoop()
            let (a, b) = try socketPair()
            let side = Recorder()
            let server = try BusConnection(adopting: a, as: .server, on: loop, delegate: side)
            let bytes = Array(garbage.utf8)
            #expect(write(b, bytes, bytes.count) == bytes.count)
            #expect(shutdown(b, Int32(SHUT_WR)) == 0)
            try loop.turn(until: { !side.ends.isEmpty })
            #expect(side.messages.isEmpty)
            #expect(!server.isOpen)
            close(b)
        }
    }
}

/// A method call, marshalled by hand: the one way to put it into the same write as the authentication.
enum RawCall {
    static func bytes(path: String, interface: String, member: String) -> [UInt8] {
        var fields: [UInt8] = []
        func field(_ code: UInt8, _ type: Character, _ text: String) {
            while fields.count % 8 != 0 { fields.append(0) }
            fields += [code, 1, type.asciiValue ?? 0, 0]
            let count = UInt32(text.utf8.count)
            fields += (0..<4).map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
            fields += Array(text.utf8) + [0]
        }
        field(1, "o", path)
        field(2, "s", interface)
        field(3, "s", member)
        let length = UInt32(fields.count)
        var message: [UInt8] = [UInt8(ascii: "l"), 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0]
        message += (0..<4).map { UInt8(truncatingIfNeeded: length >> (8 * $0)) }
        message += fields
        while message.count % 8 != 0 { message.append(0) }
        return message
    }
}
