/// Reads the JSON of a trace's line in place: what nobody asks for is stepped over, and nothing of it is built.
///
/// A trace's writer puts no space between its tokens, so this knows none; other JSON is not what a broker wrote. Nothing
/// here calls itself, so that no line, however deep its values lie in each other, takes more of the stack than another.
struct LineCursor {
    let bytes: [UInt8]
    private(set) var next: Int
    let end: Int

    init(_ bytes: [UInt8], _ range: Range<Int>) {
        self.bytes = bytes
        (next, end) = (range.lowerBound, range.upperBound)
    }

    var isAtEnd: Bool { next == end }

    mutating func take(_ byte: UInt8) -> Bool {
        guard next < end, bytes[next] == byte else { return false }
        next += 1
        return true
    }

    /// Where a text's content is, as it is written.
    struct Text {
        var range: Range<Int>
        var hasEscapes: Bool
    }

    mutating func text() -> Text? {
        guard take(UInt8(ascii: "\"")) else { return nil }
        let begin = next
        var hasEscapes = false
        while next < end {
            switch bytes[next] {
            case UInt8(ascii: "\""):
                next += 1
                return Text(range: begin..<(next - 1), hasEscapes: hasEscapes)
            case UInt8(ascii: "\\"):
                hasEscapes = true
                next += 2
            default: next += 1
            }
        }
        return nil
    }

    /// A member's key, with the colon behind it.
    mutating func key() -> Range<Int>? {
        guard let text = text(), take(UInt8(ascii: ":")) else { return nil }
        return text.range
    }

    func isWord(_ range: Range<Int>, _ word: StaticString) -> Bool {
        guard range.count == word.utf8CodeUnitCount else { return false }
        return word.withUTF8Buffer { letters in
            for place in 0..<letters.count where bytes[range.lowerBound + place] != letters[place] { return false }
            return true
        }
    }

    /// A whole number, which is text where it is beyond `Int64`.
    mutating func count() -> UInt64? {
        let isQuoted = take(UInt8(ascii: "\""))
        var (value, digits): (UInt64, Int) = (0, 0)
        while next < end, case let byte = bytes[next], byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") {
            let (product, isTooLarge) = value.multipliedReportingOverflow(by: 10)
            let (sum, isTooLargeNow) = product.addingReportingOverflow(UInt64(byte - UInt8(ascii: "0")))
            guard !isTooLarge, !isTooLargeNow else { return nil }
            (value, digits) = (sum, digits + 1)
            next += 1
        }
        guard digits > 0, !isQuoted || take(UInt8(ascii: "\"")) else { return nil }
        return value
    }

    /// Steps over one value of any kind.
    mutating func skip() -> Bool {
        var depth = 0
        repeat {
            guard next < end else { return false }
            switch bytes[next] {
            case UInt8(ascii: "\""): if text() == nil { return false }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                depth += 1
                next += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                depth -= 1
                next += 1
            case UInt8(ascii: ","), UInt8(ascii: ":"):
                guard depth > 0 else { return false }
                next += 1
            default: skipBare()
            }
        } while depth > 0
        return depth == 0
    }

    /// A number, `true`, `false` or `null`.
    private mutating func skipBare() {
        while next < end {
            switch bytes[next] {
            case UInt8(ascii: ","), UInt8(ascii: ":"), UInt8(ascii: "}"), UInt8(ascii: "]"), UInt8(ascii: "\""),
                UInt8(ascii: "{"), UInt8(ascii: "["):
                return
            default: next += 1
            }
        }
    }

    /// The text; nil for `null`, and for what is none.
    mutating func string() -> String? {
        guard let text = text() else {
            _ = skip()
            return nil
        }
        return string(text)
    }

    func string(_ text: Text) -> String {
        if !text.hasEscapes { return String(decoding: bytes[text.range], as: UTF8.self) }
        var plain: [UInt8] = []
        var place = text.range.lowerBound
        while place < text.range.upperBound {
            guard bytes[place] == UInt8(ascii: "\\"), place + 1 < text.range.upperBound else {
                plain.append(bytes[place])
                place += 1
                continue
            }
            place += 2
            switch bytes[place - 1] {
            case UInt8(ascii: "n"): plain.append(0x0a)
            case UInt8(ascii: "t"): plain.append(0x09)
            case UInt8(ascii: "r"): plain.append(0x0d)
            case UInt8(ascii: "u"):
                let digits = bytes[place..<min(place + 4, text.range.upperBound)]
                let code = UInt32(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0xfffd
                plain += String(Character(Unicode.Scalar(code) ?? "\u{fffd}")).utf8
                place += digits.count
            case let other: plain.append(other)
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
