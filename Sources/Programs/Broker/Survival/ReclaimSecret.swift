import CLinux
package import System

/// What a client shows another broker to go on with its camera: 128 random bits, known to it, the broker and the store.
///
/// It has no description that shows it, so that it stands in no journal, trace or error by mistake.
package struct ReclaimSecret: Sendable, CustomStringConvertible {
    static let byteCount = 16
    private let bytes: [UInt8]

    package init() throws(SystemFault) { bytes = try Self.random(Self.byteCount) }

    static func random(_ count: Int) throws(SystemFault) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = camarb_random(&bytes, count)
        guard result == 0 else { throw SystemFault("have random bytes", -result) }
        return bytes
    }

    /// Nil for what is not 32 hexadecimal digits in lower case.
    package init?(_ text: String) {
        let digits = Array(text.utf8)
        guard digits.count == 2 * Self.byteCount, digits.allSatisfy(\.isLowerHexDigit) else { return nil }
        bytes = stride(from: 0, to: digits.count, by: 2).compactMap {
            UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
        }
    }

    package var digits: String { Self.hexadecimal(bytes) }

    package static func hexadecimal(_ bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Looks at every byte whatever it finds, so that how long it takes tells nothing of where they differ.
    package func equals(_ other: ReclaimSecret) -> Bool {
        var difference: UInt8 = 0
        for (one, another) in zip(bytes, other.bytes) { difference |= one ^ another }
        return difference == 0
    }

    package var description: String { "a secret" }
}

extension UInt8 {
    var isLowerHexDigit: Bool { (0x30...0x39).contains(self) || (0x61...0x66).contains(self) }
}
