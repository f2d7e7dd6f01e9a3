package struct JSONReader {
    private let bytes: [UInt8]
    private var next = 0

    /// Deeper than anything camclient writes; a bound keeps a hostile line from using up the stack.
    package static let depthMax = 32
    private let depthMax: Int

    package struct Problem: Error {
        /// From 1, in bytes.
        package var column: Int
        package var message: String
    }

    package static func read(_ text: some StringProtocol) throws(Problem) -> JSON {
        try read(Array(text.utf8), depthMax: depthMax)
    }

    /// - Parameter depthMax: the most levels of values in each other. A level takes some hundred bytes of the stack.
    package static func read(_ bytes: [UInt8], depthMax: Int) throws(Problem) -> JSON {
        var reader = JSONReader(bytes: bytes, depthMax: depthMax)
        let value = try reader.value(0)
        reader.skipSpace()
        guard reader.next == reader.bytes.count else { throw reader.problem("something follows the value") }
        return value
    }

    private init(bytes: [UInt8], depthMax: Int) { (self.bytes, self.depthMax) = (bytes, depthMax) }

    private func problem(_ message: String) -> Problem { Problem(column: next + 1, message: message) }
    private var peek: UInt8? { next < bytes.count ? bytes[next] : nil }

    private mutating func skipSpace() {
        while let byte = peek, byte == 0x20 || byte == 0x09 || byte == 0x0a || byte == 0x0d { next += 1 }
    }

    private mutating func take(_ byte: UInt8) -> Bool {
        skipSpace()
        guard peek == byte else { return false }
        next += 1
        return true
    }

    private mutating func take(word: String) -> Bool {
        guard bytes[next...].starts(with: word.utf8) else { return false }
        next += word.utf8.count
        return true
    }

    private mutating func value(_ depth: Int) throws(Problem) -> JSON {
        guard depth < depthMax else { throw problem("more than \(depthMax) levels") }
        skipSpace()
        switch peek {
        case UInt8(ascii: "{"): return try object(depth)
        case UInt8(ascii: "["):
            next += 1
            var values: [JSON] = []
            if take(UInt8(ascii: "]")) { return .array(values) }
            repeat { values.append(try value(depth + 1)) } while take(UInt8(ascii: ","))
            guard take(UInt8(ascii: "]")) else { throw problem("a list ends with ]") }
            return .array(values)
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t") where take(word: "true"): return .bool(true)
        case UInt8(ascii: "f") where take(word: "false"): return .bool(false)
        case UInt8(ascii: "n") where take(word: "null"): return .null
        default: return try number()
        }
    }

    private mutating func object(_ depth: Int) throws(Problem) -> JSON {
        next += 1
        var members: [JSON.Member] = []
        if take(UInt8(ascii: "}")) { return .object(members) }
        repeat {
            skipSpace()
            let key = try string()
            guard take(UInt8(ascii: ":")) else { throw problem("a name is followed by :") }
            members.append(JSON.Member(key: key, value: try value(depth + 1)))
        } while take(UInt8(ascii: ","))
        guard take(UInt8(ascii: "}")) else { throw problem("an object ends with }") }
        return .object(members)
    }

    private mutating func number() throws(Problem) -> JSON {
        let start = next
        while let byte = peek, "+-.eE0123456789".utf8.contains(byte) { next += 1 }
        let text = String(decoding: bytes[start..<next], as: UTF8.self)
        if let whole = Int64(text) { return .integer(whole) }
        guard let number = Double(text), number.isFinite else { throw problem("no value") }
        return .number(number)
    }

    private mutating func string() throws(Problem) -> String {
        guard peek == UInt8(ascii: "\"") else { throw problem("here a text in \"…\" is wanted") }
        next += 1
        var text: [UInt8] = []
        while let byte = peek {
            next += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
            case UInt8(ascii: "\\"):
                guard let escaped = peek else { break }
                next += 1
                switch escaped {
                case UInt8(ascii: "n"): text.append(0x0a)
                case UInt8(ascii: "t"): text.append(0x09)
                case UInt8(ascii: "r"): text.append(0x0d)
                case UInt8(ascii: "b"): text.append(0x08)
                case UInt8(ascii: "f"): text.append(0x0c)
                case UInt8(ascii: "u"): text += Array(String(try unicode()).utf8)
                default: text.append(escaped)
                }
            default: text.append(byte)
            }
        }
        throw problem("a text ends with \"")
    }

    /// The code of `\uXXXX`; surrogate pairs, which camclient does not write, become a replacement character.
    private mutating func unicode() throws(Problem) -> Character {
        let end = next + 4
        guard end <= bytes.count, let code = UInt32(String(decoding: bytes[next..<end], as: UTF8.self), radix: 16)
        else { throw problem("\\u is followed by four hexadecimal digits") }
        next = end
        return Unicode.Scalar(code).map { Character($0) } ?? "\u{fffd}"
    }
}
