import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Glibc
import Loop
import Testing

/// A server before a stranger whose bytes are written by hand.
private final class Stranger {
    let loop: EventLoop
    let side = Recorder()
    let server: BusConnection
    let socket: Int32
    static let hello =
        "\0AUTH EXTERNAL \(String(getuid()).utf8.map { String($0, radix: 16) }.joined())\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n"

    init(keepers program: String? = nil) throws {
        let loop = try EventLoop()
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
        try say(Self.hello.utf8)
        try loop.turn(until: { side.ready == 1 })
    }

    /// What it was answered, of which the name of an error comes so often.
    func heard(_ count: Int, _ what: String) throws -> String {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        try loop.turn(
            until: {
                while case let got = recv(socket, &buffer, buffer.count, Int32(MSG_DONTWAIT)), got > 0 {
                    bytes += buffer.prefix(got)
                }
                let text = String(decoding: bytes, as: UTF8.self)
                return text.split(separator: "org.camarb.Error.LimitExceeded", omittingEmptySubsequences: false).count
                    > count
            }, what)
        return String(decoding: bytes, as: UTF8.self)
    }

    func refuses(_ sentence: String, at place: SourceLocation = #_sourceLocation) throws {
        try loop.turn(until: { !side.ends.isEmpty }, "the end", line: place.line)
        #expect(side.ends == [.unfit(sentence)], sourceLocation: place)
    }

    static let call = RawCall.bytes(path: "/a", interface: "org.camarb.Test", member: "Ping")
}

