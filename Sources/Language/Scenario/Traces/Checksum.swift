/// FNV-1a, 64 bits: a byte a cycle or two, no table, and every changed byte shows.
package struct Checksum: Hashable, Sendable {
    private var value: UInt64 = 0xcbf2_9ce4_8422_2325

    static let key = Array(",\"sum\":\"".utf8)
    static let close = Array("\"}\n".utf8)
    /// `,"sum":"0123456789abcdef"}`
    package static let tailBytes = 26

    mutating func add(_ bytes: some Sequence<UInt8>) {
        var sum = value
        for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
        value = sum
    }

    /// The same over a part of a buffer; a scan does nothing else with most bytes of a trace.
    package mutating func add(_ bytes: [UInt8], _ range: Range<Int>) {
        var sum = value
        for place in range { sum = (sum ^ UInt64(bytes[place])) &* 0x100_0000_01b3 }
        value = sum
    }

    /// Whether a line ends with this sum, and with nothing behind it.
    package func ends(_ bytes: [UInt8], _ line: Range<Int>) -> Bool {
        guard line.count >= Self.tailBytes else { return false }
        let begin = line.upperBound - Self.tailBytes
        for (place, byte) in Self.key.enumerated() where bytes[begin + place] != byte { return false }
        for place in 0..<16 {
            let digit = UInt8(truncatingIfNeeded: value >> UInt64(60 - 4 * place)) & 15
            let letter = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
            guard bytes[begin + Self.key.count + place] == letter else { return false }
        }
        return bytes[line.upperBound - 2] == UInt8(ascii: "\"") && bytes[line.upperBound - 1] == UInt8(ascii: "}")
    }

    package var text: String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
