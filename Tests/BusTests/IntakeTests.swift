import ArbiterProtocol
import Bus
import BusTesting
import CLinux
import Glibc
import System
import Testing

@Suite struct IntakeTests {
    private static let keeper = programsFolder + "/camkeeper"

    /// A stranger who has authenticated before a server with keepers.
    private func stranger(keepers program: String? = keeper) throws -> Stranger {
        let stranger = try Stranger(keepers: program)
        try stranger.authenticate()
        return stranger
    }

    @Test func whatOneConnectionLeavesReachesNoOther() throws {
        let loop = try EventLoop()
        let strangers = [try Stranger(on: loop), try Stranger(on: loop)]
        for stranger in strangers { try stranger.authenticate() }
        // Another version of the protocol: such a message is passed over. In two pieces, then in one.
        var wrong = RawWords.ping
        wrong[3] = 9
        for pieces in [[wrong[..<20], wrong[20...]], [wrong[...]]] {
            for piece in pieces {
                try strangers[0].say(piece)
                _ = try loop.turn(timeout: 0)
            }
            for stranger in strangers { try stranger.say(RawWords.ping) }
            let before = strangers[1].side.messages.count
            try loop.turn(until: { strangers.allSatisfy { $0.side.messages.count == before + 1 } })
        }
        #expect(strangers.allSatisfy { $0.side.ends.isEmpty })
    }

    @Test func descriptorsBelongToAMessagesFirstByte() throws {
        for cut in [1, 8, 15, 16, 17, 40, RawWords.ping.count - 1] {
            let stranger = try stranger()
            try stranger.say(RawWords.ping[..<cut])
            try stranger.say(RawWords.ping[cut...], [stranger.socket])
            try stranger.refuses("it passed a descriptor with another byte than a message's first")
            #expect(stranger.side.messages.isEmpty)
        }
        let early = try Stranger(keepers: Self.keeper)
        try early.say(RawWords.hello(), [early.socket])
        try early.refuses("it passed a descriptor with another byte than a message's first")
    }

    @Test func aMessageThatBringsMoreThanEightIsRefusedInItsAnswerAndTheConnectionGoesOn() throws {
        for cut in [1, 3, 15, 16, 17, 40, RawWords.ping.count] {
            let stranger = try stranger()
            let many = Array(repeating: stranger.socket, count: BusMessage.descriptorsMax + 1)
            for _ in 0..<3 {
                try stranger.say(RawWords.ping[..<cut], many)
                _ = try stranger.loop.turn(timeout: 0)
                if cut < RawWords.ping.count { try stranger.say(RawWords.ping[cut...]) }
            }
            // The next message is read from its own beginning, and brings as many as one may.
            try stranger.say(RawWords.ping)
            try stranger.loop.turn(until: { stranger.side.messages.count == 1 }, "cut at \(cut)")
            #expect(stranger.side.ends.isEmpty)
            let said = try stranger.heard("an answer to each, cut at \(cut)") {
                $0.split(separator: "org.camarb.Error.LimitExceeded", omittingEmptySubsequences: false).count > 3
            }
            #expect(said.contains("brought 9 file descriptors, and one may bring at most 8"))
        }
    }