@Suite struct IntakeTests {
    private static var keeper: String {
        var path = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &path, path.count)
        let whole = String(decoding: path.prefix(max(0, count)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return String(whole[..<(whole.lastIndex(of: "/") ?? whole.startIndex)]) + "/camkeeper"
    }

    @Test func aConversationIsUnderstoodWhereverItIsCut() throws {
        let bytes = Array(Stranger.hello.utf8) + Stranger.call + Stranger.call
        for cut in 0...bytes.count {
            let stranger = try Stranger()
            try stranger.say(bytes[..<cut])
            _ = try stranger.loop.turn(timeout: 0)
            try stranger.say(bytes[cut...])
            try stranger.loop.turn(until: { stranger.side.messages.count == 2 }, "cut at \(cut)")
            #expect(stranger.side.messages.allSatisfy { $0.member == "Ping" } && stranger.side.ends.isEmpty)
        }
    }

    @Test func aMessageMayComeByteByByte() throws {
        let stranger = try Stranger()
        for byte in Array(Stranger.hello.utf8) + Stranger.call {
            try stranger.say([byte])
            _ = try stranger.loop.turn(timeout: 0)
        }
        try stranger.loop.turn(until: { stranger.side.messages.count == 1 })
    }

    @Test func whatOneConnectionLeavesReachesNoOther() throws {
        let loop = try EventLoop()
        var strangers: [(socket: Int32, side: Recorder, server: BusConnection)] = []
        for _ in 0..<2 {
            let (a, b) = try socketPair()
            let side = Recorder()
            strangers.append((b, side, try BusConnection(adopting: a, as: .server, on: loop, delegate: side)))
            try #require(camarb_pass(b, Stranger.hello, Stranger.hello.utf8.count, [], 0) == 0)
        }
        try loop.turn(until: { strangers.allSatisfy { $0.side.ready == 1 } })
        // Another version of the protocol: libsystemd drops such a message, and reads on. In two pieces, then in one.
        var wrong = Stranger.call
        wrong[3] = 9
        for pieces in [[wrong[..<20], wrong[20...]], [wrong[...]]] {
            for piece in pieces {
                let bytes = Array(piece)
                try #require(camarb_pass(strangers[0].socket, bytes, bytes.count, [], 0) == 0)
                _ = try loop.turn(timeout: 0)
            }
            for stranger in strangers {
                try #require(camarb_pass(stranger.socket, Stranger.call, Stranger.call.count, [], 0) == 0)
            }
            let before = strangers[1].side.messages.count
            try loop.turn(until: { strangers.allSatisfy { $0.side.messages.count == before + 1 } })
        }
        #expect(strangers.allSatisfy { $0.side.ends.isEmpty })
        for stranger in strangers {
            stranger.server.close()
            close(stranger.socket)
        }
    }

    @Test func aMessageThatIsTooLongEndsItsConnectionBeforeItIsRead() throws {
        let stranger = try Stranger()
        try stranger.authenticate()
        try stranger.say([UInt8(ascii: "l"), 1, 0, 1, 0, 0, 0, 8, 1, 0, 0, 0, 8, 0, 0, 0])
        try stranger.loop.turn(until: { !stranger.side.ends.isEmpty })
        #expect(stranger.side.ends == [.messageTooLong(bytes: (8 << 24) + 24)])
    }

    @Test func aServerWithoutKeepersDisconnectsWhoPassesADescriptor() throws {
        let stranger = try Stranger()
        try stranger.authenticate()
        try stranger.say(Stranger.call, [stranger.socket])
        try stranger.refuses("it passed a descriptor, and none is taken here")
    }

    @Test func descriptorsBelongToAMessagesFirstByte() throws {
        let file = camarb_memfd("test", 1)
        defer { close(file) }
        for cut in [1, 8, 15, 16, 17, 40, Stranger.call.count - 1] {
            let stranger = try Stranger(keepers: Self.keeper)
            try stranger.authenticate()
            try stranger.say(Stranger.call[..<cut])
            try stranger.say(Stranger.call[cut...], [file])
            try stranger.refuses("it passed a descriptor with another byte than a message's first")
            #expect(stranger.side.messages.isEmpty)
        }
        let early = try Stranger(keepers: Self.keeper)
        try early.say(Stranger.hello.utf8, [file])
        try early.refuses("it passed a descriptor with another byte than a message's first")
    }

    @Test func aMessageThatBringsMoreThanEightIsRefusedInItsAnswerAndTheConnectionGoesOn() throws {
        let file = camarb_memfd("test", 1)
        defer { close(file) }
        let many = [Int32](repeating: file, count: BusMessage.descriptorsMax + 1)
        for cut in [1, 3, 15, 16, 17, 40, Stranger.call.count] {
            let stranger = try Stranger(keepers: Self.keeper)
            try stranger.authenticate()
            for _ in 0..<3 {
                try stranger.say(Stranger.call[..<cut], many)
                _ = try stranger.loop.turn(timeout: 0)
                if cut < Stranger.call.count { try stranger.say(Stranger.call[cut...]) }
            }
            // What follows is read from its own beginning, and brings as many as one may.
            try stranger.say(Stranger.call)
            try stranger.loop.turn(until: { stranger.side.messages.count == 1 }, "cut at \(cut)")
            #expect(stranger.side.ends.isEmpty)
            let said = try stranger.heard(3, "an answer to each, cut at \(cut)")
            #expect(said.contains("brought 9 file descriptors, and one may bring at most 8"))
        }
    }

    @Test func aMessageThatBringsMoreThanEightAndIsNotWholeInTimeEndsItsConnection() throws {
        let file = camarb_memfd("test", 1)
        defer { close(file) }
        let stranger = try Stranger(keepers: Self.keeper)
        try stranger.authenticate()
        try stranger.say(Stranger.call[..<20], Array(repeating: file, count: 9))
        try stranger.loop.turn(until: { !stranger.side.ends.isEmpty }, "the end")
        #expect(stranger.side.ends == [.messageNotWhole] && stranger.side.messages.isEmpty)
    }

    @Test func aMessagesDescriptorsAreEnvelopesAndTheFileIsNotHere() throws {
        let (a, b) = try socketPair()
        let loop = try EventLoop()
        let serverSide = Recorder()
        let clientSide = Recorder()
        let keepers = DescriptorKeepers(program: Self.keeper, on: loop) { Issue.record("\($0)") }
        let file = camarb_memfd("test", 1)
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer {
            close(file)
            close(nothing)
        }
        var status = stat()
        try #require(fstat(file, &status) == 0)
        var findings: [PassedDescriptor.Finding?] = []
        serverSide.onMessage = { message in
            let arguments = (try? message.arguments()) ?? []
            for case .fileDescriptor(let number) in arguments {
                findings.append(message.passed(number)?.finding)
                var mark: Int32 = -1
                let opened = camarb_open_envelope(number, &mark)
                if mark >= 0 { close(mark) }
                if opened >= 0 {
                    var found = stat()
                    #expect(fstat(opened, &found) == 0 && found.st_ino == status.st_ino)
                    close(opened)
                } else {
                    #expect(opened == -ENODATA)
                }
                close(number)
            }
            message.answer()
            // Whoever keeps a message keeps what it brought on its way.
            serverSide.messages = []
        }
        let server = try BusConnection(adopting: a, as: .server, on: loop, delegate: serverSide, keepers: keepers)
        let client = try BusConnection(adopting: b, as: .client, on: loop, delegate: clientSide)
        // More than may be on their way at once: each is let go of in time.
        let count = DescriptorKeepers.ofUserMax * 3
        var answers = 0
        for _ in 0..<count {
            client.call(
                path: "/a", interface: "org.camarb.Test", member: "Take",
                [.fileDescriptor(file), .fileDescriptor(nothing)]
            ) { _ in answers += 1 }
        }
        try loop.turn(until: { answers == count })
        #expect(findings.count == 2 * count)
        #expect(findings.first == .good(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)))
        guard case .fault(.notRegular, _, .device) = findings.last else {
            Issue.record("/dev/null is \(String(describing: findings.last))")
            return
        }
        server.close()
        client.close()
    }

    @Test func aMicrophonesSocketComesInAnEnvelopeAndItsQueueIsLeftAlone() throws {
        let (a, b) = try socketPair()
        let (microphone, other) = try packetPair()
        let loop = try EventLoop()
        let (serverSide, clientSide) = (Recorder(), Recorder())
        let keepers = DescriptorKeepers(program: Self.keeper, on: loop) { Issue.record("\($0)") }
        let file = camarb_memfd("test", 1)
        // Something waits in it already, with a descriptor.
        try #require(camarb_pass(other, [7], 1, [file], 1) == 0)
        close(file)
        var opened: Int32 = -1
        serverSide.onMessage = { message in
            for case .fileDescriptor(let number) in (try? message.arguments()) ?? [] {
                #expect(message.passed(number)?.finding == .microphone)
                var mark: Int32 = -1
                opened = camarb_open_envelope(number, &mark)
                if mark >= 0 { close(mark) }
                close(number)
            }
            message.answer()
            serverSide.messages = []
        }
        let server = try BusConnection(adopting: a, as: .server, on: loop, delegate: serverSide, keepers: keepers)
        let client = try BusConnection(adopting: b, as: .client, on: loop, delegate: clientSide)
        var isAnswered = false
        client.call(path: "/a", interface: "org.camarb.Test", member: "Take", [.fileDescriptor(microphone)]) {
            if case .failure(let error) = $0 { Issue.record("\(error)") }
            isAnswered = true
        }
        try loop.turn(until: { isAnswered })
        close(microphone)
        try #require(opened >= 0)
        var bytes: [UInt8] = [0]
        #expect(camarb_microphone_receive(opened, &bytes, 1) == -Int(EBADMSG))
        #expect(camarb_microphone_end(opened) == 1)
        for end in [opened, other] { close(end) }
        server.close()
        client.close()
    }

    private func packetPair() throws -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
        return (ends[0], ends[1])
    }

    @Test func aKeeperThatCannotBeStartedOrEndsCostsTheConnectionAndNoMore() throws {
        for (program, expected) in [
            ("/nonexistent/camkeeper", "it passed a descriptor, and nobody can take it: "),
            ("/bin/true", "the process that took its descriptors has ended or hangs"),
        ] {
            let stranger = try Stranger(keepers: program)
            try stranger.authenticate()
            try stranger.say(Stranger.call, [stranger.socket])
            try stranger.loop.turn(until: { !stranger.side.ends.isEmpty })
            guard case .unfit(let why) = try #require(stranger.side.ends.first) else {
                Issue.record("\(stranger.side.ends)")
                continue
            }
            #expect(why.hasPrefix(expected), "\(why)")
        }
    }
}
