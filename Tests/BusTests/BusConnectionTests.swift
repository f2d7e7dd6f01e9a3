import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Glibc
import System
import Testing

@Suite struct BusConnectionTests {
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
            #expect(try pair.answer(member, Array(repeating: .fileDescriptor(ends[1]), count: 3)) == .success([]))
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
            try pair.ready()
            var answers: [Result<BusMessage, BrokerError>] = []
            pair.call("Never") { answers.append($0) }
            try pair.loop.turn(until: { !pair.serverSide.messages.isEmpty })
            pair.client.close()
            try pair.loop.turn(until: { !answers.isEmpty })
            #expect(throws: BrokerError.self) { try answers[0].get() }
            pair.serverSide.messages = []
            pair.server.close()
            // The rest of its work.
            _ = try pair.loop.turn(timeout: 0)
            (gone, loop) = (pair.client, pair.loop)
        }
        #expect(gone == nil && loop == nil)
    }

    @Test("A call to a peer that has closed, which was not read yet, is disconnected; what the peer said last is heard")
    func callToAPeerThatHasClosed() throws {
        let pair = try Pair()
        try pair.ready()
        pair.server.tell("Last")
        pair.server.close()
        var answers: [Result<BusMessage, BrokerError>] = []
        pair.call("Echo") { answers.append($0) }
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

    @Test("A peer that does not read is disconnected, and costs no more than the kernel's buffer and the queue")
    func aPeerThatDoesNotReadIsDisconnectedAndOnlyThat() throws {
        let stranger = try Stranger()
        try stranger.authenticate()
        let text = WireValue.string(String(repeating: "x", count: 200))
        var sent = 0
        while stranger.side.ends.isEmpty && sent < 100_000 {
            stranger.server.tell("Flood", text)
            sent += 1
            if sent % 64 == 0 { _ = try stranger.loop.turn(timeout: 0) }
        }
        #expect(stranger.side.ends == [.tooMuchQueued])
        // The kernel's buffer and our queue, and not much more.
        #expect(sent < 4096)
        #expect(!stranger.server.isOpen)
    }

    @Test("A message beyond the bound ends the connection before it is read, and those within it arrive")
    func messagesBeyondTheBound() throws {
        let pair = try Pair()
        pair.client.messageBytesMax = 100_000
        try pair.ready()
        func say(_ bytes: Int) { pair.server.tell("News", .string(String(repeating: "x", count: bytes))) }
        // Of all lengths, and while something is sent the other way, so that reads and writes alternate.
        for bytes in [0, 1, 50_000, 99_000, 7, 90_000] {
            say(bytes)
            pair.call("Echo", [.string("y")]) { _ in }
        }
        try pair.loop.turn(until: { pair.clientSide.messages.count == 6 })
        #expect(pair.clientSide.ends.isEmpty)
        say(101_000)
        try pair.loop.turn(until: { !pair.clientSide.ends.isEmpty })
        guard case .messageTooLong(let bytes)? = pair.clientSide.ends.first else {
            Issue.record("it ended with \(pair.clientSide.ends)")
            return
        }
        #expect(bytes > 101_000 && pair.clientSide.ends.count == 1 && pair.clientSide.messages.count == 6)
    }

    @Test(
        "A trusted peer's message is read in pieces, too, and one that is malformed ends the connection",
        arguments: [true, false])
    func beginningsOfMessages(inPieces: Bool) throws {
        let loop = try EventLoop()
        let side = Recorder()
        let (a, peer) = try socketPair()
        defer { close(peer) }
        let client = try BusConnection(adopting: a, as: .client, on: loop, delegate: side)
        // Its lines say which answers it waits for.
        var said = ""
        try loop.turn(until: {
            var bytes = [UInt8](repeating: 0, count: 512)
            let count = read(peer, &bytes, bytes.count)
            said += String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
            return said.contains("BEGIN\r\n")
        })
        var answer = said.contains("DATA\r\n") ? "DATA\r\n" : ""
        answer += "OK 0123456789abcdef0123456789abcdef\r\nAGREE_UNIX_FD\r\n"
        try write(Array(answer.utf8), to: peer)
        try loop.turn(until: { side.ready == 1 })
        if inPieces {
            for byte in RawWords.ping {
                #expect(side.messages.isEmpty)
                try write([byte], to: peer)
                _ = try loop.turn(timeout: 0)
            }
            try loop.turn(until: { side.messages.count == 1 })
            #expect(side.messages[0].isMember("Ping"))
        }
        var message = RawWords.ping
        // No type of message has this number.
        message[1] = 0
        try write(message, to: peer)
        try loop.turn(until: { !client.isOpen })
        #expect(side.messages.count == (inPieces ? 1 : 0))
        #expect(side.ends.count == 1 && side.ends != [.disconnected])
    }

    private func write(_ bytes: [UInt8], to descriptor: Int32) throws {
        try #require(Glibc.write(descriptor, bytes, bytes.count) == bytes.count)
    }
}
