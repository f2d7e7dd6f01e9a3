import Glibc

/// A D-Bus message's header (D-Bus specification, "Message Format"), checked as a whole: fields, names, lengths, zeros between
/// them. Pure.
///
/// Stricter than the specification, as libsystemd is: texts have no code points that are no characters, a signature has at most
/// 254 bytes. Stricter than libsystemd: a boolean is 0 or 1, the bytes between header and body are zeros, a signature has pairs
/// in arrays alone, containers nest 64 deep at the most, and the second version of the protocol is none.
package struct MessageHead {
    package typealias Text = MessageReader.Text
    package typealias Malformed = MessageReader.Malformed

    package let bytes: [UInt8]
    package let kind: BusMessage.Kind
    private let flags: UInt8
    package let serial: UInt32
    /// The call that an answer is for; 0 for others.
    package private(set) var replySerial: UInt32 = 0
    /// Descriptors that the message brings.
    package private(set) var descriptors: UInt32 = 0
    private var saysDescriptors = false

    // Empty where there is none, since no name is empty.
    package private(set) var path = 0..<0
    package private(set) var interface = 0..<0
    package private(set) var member = 0..<0
    package private(set) var errorName = 0..<0
    package private(set) var destination = 0..<0
    package private(set) var sender = 0..<0
    /// The body's.
    package private(set) var signature = 0..<0
    private let body: Int

    /// Codes of header fields.
    enum Field {
        static let path: UInt8 = 1
        static let interface: UInt8 = 2
        static let member: UInt8 = 3
        static let errorName: UInt8 = 4
        static let replySerial: UInt8 = 5
        static let destination: UInt8 = 6
        static let sender: UInt8 = 7
        static let signature: UInt8 = 8
        static let descriptors: UInt8 = 9
    }

    private enum Flag { static let noAnswer: UInt8 = 1 }
    private static let nameBytesMax = 255
    private static let pathBytesMax = 64 << 10

    /// - Parameter bytes: one message, from its first byte to its last.
    package init(_ bytes: [UInt8]) throws(Malformed) {
        guard bytes.count >= MessageFramer.headerBytes,
            bytes.withUnsafeBytes({ MessageFramer.saidBytes($0) }) == bytes.count,
            let kind = BusMessage.Kind(rawValue: bytes[1]), bytes[3] == 1
        else { throw Malformed() }
        (self.bytes, self.kind, flags) = (bytes, kind, bytes[2])
        var reader = MessageReader(bytes, at: 8)
        serial = try reader.number()
        let length: UInt32 = try reader.number()
        body = MessageFramer.headerBytes + (Int(length) + 7) & ~7
        reader.end = MessageFramer.headerBytes + Int(length)
        while reader.place < reader.end { try readField(&reader) }
        reader.end = bytes.count
        _ = try reader.advance(8, 0)
        try checkFields()
    }

    /// At the first argument.
    package var reader: MessageReader {
        MessageReader(bytes, at: body, types: signature, descriptors: descriptors)
    }

    package var expectsAnswer: Bool { kind == .call && flags & Flag.noAnswer == 0 }

    private mutating func readField(_ reader: inout MessageReader) throws(Malformed) {
        let code = bytes[try reader.advance(8, 1)]
        let type = try reader.signature()
        let letter = type.count == 1 ? Unicode.Scalar(bytes[type.lowerBound]) : nil
        switch (code, letter) {
        case (Field.path, "o"): try Self.readName(&reader, code, into: &path)
        case (Field.interface, "s"): try Self.readName(&reader, code, into: &interface)
        case (Field.member, "s"): try Self.readName(&reader, code, into: &member)
        case (Field.errorName, "s"): try Self.readName(&reader, code, into: &errorName)
        case (Field.destination, "s"): try Self.readName(&reader, code, into: &destination)
        case (Field.sender, "s"): try Self.readName(&reader, code, into: &sender)
        case (Field.signature, "g") where signature.lowerBound == 0: signature = try reader.signature()
        case (Field.replySerial, "u") where replySerial == 0:
            replySerial = try reader.number()
            guard replySerial != 0 else { throw Malformed() }
        case (Field.descriptors, "u") where !saysDescriptors:
            saysDescriptors = true
            descriptors = try reader.number()
        case (let code, _) where code > Field.descriptors:
            reader.begin(type)
            while reader.letter != nil { try reader.skip() }
        default: throw Malformed()
        }
    }

    private static func readName(
        _ reader: inout MessageReader, _ field: UInt8, into name: inout Text
    ) throws(Malformed) {
        let text = try reader.lengthAndBytes()
        let isFit = reader.bytes.withUnsafeBytes { isName(UnsafeRawBufferPointer(rebasing: $0[text]), field) }
        guard isFit, name.isEmpty else { throw Malformed() }
        name = text
    }

    private func checkFields() throws(Malformed) {
        let isComplete =
            switch kind {
            case .call: !path.isEmpty && !member.isEmpty && replySerial == 0
            case .signal: !path.isEmpty && !member.isEmpty && !interface.isEmpty && replySerial == 0
            case .answer: replySerial != 0
            case .error: replySerial != 0 && !errorName.isEmpty
            }
        let local: StaticString = "org.freedesktop.DBus.Local"
        guard isComplete, serial != 0, !bytes.has("/org/freedesktop/DBus/Local", at: path),
            !bytes.has(local, at: interface), !bytes.has(local, at: sender)
        else { throw Malformed() }
    }
}

