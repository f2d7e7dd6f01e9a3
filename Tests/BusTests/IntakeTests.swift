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

    @Test func aConversationIsUnderstoodWhereverItIsCut() throws {
        let bytes = RawWords.hello() + RawWords.ping + RawWords.ping
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
        for byte in RawWords.hello() + RawWords.ping {
            try stranger.say([byte])
            _ = try stranger.loop.turn(timeout: 0)
        }
        try stranger.loop.turn(until: { stranger.side.messages.count == 1 })
    }

    @Test func whatOneConnectionLeavesReachesNoOther() throws {
        let loop = try EventLoop()
        let strangers = [try Stranger(on: loop), try Stranger(on: loop)]
        for stranger in strangers { try stranger.authenticate() }
        // Another version of the protocol: libsystemd drops such a message, and reads on. In two pieces, then in one.
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

    @Test func aServerWithoutKeepersDisconnectsWhoPassesADescriptor() throws {
        let stranger = try stranger(keepers: nil)
        try stranger.say(RawWords.ping, [stranger.socket])
        try stranger.refuses("it passed a descriptor, and none is taken here")
    }

    @Test func descriptorsBelongToAMessagesFirstByte() throws {
        let file = camarb_memfd("test", 1)
        defer { close(file) }
        for cut in [1, 8, 15, 16, 17, 40, RawWords.ping.count - 1] {
            let stranger = try stranger()
            try stranger.say(RawWords.ping[..<cut])
            try stranger.say(RawWords.ping[cut...], [file])
            try stranger.refuses("it passed a descriptor with another byte than a message's first")
            #expect(stranger.side.messages.isEmpty)
        }
        let early = try Stranger(keepers: Self.keeper)
        try early.say(RawWords.hello(), [file])
        try early.refuses("it passed a descriptor with another byte than a message's first")
    }

    @Test func aMessageThatBringsMoreThanEightIsRefusedInItsAnswerAndTheConnectionGoesOn() throws {
        let file = camarb_memfd("test", 1)
        defer { close(file) }
        let many = [Int32](repeating: file, count: BusMessage.descriptorsMax + 1)
        for cut in [1, 3, 15, 16, 17, 40, RawWords.ping.count] {
            let stranger = try stranger()
            for _ in 0..<3 {
                try stranger.say(RawWords.ping[..<cut], many)
                _ = try stranger.loop.turn(timeout: 0)
                if cut < RawWords.ping.count { try stranger.say(RawWords.ping[cut...]) }
            }
            // What follows is read from its own beginning, and brings as many as one may.
            try stranger.say(RawWords.ping)
            try stranger.loop.turn(until: { stranger.side.messages.count == 1 }, "cut at \(cut)")
            #expect(stranger.side.ends.isEmpty)
            let said = try stranger.heard("an answer to each, cut at \(cut)") {
                $0.split(separator: "org.camarb.Error.LimitExceeded", omittingEmptySubsequences: false).count > 3
            }
            #expect(said.contains("brought 9 file descriptors, and one may bring at most 8"))
        }
    }

    @Test func aMessageThatBringsMoreThanEightAndIsNotWholeInTimeEndsItsConnection() throws {
        let file = camarb_memfd("test", 1)
        defer { close(file) }
        let stranger = try stranger()
        try stranger.say(RawWords.ping[..<20], Array(repeating: file, count: 9))
        try stranger.loop.turn(until: { !stranger.side.ends.isEmpty }, "the end")
        #expect(stranger.side.ends == [.messageNotWhole] && stranger.side.messages.isEmpty)
    }

    /// A server whose keepers take what a client passes; `take` gets what is in each envelope: it, or -errno.
    private func pair(_ take: @escaping (PassedDescriptor.Finding?, Int32) -> Void) throws -> Pair {
        let loop = try EventLoop()
        let pair = try Pair(
            keepers: DescriptorKeepers(program: Self.keeper, on: loop) { Issue.record("\($0)") }, on: loop)
        let side = pair.serverSide
        side.onMessage = { [unowned side] message in
            for case .fileDescriptor(let number) in (try? message.arguments()) ?? [] {
                var mark: Int32 = -1
                let opened = camarb_open_envelope(number, &mark)
                if mark >= 0 { close(mark) }
                take(message.passed(number)?.finding, opened)
                close(number)
            }
            message.answer()
            // Whoever keeps a message keeps what it brought on its way.
            side.messages = []
        }
        return pair
    }

    @Test func aMessagesDescriptorsAreEnvelopesAndTheFileIsNotHere() throws {
        let file = camarb_memfd("test", 1)
        let nothing = open("/dev/null", O_WRONLY | O_CLOEXEC)
        defer { for descriptor in [file, nothing] { close(descriptor) } }
        var status = stat()
        try #require(fstat(file, &status) == 0)
        var findings: [PassedDescriptor.Finding?] = []
        let pair = try pair { finding, opened in
            findings.append(finding)
            guard opened >= 0 else { return #expect(opened == -ENODATA) }
            var found = stat()
            #expect(fstat(opened, &found) == 0 && found.st_ino == status.st_ino)
            close(opened)
        }
        defer { pair.close() }
        // More than may be on their way at once: each is let go of in time.
        let count = DescriptorKeepers.ofUserMax * 3
        var answers = 0
        for _ in 0..<count {
            pair.call("Take", [.fileDescriptor(file), .fileDescriptor(nothing)]) { _ in answers += 1 }
        }
        try pair.loop.turn(until: { answers == count })
        #expect(findings.count == 2 * count)
        #expect(findings.first == .good(device: UInt64(status.st_dev), inode: UInt64(status.st_ino)))
        guard case .fault(.notRegular, _, .device) = findings.last else {
            Issue.record("/dev/null is \(String(describing: findings.last))")
            return
        }
    }

    @Test func aMicrophonesSocketComesInAnEnvelopeAndItsQueueIsLeftAlone() throws {
        let (microphone, other) = try packetPair()
        let file = camarb_memfd("test", 1)
        // Something waits in it already, with a descriptor.
        try #require(camarb_pass(other, [7], 1, [file], 1) == 0)
        close(file)
        var opened: Int32 = -1
        let pair = try pair { finding, descriptor in
            #expect(finding == .microphone)
            opened = descriptor
        }
        defer { pair.close() }
        #expect(try pair.answer("Take", [.fileDescriptor(microphone)]) == .success([]))
        close(microphone)
        try #require(opened >= 0)
        var bytes: [UInt8] = [0]
        #expect(camarb_microphone_receive(opened, &bytes, 1) == -Int(EBADMSG))
        #expect(camarb_microphone_end(opened) == 1)
        for end in [opened, other] { close(end) }
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
