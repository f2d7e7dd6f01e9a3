/// What a connection of ours says to its peer, read by nothing of ours either. Little endian, as libsystemd writes here.
struct Said {
    struct Message: Hashable {
        /// 1 call, 2 answer, 3 error, 4 signal.
        var kind: UInt8
        var serial: UInt32
        /// Which call it answers; 0: none.
        var answers: UInt32 = 0
        var errorName = ""
        var body: [UInt8]
    }

    /// What the peer was told while it authenticated.
    private(set) var lines: [UInt8] = []
    private(set) var messages: [Message] = []

    /// Stops the process where the bytes are no messages.
    init(_ bytes: [UInt8]) {
        var rest = bytes[...]
        // Lines end where the first message begins: no line begins with the letter of an order of bytes.
        while let first = rest.first, first != UInt8(ascii: "l") && first != UInt8(ascii: "B") {
            let end = rest.firstIndex(of: 10).map { $0 + 1 } ?? rest.endIndex
            lines += rest[..<end]
            rest = rest[end...]
        }
        while !rest.isEmpty {
            precondition(rest.count >= 16, "What was said ends within the header of a message.")
            let body = Int(Self.number(rest, 4))
            let fields = Int(Self.number(rest, 12))
            let begin = 16 + (fields + 7) & ~7
            precondition(
                rest.first == UInt8(ascii: "l") && body >= 0 && begin + body <= rest.count,
                "What was said ends within a message.")
            var message = Message(
                kind: rest[rest.startIndex + 1], serial: Self.number(rest, 8),
                body: Array(rest.dropFirst(begin).prefix(body)))
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
                let length = Int(number(fields[at...], 0))
                if code == 4 { message.errorName = String(decoding: fields[at + 4..<at + 4 + length], as: UTF8.self) }
                at += 5 + length
            }
        }
    }

    private static func number(_ bytes: ArraySlice<UInt8>, _ offset: Int) -> UInt32 {
        bytes.dropFirst(offset).prefix(4).reversed().reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The text that an answer's body is.
    static func text(_ body: [UInt8]) -> String {
        String(decoding: body.dropFirst(4).prefix(Int(number(body[...], 0))), as: UTF8.self)
    }
}
