import Bus
import Glibc
import Testing

@Suite struct GateTests {
    private static let user: UInt32 = 4_000_000_000
    private static let token = hex("4000000000")
    private static let accepted = "OK \(AuthenticationGate.ownID)\r\n"

    private static func hex(_ text: String) -> String { text.utf8.map { String($0, radix: 16) }.joined() }

    /// The gate's answer to a text that comes in one piece or two, and its state then.
    private func answered(
        _ text: String, cutAt cut: Int? = nil
    ) -> (answer: String, left: Int, AuthenticationGate.Progress) {
        var gate = AuthenticationGate(user: Self.user)
        let bytes = Array(text.utf8)
        var answer: [UInt8] = []
        var taken = 0
        for part in cut.map({ [bytes[..<$0], bytes[$0...]] }) ?? [bytes[...]] {
            let (count, more) = gate.take(part)
            #expect(count <= part.count)
            answer += more
            taken += count
        }
        return (String(decoding: answer, as: UTF8.self), bytes.count - taken, gate.progress)
    }

    @Test func everyValidConversationIsAnsweredWhereverItIsCutAndWhatFollowsIsLeftToOthers() {
        let (upper, accepted) = (Self.token.uppercased(), Self.accepted)
        for (conversation, answers) in [
            ("\0AUTH EXTERNAL \(Self.token)\r\nBEGIN\r\n", accepted),
            (
                "\0AUTH EXTERNAL \(Self.token)\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n", accepted + "AGREE_UNIX_FD\r\n"
            ),
            ("\0AUTH EXTERNAL \(upper)\r\nBEGIN\r\n", accepted),
            (
                "\0AUTH EXTERNAL\r\nDATA\r\nNEGOTIATE_UNIX_FD\r\nBEGIN\r\n",
                "DATA\r\n\(accepted)AGREE_UNIX_FD\r\n"
            ),
            (
                "\0AUTH\r\nAUTH EXTERNAL \(Self.token)\r\nBEGIN\r\n",
                "REJECTED EXTERNAL ANONYMOUS\r\n\(accepted)"
            ),
            ("\0CANCEL\r\nAUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n", "REJECTED\r\nDATA\r\n\(accepted)"),
        ] {
            for cut in 0...conversation.utf8.count {
                let (answer, left, progress) = answered(conversation + "l\u{1}AUTH\r\n", cutAt: cut)
                #expect(answer == answers && left == 8 && progress == .begun)
            }
        }
    }

    @Test func anotherUserAnotherMechanismAndEveryMistakeAreNotLetIn() {
        let other = Self.hex("4000000001")
        let (rejected, none) = ("REJECTED", "REJECTED EXTERNAL ANONYMOUS")
        for (said, told) in [
            ("AUTH EXTERNAL \(other)", rejected), ("AUTH EXTERNAL \(Self.hex("04000000000"))", rejected),
            ("AUTH EXTERNAL \(Self.token)00", rejected), ("AUTH EXTERNAL \(Self.token.dropLast())", rejected),
            ("AUTH EXTERNAL ", rejected), ("AUTH EXTERNAL  \(Self.token)", rejected), ("AUTH EXTERNAL zz", rejected),
            ("AUTH EXTERNAL \(Self.token) x", rejected), ("AUTH ANONYMOUS", rejected),
            ("AUTH ANONYMOUS 30", rejected), ("AUTH DBUS_COOKIE_SHA1 30", none), ("AUTH EXTERNALX", none),
            ("AUTH", none), ("HELLO", "ERROR"), ("", "ERROR"), ("BEGIN now", "ERROR"), ("begin", "ERROR"),
            ("DATA \(Self.token)", "ERROR"), ("ERROR anything", rejected), ("NEGOTIATE_UNIX_FD", "ERROR"),
            ("NEGOTIATE_UNIX_FD x", "ERROR"), ("A\0B\u{1b}[31m", "ERROR"),
        ] {
            let (answer, _, progress) = answered("\0\(said)\r\nBEGIN\r\n")
            #expect(answer == "\(told)\r\nERROR\r\n" && progress == .open, "\(said)")
        }
        // An accepted mechanism is withdrawn.
        let (answer, _, progress) = answered("\0AUTH EXTERNAL\r\nDATA \(other)\r\nBEGIN\r\n")
        #expect(answer == "DATA\r\nREJECTED\r\nERROR\r\n" && progress == .open)
    }

