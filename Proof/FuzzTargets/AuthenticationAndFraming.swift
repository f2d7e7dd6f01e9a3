import Bus
import Glibc
import System

/// Authentication and message framing, wherever the bytes are cut.
extension FuzzTarget {
    /// A peer's authentication, which says all that it needs without naming a user.
    static let handshake = Array("\0AUTH EXTERNAL\r\nDATA\r\nBEGIN\r\n".utf8)

    /// The gate takes and answers the same wherever bytes are cut; it lets no peer begin that did not authenticate as
    /// the user that the kernel names; a connection is ready exactly when its gate is.
    static func sasl(_ input: [UInt8]) {
        let cut = CutBytes(input)
        let user = geteuid()
        let whole = Gated([cut.bytes], user)
        precondition(Gated(cut.pieces, user) == whole, "The gate depends on where bytes are cut: \(cut.cuts)")
        precondition(Gated(cut.singly, user) == whole, "The gate depends on whether bytes come one by one.")
        whole.check(cut.bytes, user)
        for pieces in [[cut.bytes], cut.pieces] {
            let hearer = Hearer.hear(pieces)
            precondition(
                hearer.isReady == (whole.progress == .begun),
                "The connection is \(hearer.isReady ? "" : "not ")ready, and the gate is \(whole.progress).")
            if case .shut(let why) = whole.progress {
                precondition(
                    hearer.end == .unfit(why),
                    "The gate was shut, and the connection \(hearer.end.map { "ended: \($0)" } ?? "goes on").")
            }
        }
    }

    private struct Gated: Equatable {
        var taken = 0
        var answer: [UInt8] = []
        var progress: AuthenticationGate.Progress

        init(_ pieces: [[UInt8]], _ user: UInt32) {
            var gate = AuthenticationGate(user: user)
            for piece in pieces where gate.progress == .open {
                let (count, more) = gate.take(piece)
                taken += count
                answer += more
                precondition(count == piece.count || gate.progress != .open, "The gate left bytes and is open.")
            }
            progress = gate.progress
        }

        /// The properties of every accepted input.
        func check(_ bytes: [UInt8], _ user: UInt32) {
            let lines = answer.split(separator: 10).map { String(decoding: $0.dropLast(), as: UTF8.self) }
            precondition(lines.count <= AuthenticationGate.linesMax, "\(lines.count) lines were answered.")
            let words = [
                "DATA", "OK \(AuthenticationGate.ownID)", "REJECTED", "REJECTED EXTERNAL ANONYMOUS", "ERROR",
                "AGREE_UNIX_FD",
            ]
            for line in lines { precondition(words.contains(line), "A line is answered with \(line).") }
            let token = String(user).utf8.map { String($0, radix: 16) }.joined()
            let tokens = ["AUTH EXTERNAL", "AUTH EXTERNAL " + token]
            guard progress == .begun else { return }
            let said = bytes.prefix(taken).dropFirst().split(separator: 10).map {
                String(decoding: $0.dropLast(), as: UTF8.self).lowercased()
            }
            precondition(
                bytes.first == 0 && said.last == "begin"
                    && said.contains { line in tokens.contains { $0.lowercased() == line } },
                "A peer began that did not authenticate.")
        }
    }

    /// Messages end where their headers say wherever bytes are cut; a connection hears the same of them; and with a
    /// descriptor among them it hears no more than without, and keeps none.
    static func framing(_ input: [UInt8]) {
        let cut = CutBytes(input)
        let whole = Framed([cut.bytes])
        precondition(Framed(cut.pieces) == whole, "Messages end elsewhere when they are cut: \(cut.cuts)")
        precondition(Framed(cut.singly) == whole, "Messages end elsewhere when their bytes come one by one.")
        precondition(whole.ends == Framed.saidEnds(cut.bytes), "Messages end elsewhere than their headers say.")
        for (start, end) in zip([0] + whole.ends, whole.ends) { SecondReader.compare(Array(cut.bytes[start..<end])) }
        let next = Hearer.nextDescriptor
        let one = Hearer.hear([handshake + cut.bytes])
        precondition(one.isReady, "A peer that authenticated was not let in.")
        precondition(
            one.messages.count <= whole.ends.count, "\(one.messages.count) messages were heard of \(whole.ends.count).")
        let parts = Hearer.hear([handshake] + cut.pieces)
        precondition(parts.messages == one.messages, "Other messages are heard when they are cut.")
        precondition(
            parts.end == one.end,
            "A connection ends for another reason when messages are cut: \(String(describing: parts.end)).")
        if cut.bytes.count > 0 {
            let brought = Hearer.hear([handshake] + cut.pieces, descriptorAt: 1 + cut.cuts.count / 2)
            precondition(
                one.messages.starts(with: brought.messages), "With a descriptor among them other messages are heard.")
        }
        precondition(Hearer.nextDescriptor == next, "A connection left a descriptor open.")
    }

    private struct Framed: Equatable {
        var ends: [Int] = []
        var fault: MessageFramer.Fault?

        init(_ pieces: [[UInt8]]) {
            var framer = MessageFramer()
            var at = 0
            for piece in pieces {
                var rest = piece[...]
                while !rest.isEmpty {
                    do throws(MessageFramer.Fault) {
                        let (next, taken) = try Self.take(framer, rest)
                        framer = next
                        precondition(
                            (1...rest.count).contains(taken), "The framer took \(taken) of \(rest.count) bytes.")
                        at += taken
                        rest = rest.dropFirst(taken)
                    } catch {
                        fault = error
                        return
                    }
                    precondition(
                        framer.unfinishedBytes <= MessageFramer.messageBytesMax,
                        "A message of \(framer.unfinishedBytes) bytes was begun.")
                    if framer.isBetween { ends.append(at) }
                }
            }
        }

        private static func take(_ framer: MessageFramer, _ bytes: ArraySlice<UInt8>) throws(MessageFramer.Fault) -> (
            MessageFramer, Int
        ) {
            try bytes.withUnsafeBytes { bytes in
                Result { () throws(MessageFramer.Fault) in
                    var framer = framer
                    let taken = try framer.take(bytes)
                    return (framer, taken)
                }
            }.get()
        }

        /// The same, as one would find it with all bytes at hand.
        static func saidEnds(_ bytes: [UInt8]) -> [Int] {
            var ends: [Int] = []
            var at = 0
            while bytes.count - at >= MessageFramer.headerBytes {
                let isBig = bytes[at] == UInt8(ascii: "B")
                guard isBig || bytes[at] == UInt8(ascii: "l") else { return ends }
                func number(_ offset: Int) -> Int {
                    let four = bytes[(at + offset)..<(at + offset + 4)]
                    return (isBig ? Array(four) : four.reversed()).reduce(0) { $0 << 8 | Int($1) }
                }
                let length = 16 + (number(12) + 7) / 8 * 8 + number(4)
                let sizes = MessageFramer.messageBytesMin...MessageFramer.messageBytesMax
                guard sizes.contains(length), at + length <= bytes.count else { return ends }
                at += length
                ends.append(at)
            }
            return ends
        }
    }
}