    @Test func ofABusOnlyAnswersBringDescriptorsHereAndAMessageThatIsTooLongIsPassedOver() throws {
        let loop = try EventLoop()
        let keepers = DescriptorKeepers(program: Self.keeper, on: loop) { Issue.record("\($0)") }
        let (a, b) = try socketPair()
        let (serverSide, side) = (Recorder(), Recorder())
        let nothing = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(nothing) }
        serverSide.onMessage = { $0.answer([.fileDescriptor(nothing)]) }
        let server = try BusConnection(adopting: a, as: .server, on: loop, delegate: serverSide, anonymous: true)
        let client = try BusConnection(adopting: b, as: .client, on: loop, delegate: side, keepers: keepers)
        defer { for end in [server, client] { end.close() } }
        client.messageBytesMax = 1 << 16
        try loop.turn(until: { serverSide.ready == 1 && side.ready == 1 })
        // Of a call the file stays out: in its place is an envelope.
        var kinds: [mode_t] = []
        func note(_ message: BusMessage) {
            guard let descriptor = try? message.firstDescriptor() else { return }
            defer { close(descriptor) }
            var status = stat()
            if fstat(descriptor, &status) == 0 { kinds.append(status.st_mode & S_IFMT) }
        }
        side.onMessage = { note($0) }
        client.call(path: "/a", interface: "org.camarb.Test", member: "Get") {
            if let answer = try? $0.get() { note(answer) }
        }
        try loop.turn(until: { kinds.count == 1 }, "the answer's descriptor")
        server.call(path: "/a", interface: "org.camarb.Test", member: "Take", [.fileDescriptor(nothing)]) { _ in }
        try loop.turn(until: { kinds.count == 2 }, "the call's descriptor")
        #expect(kinds == [S_IFCHR, S_IFSOCK])
        for count in [1 << 16, 3 << 16] {
            server.tell("Long", .string(String(repeating: "x", count: count)))
            server.tell("Short")
            let before = side.messages.count
            try loop.turn(until: { side.messages.count == before + 1 }, "the one behind it")
        }
        #expect(side.messages.suffix(2).allSatisfy { $0.member == "Short" } && side.ends.isEmpty)
    }

    @Test func aMessageThatBringsMoreThanEightAndIsNotWholeInTimeEndsItsConnection() throws {
        let stranger = try stranger()
        try stranger.say(RawWords.ping[..<20], Array(repeating: stranger.socket, count: 9))
        try stranger.loop.turn(until: { !stranger.side.ends.isEmpty }, "the end")
        #expect(stranger.side.ends == [.messageNotWhole] && stranger.side.messages.isEmpty)
    }

    @Test func aMessagesDescriptorsAreEnvelopesAndTheFileIsNotHere() throws {
        let file = camarb_memfd("test", 1)
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { for descriptor in [file, nothing] { close(descriptor) } }
        var status = stat()
        try #require(fstat(file, &status) == 0)
        var findings: [(file: PassedDescriptor.File, noFile: String?, noMicrophone: String?)?] = []
        let loop = try EventLoop()
        let keepers = DescriptorKeepers(program: Self.keeper, on: loop) { Issue.record("\($0)") }
        let pair = try Pair(keepers: keepers, on: loop)
        defer { pair.close() }
        pair.serverSide.onMessage = { [unowned side = pair.serverSide] message in
            for case .fileDescriptor(let number) in (try? message.arguments()) ?? [] {
                findings.append(message.passed(number).map { ($0.file, $0.fileFault, $0.microphoneFault) })
                var (mark, found) = (Int32(-1), stat())
                let opened = camarb_open_envelope(number, &mark)
                #expect(opened == -ENODATA || fstat(opened, &found) == 0 && found.st_ino == status.st_ino)
                for descriptor in [mark, opened, number] where descriptor >= 0 { close(descriptor) }
            }
            message.answer()
            // Whoever keeps a message keeps what it brought on its way.
            side.messages = []
        }
        // More than may be on their way at once: each is let go of in time.
        let count = DescriptorKeepers.ofUserMax * 3
        var answers = 0
        for _ in 0..<count {
            pair.call("Take", [.fileDescriptor(file), .fileDescriptor(nothing)]) { _ in answers += 1 }
        }
        try pair.loop.turn(until: { answers == count })
        #expect(findings.count == 2 * count)
        let wanted = PassedDescriptor.File(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        #expect(findings.first??.file == wanted && findings.first??.noFile == nil)
        #expect(findings.last??.noFile == "is not a regular file" && findings.last??.noMicrophone == "is a device")
    }

    @Test func aKeeperThatIsNotThereCannotBeStartedOrEndsCostsTheConnectionAndNoMore() throws {
        for (program, expected) in [
            (nil, "it passed a descriptor, and none is taken here"),
            ("/nonexistent/camkeeper", "it passed a descriptor, and nobody can take it: "),
            ("/bin/true", "the process that took its descriptors has ended or hangs"),
        ] as [(String?, String)] {
            let stranger = try stranger(keepers: program)
            try stranger.say(RawWords.ping, [stranger.socket])
            try stranger.loop.turn(until: { !stranger.side.ends.isEmpty })
            guard case .unfit(let why) = try #require(stranger.side.ends.first) else {
                Issue.record("\(stranger.side.ends)")
                continue
            }
            #expect(why.hasPrefix(expected), "\(why)")
        }
    }
}