    @Test func theFirstByteIsAZeroAndLinesAndTheirNumberAreBounded() {
        let early = answered("AUTH EXTERNAL\r\n")
        #expect(early.answer.isEmpty && early.2 == .shut("it began with the byte 65 instead of a zero"))
        let longest = "\0" + String(repeating: "x", count: AuthenticationGate.lineBytesMax - 2) + "\r\n"
        #expect(answered(longest).answer == "ERROR\r\n")
        let (answer, left, progress) = answered("\0x" + longest.dropFirst())
        #expect(answer.isEmpty && left == 1)
        #expect(progress == .shut("a line of its authentication has more than 1024 bytes"))
        let many = String(repeating: "AUTH\r\n", count: AuthenticationGate.linesMax)
        #expect(answered("\0" + many).2 == .open)
        #expect(answered("\0" + many + "AUTH\r\n").2 == .shut("its authentication has more than 16 lines"))
    }
}

@Suite struct FramerTests {
    /// A message of so many bytes, as far as its length goes.
    private func message(fields: UInt32, body: UInt32, bigEndian: Bool) -> [UInt8] {
        func number(_ value: UInt32) -> [UInt8] {
            withUnsafeBytes(of: bigEndian ? value.bigEndian : value.littleEndian) { Array($0) }
        }
        let head = [UInt8(ascii: bigEndian ? "B" : "l"), 1, 0, 1] + number(body) + number(1) + number(fields)
        return head + [UInt8](repeating: 7, count: Int((fields + 7) & ~7) + Int(body))
    }

    /// Takes bytes that come in the given pieces; the places where a message ended.
    private func ends(_ bytes: [UInt8], pieces: [Int]) throws -> [Int] {
        var framer = MessageFramer()
        var ends: [Int] = []
        var at = 0
        for piece in pieces + [bytes.count] {
            while at < piece {
                at += try bytes[at..<piece].withUnsafeBytes { try framer.take($0) }
                if framer.isBetween { ends.append(at) }
            }
        }
        return ends
    }

    @Test(arguments: [false, true])
    func aMessageThatIsTooLongIsKnownByItsHeader(bigEndian: Bool) throws {
        let most = UInt32(MessageFramer.messageBytesMax - 24)
        for (fields, body) in [(8, most + 1), (most + 1, 8), (UInt32.max, .max), (8, 1 << 27)] as [(UInt32, UInt32)] {
            var head = message(fields: 0, body: 0, bigEndian: bigEndian)
            for (place, value) in [(4, body), (12, fields)] {
                let raw = withUnsafeBytes(of: bigEndian ? value.bigEndian : value.littleEndian) { Array($0) }
                head.replaceSubrange(place..<place + 4, with: raw)
            }
            let total = 16 + (Int(fields) + 7) & ~7 + Int(body)
            for pieces in [[], [1], [15]] as [[Int]] {
                #expect(throws: MessageFramer.Fault.tooLong(total)) { try ends(head, pieces: pieces) }
            }
        }
        let whole = message(fields: 8, body: most, bigEndian: bigEndian)
        #expect(try ends(whole, pieces: []) == [MessageFramer.messageBytesMax])
    }

    /// Bytes as one piece each; after each of them, what is counted of the message that they end in, and whether they end
    /// between two.
    private func counted(
        _ pieces: [ArraySlice<UInt8>], _ framer: inout MessageFramer
    ) throws -> [(unfinished: Int, isBetween: Bool)] {
        try pieces.map { piece in
            let taken = try piece.withUnsafeBytes { try framer.take($0) }
            #expect(taken == piece.count)
            return (framer.unfinishedBytes, framer.isBetween)
        }
    }

    @Test(
        "A message ends where its header says, counts whole from the end of that on, and not at all once it is whole",
        arguments: [false, true], [(8, 0), (1, 3), (23, 40), (109, 4)] as [(fields: UInt32, body: UInt32)])
    func unfinishedBytes(bigEndian: Bool, lengths: (fields: UInt32, body: UInt32)) throws {
        let bytes = message(fields: lengths.fields, body: lengths.body, bigEndian: bigEndian)
        let knownAfter = (0...bytes.count).map {
            $0 < MessageFramer.headerBytes || $0 == bytes.count ? 0 : bytes.count
        }
        // In one piece to three, of which the first and the last may be empty, twice in a row.
        for first in 0...bytes.count {
            for second in first...bytes.count {
                var framer = MessageFramer()
                for _ in 0..<2 {
                    let found = try counted([bytes[..<first], bytes[first..<second], bytes[second...]], &framer)
                    #expect(
                        found.map(\.unfinished) == [first, second, bytes.count].map { knownAfter[$0] },
                        "cut at \(first) and \(second)")
                    #expect(
                        found.map(\.isBetween)
                            == [first, second, bytes.count].map { $0 == 0 || $0 == bytes.count })
                }
            }
        }
        var framer = MessageFramer()
        let each = try counted(bytes.indices.map { bytes[$0...$0] }, &framer)
        #expect(each.map(\.unfinished) == Array(knownAfter.dropFirst()) && each.last?.isBetween == true)
    }
}