extension [UInt8] {
    /// Without an allocation.
    func has(_ text: StaticString, at place: Range<Int>) -> Bool { text.withUTF8Buffer { has($0, at: place) } }

    func has(_ text: String, at place: Range<Int>) -> Bool {
        var text = text
        return text.withUTF8 { has($0, at: place) }
    }

    private func has(_ text: UnsafeBufferPointer<UInt8>, at place: Range<Int>) -> Bool {
        guard place.count == text.count, let start = text.baseAddress else { return place.count == text.count }
        return withUnsafeBytes { bytes in
            guard let own = bytes.baseAddress else { return false }
            return memcmp(own + place.lowerBound, start, place.count) == 0
        }
    }

    func text(at place: Range<Int>) -> String { withUnsafeBytes { String(decoding: $0[place], as: UTF8.self) } }
}

// MARK: - Texts

extension MessageHead {
    /// UTF-8 without a zero, and without code points that are no characters.
    static func isText(_ text: UnsafeRawBufferPointer) -> Bool {
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
    static func isName(_ text: UnsafeRawBufferPointer, _ field: UInt8) -> Bool {
        if field == Field.path { return isPath(text) }
        let isOfBus = field == Field.destination || field == Field.sender
        // A connection's own name: any word will do behind the colon.
        let isUnique = isOfBus && text.first == UInt8(ascii: ":")
        var (isBegin, dots) = (true, 0)
        for byte in isUnique ? text.dropFirst() : text[...] {
            if isWordByte(byte) {
                if isBegin && !isUnique && byte <= UInt8(ascii: "9") { return false }
                isBegin = false
            } else if byte == UInt8(ascii: ".") {
                if isBegin || field == Field.member { return false }
                (isBegin, dots) = (true, dots + 1)
            } else {
                guard isOfBus && byte == UInt8(ascii: "-") else { return false }
                isBegin = false
            }
        }
        return !isBegin && (field == Field.member || dots > 0) && text.count <= nameBytesMax
    }

    static func isPath(_ text: UnsafeRawBufferPointer) -> Bool {
        guard text.first == UInt8(ascii: "/"), text.count <= pathBytesMax else { return false }
        var isBegin = true
        for byte in text.dropFirst() {
            let isWord = isWordByte(byte)
            guard isWord || byte == UInt8(ascii: "/") && !isBegin else { return false }
            isBegin = !isWord
        }
        return !isBegin || text.count == 1
    }

    /// ASCII's letters and digits, and the underscore.
    private static func isWordByte(_ byte: UInt8) -> Bool {
        byte < 64
            ? 0x03ff_0000_0000_0000 >> UInt64(byte) & 1 == 1
            : byte < 128 && 0x07ff_fffe_87ff_fffe >> UInt64(byte - 64) & 1 == 1
    }
}
