/// One D-Bus message, read in place from its bytes (D-Bus specification, "Message Format" and "Marshaling"). Pure.
///
/// The header is checked as a whole before anything is read: fields, names and texts, lengths, zeros between them. The body
/// is checked as it is read or skipped, value by value and never beyond its end. A value is where the cursor stands: `type`
/// in a signature, `place` in the body. Both lie in the same bytes, so that no text is copied to find the next value.
///
/// Stricter than the specification, as libsystemd is: texts have no code points that are no characters, a signature has at most
/// 254 bytes. Stricter than libsystemd: a boolean is 0 or 1, the bytes between header and body are zeros, a signature has pairs
/// in arrays alone, containers nest 64 deep at the most, and the second version of the protocol is none.
package struct MessageReader {
    /// The bytes are no message, or the body is not what its signature says.
    package struct Malformed: Error {}

    package enum Kind: UInt8, Sendable {
        case call = 1
        case answer, error, signal
    }

    private enum Flag { static let noAnswer: UInt8 = 1 }
    /// Variants within variants, arrays within arrays: the specification's bound on all containers.
    private static let depthMax = 64
    package static let arrayBytesMax = 64 << 20
    private static let nameBytesMax = 255
    private static let pathBytesMax = 64 << 10

    package let bytes: [UInt8]
    private let isBig: Bool
    /// `nil` for a type of message that the specification does not define; such messages are ignored.
    package private(set) var kind: Kind?
    private var flags: UInt8 = 0
    package private(set) var serial: UInt32 = 0
    /// The call that an answer is for; 0 for others.
    package private(set) var replySerial: UInt32 = 0
    /// Descriptors that the message brings, as its header says.
    package private(set) var descriptors: UInt32 = 0

    /// Where a text lies in the bytes; empty where there is none, since no name is empty.
    package typealias Text = Range<Int>
    private var texts = InlineArray<9, Text>(repeating: 0..<0)

    /// The body's beginning, the value that comes next, and the end of the innermost container.
    private var body = 0
    private(set) var place = MessageFramer.headerBytes
    private(set) var end = 0
    /// The next value's type, and the end of the types that belong to it.
    private(set) var type = 0
    private(set) var typeEnd = 0
    /// Containers around the cursor.
    private var depth = 0

    /// Codes of header fields.
    package enum Field {
        package static let path: UInt8 = 1
        package static let interface: UInt8 = 2
        package static let member: UInt8 = 3
        package static let errorName: UInt8 = 4
        package static let replySerial: UInt8 = 5
        package static let destination: UInt8 = 6
        package static let sender: UInt8 = 7
        package static let signature: UInt8 = 8
        package static let descriptors: UInt8 = 9
    }

    /// - Parameter bytes: one message, from its first byte to its last.
    package init(_ bytes: [UInt8]) throws(Malformed) {
        self.bytes = bytes
        guard bytes.count >= MessageFramer.headerBytes,
            bytes.withUnsafeBytes({ MessageFramer.saidBytes($0) }) == bytes.count, bytes[1] != 0, bytes[3] == 1
        else { throw Malformed() }
        isBig = bytes[0] == UInt8(ascii: "B")
        kind = Kind(rawValue: bytes[1])
        flags = bytes[2]
        end = bytes.count
        place = 8
        serial = try number()
        let fields: UInt32 = try number()
        body = MessageFramer.headerBytes + (Int(fields) + 7) & ~7
        end = MessageFramer.headerBytes + Int(fields)
        while place < end { try readField() }
        end = bytes.count
        _ = try advance(8, 0)
        try checkFields()
        rewind()
    }

    private mutating func readField() throws(Malformed) {
        let code = bytes[try advance(8, 1)]
        let said = try signature()
        func isType(_ letter: Unicode.Scalar) -> Bool {
            said.count == 1 && bytes[said.lowerBound] == UInt8(ascii: letter)
        }
        switch code {
        case 0: throw Malformed()
        case Field.path, Field.interface, Field.member, Field.errorName, Field.destination, Field.sender:
            guard isType(code == Field.path ? "o" : "s"), texts[Int(code)].isEmpty else { throw Malformed() }
            let text = try lengthAndText()
            guard Self.isName(bytes[text], code) else { throw Malformed() }
            texts[Int(code)] = text
        case Field.signature:
            guard isType("g"), texts[Int(code)].lowerBound == 0 else { throw Malformed() }
            texts[Int(code)] = try signature()
        case Field.replySerial:
            guard isType("u"), replySerial == 0 else { throw Malformed() }
            replySerial = try number()
            guard replySerial != 0 else { throw Malformed() }
        case Field.descriptors:
            guard isType("u"), !saysDescriptors else { throw Malformed() }
            saysDescriptors = true
            descriptors = try number()
        default:
            (type, typeEnd) = (said.lowerBound, said.upperBound)
            while type < typeEnd { try skip() }
        }
    }
    private var saysDescriptors = false

    private func checkFields() throws(Malformed) {
        let (hasPath, hasMember) = (!self[Field.path].isEmpty, !self[Field.member].isEmpty)
        let isComplete =
            switch kind {
            case .call: hasPath && hasMember && replySerial == 0
            case .signal: hasPath && hasMember && !self[Field.interface].isEmpty && replySerial == 0
            case .answer: replySerial != 0
            case .error: replySerial != 0 && !self[Field.errorName].isEmpty
            case nil: true
            }
        guard isComplete, serial != 0, !isText(Field.path, "/org/freedesktop/DBus/Local"),
            !isText(Field.interface, "org.freedesktop.DBus.Local"), !isText(Field.sender, "org.freedesktop.DBus.Local")
        else { throw Malformed() }
    }

    /// A header field's text, or the body's signature.
    package subscript(_ field: UInt8) -> ArraySlice<UInt8> { bytes[texts[Int(field)]] }

    package func isText(_ field: UInt8, _ text: StaticString) -> Bool {
        text.withUTF8Buffer { isText(field, $0) }
    }

    /// Without an allocation.
    package func isText(_ field: UInt8, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let own = texts[Int(field)]
        return own.count == text.count && bytes.withUnsafeBytes { $0[own].elementsEqual(text) }
    }

    package var expectsAnswer: Bool { kind == .call && flags & Flag.noAnswer == 0 }

    /// Reads from the first argument on again.
    package mutating func rewind() {
        (place, end, depth) = (body, bytes.count, 0)
        let signature = texts[Int(Field.signature)]
        (type, typeEnd) = (signature.lowerBound, signature.upperBound)
    }

    // MARK: Values

    /// The type of the value that comes next; `nil` at the end of a container or the body.
    package var letter: UInt8? { type < typeEnd ? bytes[type] : nil }

    /// Passes over padding, which is zeros, and so many bytes.
    /// - Returns: where they begin.
    private mutating func advance(_ alignment: Int, _ count: Int) throws(Malformed) -> Int {
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
        return try text(UInt8(ascii: letter))
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

    private mutating func text(_ letter: UInt8) throws(Malformed) -> String {
        let text = letter == UInt8(ascii: "g") ? try signature() : try lengthAndText()
        guard letter != UInt8(ascii: "o") || Self.isPath(bytes[text]) else { throw Malformed() }
        return bytes.withUnsafeBytes { String(decoding: $0[text], as: UTF8.self) }
    }

    /// A length, so many bytes of UTF-8 without a zero, and a zero.
    private mutating func lengthAndText() throws(Malformed) -> Text {
        let length: UInt32 = try number()
        guard length < UInt32.max else { throw Malformed() }
        let start = try advance(1, Int(length) + 1)
        let text = start..<start + Int(length)
        guard bytes[text.upperBound] == 0, bytes.withUnsafeBytes({ Self.isText($0[text]) }) else { throw Malformed() }
        return text
    }

    private mutating func signature() throws(Malformed) -> Text {
        let length = Int(bytes[try advance(1, 1)])
        guard length < 255 else { throw Malformed() }
        let start = try advance(1, length + 1)
        var place = start
        while place < start + length { place = try typeEnd(from: place, end: start + length) }
        guard bytes[start + length] == 0 else { throw Malformed() }
        return start..<start + length
    }

    // MARK: Containers

    /// What is left of the container around one that was entered.
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
        case "y":
            type += 1
            _ = try advance(1, 1)
        case "n", "q":
            type += 1
            _ = try advance(2, 2)
        case "i", "u":
            type += 1
            _ = try advance(4, 4)
        case "x", "t", "d":
            type += 1
            _ = try advance(8, 8)
        case "b": _ = try readBool()
        case "h": _ = try readDescriptor()
        case "s", "o", "g":
            type += 1
            _ = try text(letter)
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

// MARK: - Texts

extension MessageReader {
    /// UTF-8 without a zero, and without code points that are no characters.
    private static func isText(_ text: UnsafeRawBufferPointer.SubSequence) -> Bool {
        var isASCII = true
        for byte in text {
            if byte == 0 { return false }
            if byte >= 0x80 { isASCII = false }
        }
        if isASCII { return true }
        guard let valid = String(validating: text, as: UTF8.self) else { return false }
        return valid.unicodeScalars.allSatisfy {
            !(0xfdd0...0xfdef).contains($0.value) && $0.value & 0xfffe != 0xfffe
        }
    }

    /// Whether a text will do as a header field's.
    package static func isName(_ text: some Collection<UInt8>, _ field: UInt8) -> Bool {
        if field == Field.path { return isPath(text) }
        guard text.count <= nameBytesMax, let first = text.first else { return false }
        // A connection's own name: any word will do behind the colon.
        let isUnique = field == Field.destination || field == Field.sender ? first == UInt8(ascii: ":") : false
        let isOfBus = field == Field.destination || field == Field.sender
        var (isBegin, dots) = (true, 0)
        for byte in isUnique ? text.dropFirst() : text[...] {
            switch byte {
            case UInt8(ascii: "."):
                if isBegin || field == Field.member { return false }
                (isBegin, dots) = (true, dots + 1)
                continue
            case UInt8(ascii: "0")...UInt8(ascii: "9"): if isBegin && !isUnique { return false }
            case UInt8(ascii: "-"): if !isOfBus { return false }
            default: if !isWordByte(byte) { return false }
            }
            isBegin = false
        }
        return !isBegin && (field == Field.member || dots > 0)
    }

    package static func isPath(_ text: some Collection<UInt8>) -> Bool {
        guard text.first == UInt8(ascii: "/"), text.count <= pathBytesMax else { return false }
        var isBegin = true
        for byte in text.dropFirst() {
            if byte == UInt8(ascii: "/") {
                if isBegin { return false }
                isBegin = true
            } else {
                guard isWordByte(byte) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return false }
                isBegin = false
            }
        }
        return !isBegin || text.count == 1
    }

    private static func isWordByte(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
            || byte == UInt8(ascii: "_")
    }
}
