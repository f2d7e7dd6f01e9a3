/// A cursor over a D-Bus message, in the bytes in which it came (D-Bus specification, "Marshaling"). Pure.
///
/// Values are checked as they are read or skipped, one by one and never beyond its end. A value is where the cursor stands: `type` in
/// a signature, `place` in the message. Both lie in the same bytes, so that no text is copied to find the next value.
package struct MessageReader {
    /// The bytes are no message, or the body is not what its signature says.
    package struct Malformed: Error {}

    /// Where a text lies in the bytes.
    package typealias Text = Range<Int>

    /// Variants within variants, arrays within arrays: the specification's bound on all containers.
    private static let depthMax = 64
    package static let arrayBytesMax = 64 << 20

    package let bytes: [UInt8]
    let isBig: Bool
    /// So many descriptors came with it.
    private let descriptors: UInt32
    /// The next value, and the end of the innermost container.
    private(set) var place: Int
    var end: Int
    /// The next value's type, and the end of the types that belong to it.
    private var type = 0
    private var typeEnd = 0
    /// Containers around the cursor.
    private var depth = 0

    /// At a place in a message.
    init(_ bytes: [UInt8], at place: Int, types: Text = 0..<0, descriptors: UInt32 = 0) {
        (self.bytes, self.place, self.descriptors) = (bytes, place, descriptors)
        isBig = bytes[0] == UInt8(ascii: "B")
        end = bytes.count
        (type, typeEnd) = (types.lowerBound, types.upperBound)
    }

    /// Reads or skips values of these types, which stand elsewhere.
    mutating func begin(_ types: Text) { (type, typeEnd) = (types.lowerBound, types.upperBound) }

    // MARK: Values

    /// The type of the value that comes next; `nil` at the end of a container or the body.
    package var letter: UInt8? { type < typeEnd ? bytes[type] : nil }

    /// Passes over padding, which is zeros, and so many bytes.
    /// - Returns: where they begin.
    mutating func advance(_ alignment: Int, _ count: Int) throws(Malformed) -> Int {
        let start = (place + alignment - 1) & ~(alignment - 1)
        guard start <= end, count <= end - start else { throw Malformed() }
        while place < start {
            guard bytes[place] == 0 else { throw Malformed() }
            place += 1
        }
        place = start + count
        return start
    }

    /// The number that comes next, whatever its type is.
    package mutating func number<Number: FixedWidthInteger>() throws(Malformed) -> Number {
        let size = MemoryLayout<Number>.size
        let start = try advance(size, size)
        let raw = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: start, as: Number.self) }
        return isBig ? Number(bigEndian: raw) : Number(littleEndian: raw)
    }

    /// A value of a type of fixed length, where that is what comes next.
    package mutating func read<Number: FixedWidthInteger>(_ letter: Unicode.Scalar) throws(Malformed) -> Number {
        try expect(letter)
        return try number()
    }

    package mutating func readBool() throws(Malformed) -> Bool {
        let number: UInt32 = try read("b")
        guard number <= 1 else { throw Malformed() }
        return number == 1
    }

    /// A text (`s`), an object path (`o`) or a signature (`g`).
    package mutating func readText(_ letter: Unicode.Scalar) throws(Malformed) -> String {
        try expect(letter)
        let text = try nextText(UInt8(ascii: letter))
        return bytes.withUnsafeBytes { String(decoding: $0[text], as: UTF8.self) }
    }

    /// The next descriptor's place among those that the message brought.
    package mutating func readDescriptor() throws(Malformed) -> Int {
        let number: UInt32 = try read("h")
        guard number < descriptors else { throw Malformed() }
        return Int(number)
    }

    private mutating func expect(_ letter: Unicode.Scalar) throws(Malformed) {
        guard self.letter == UInt8(ascii: letter) else { throw Malformed() }
        type += 1
    }

    private mutating func nextText(_ letter: UInt8) throws(Malformed) -> Text {
        if letter == UInt8(ascii: "g") { return try signature() }
        let text = try lengthAndBytes()
        let isFit = bytes.withUnsafeBytes { bytes in
            let text = UnsafeRawBufferPointer(rebasing: bytes[text])
            return letter == UInt8(ascii: "o") ? MessageHead.isPath(text) : MessageHead.isText(text)
        }
        guard isFit else { throw Malformed() }
        return text
    }

    /// A length, so many bytes, and a zero.
    mutating func lengthAndBytes() throws(Malformed) -> Text {
        let length: UInt32 = try number()
        guard length < UInt32.max else { throw Malformed() }
        let start = try advance(1, Int(length) + 1)
        guard bytes[start + Int(length)] == 0 else { throw Malformed() }
        return start..<start + Int(length)
    }

    mutating func signature() throws(Malformed) -> Text {
        let length = Int(bytes[try advance(1, 1)])
        guard length < 255 else { throw Malformed() }
        let start = try advance(1, length + 1)
        var place = start
        while place < start + length { place = try typeEnd(from: place, end: start + length) }
        guard bytes[start + length] == 0 else { throw Malformed() }
        return start..<start + length
    }

    // MARK: Containers

    /// The container around one that was entered.
    package struct Around {
        fileprivate let type, typeEnd, end: Int
        fileprivate let isArray: Bool
        /// The types of what is inside: of each element, or of all members.
        package let inside: Text
    }

    /// Enters the container that comes next. For a variant, `inside` is the type of its value.
    /// - Parameter kind: `a`, `(`, `{` or `v`.
    package mutating func enter(_ kind: Unicode.Scalar) throws(Malformed) -> Around {
        guard letter == UInt8(ascii: kind), depth < Self.depthMax else { throw Malformed() }
        let after = try typeEnd(from: type, end: typeEnd, isElement: true)
        var inside = type + 1..<after
        var innerEnd = end
        switch kind {
        case "a":
            let length: UInt32 = try number()
            _ = try advance(Self.alignment(bytes[inside.lowerBound]), 0)
            guard Int(length) <= Self.arrayBytesMax, Int(length) <= end - place else { throw Malformed() }
            innerEnd = place + Int(length)
        case "v":
            inside = try signature()
            guard !inside.isEmpty, try typeEnd(from: inside.lowerBound, end: inside.upperBound) == inside.upperBound
            else { throw Malformed() }
        default:
            inside = inside.dropLast()
            _ = try advance(8, 0)
        }
        let around = Around(type: after, typeEnd: typeEnd, end: end, isArray: kind == "a", inside: inside)
        (type, typeEnd, end) = (inside.lowerBound, inside.upperBound, innerEnd)
        depth += 1
        return around
    }

    /// Whether another element of the array comes, or another member; the cursor stands before it.
    package mutating func hasMore(in around: Around) throws(Malformed) -> Bool {
        guard around.isArray else { return type < typeEnd }
        if place >= end { return false }
        // A whole element was read, or none yet.
        guard type == typeEnd || type == around.inside.lowerBound else { throw Malformed() }
        type = around.inside.lowerBound
        return true
    }

    package mutating func leave(_ around: Around) throws(Malformed) {
        let isRead = around.isArray ? place == end : type == typeEnd
        guard isRead else { throw Malformed() }
        (type, typeEnd, end) = (around.type, around.typeEnd, around.end)
        depth -= 1
    }

    /// Passes over the value that comes next, and checks it as if it was read.
    package mutating func skip() throws(Malformed) {
        guard let letter else { throw Malformed() }
        switch Unicode.Scalar(letter) {
        case "y", "n", "q", "i", "u", "x", "t", "d":
            type += 1
            let size = Self.alignment(letter)
            _ = try advance(size, size)
        case "b": _ = try readBool()
        case "h": _ = try readDescriptor()
        case "s", "o", "g":
            type += 1
            _ = try nextText(letter)
        case let kind:
            let around = try enter(kind)
            while try hasMore(in: around) { try skip() }
            try leave(around)
        }
    }

    /// Where the one complete type ends that begins there. Pairs are elements of arrays alone, as in a dictionary.
    private func typeEnd(
        from place: Int, end: Int, isElement: Bool = false, arrays: Int = 0, structures: Int = 0
    ) throws(Malformed) -> Int {
        guard place < end else { throw Malformed() }
        switch Unicode.Scalar(bytes[place]) {
        case "y", "b", "n", "q", "i", "u", "x", "t", "d", "s", "o", "g", "h", "v": return place + 1
        case "a" where arrays < 32:
            return try typeEnd(
                from: place + 1, end: end, isElement: true, arrays: arrays + 1, structures: structures)
        case "(" where structures < 32:
            var at = place + 1
            repeat {
                at = try typeEnd(from: at, end: end, arrays: arrays, structures: structures + 1)
                guard at < end else { throw Malformed() }
            } while bytes[at] != UInt8(ascii: ")")
            return at + 1
        case "{" where structures < 32 && isElement:
            guard place + 1 < end, !"av({".utf8.contains(bytes[place + 1]) else { throw Malformed() }
            let value = try typeEnd(from: place + 1, end: end)
            let close = try typeEnd(from: value, end: end, arrays: arrays, structures: structures + 1)
            guard close < end, bytes[close] == UInt8(ascii: "}") else { throw Malformed() }
            return close + 1
        default: throw Malformed()
        }
    }

    private static func alignment(_ letter: UInt8) -> Int {
        switch Unicode.Scalar(letter) {
        case "y", "g", "v": 1
        case "n", "q": 2
        case "x", "t", "d", "(", "{": 8
        default: 4
        }
    }
}
