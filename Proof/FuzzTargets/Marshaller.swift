import ArbiterProtocol

/// Writes D-Bus messages by the specification ("Marshaling", "Message Format"), independently of camarb and libsystemd.
struct Marshaller {
    private(set) var bytes: [UInt8] = []
    let isBigEndian: Bool

    init(bigEndian: Bool = false) { isBigEndian = bigEndian }

    /// - Parameters:
    ///   - kind: 1 is a call, 4 a signal.
    ///   - flags: 1: no answer is wanted.
    static func message(
        kind: UInt8 = 1, flags: UInt8 = 0, serial: UInt32, path: String, interface: String, member: String,
        signature: String, body: [UInt8], bigEndian: Bool = false
    ) -> [UInt8] {
        var fields = Marshaller(bigEndian: bigEndian)
        fields.field(1, .objectPath(path))
        if !interface.isEmpty { fields.field(2, .string(interface)) }
        fields.field(3, .string(member))
        if !signature.isEmpty { fields.signatureField(signature) }
        var message = Marshaller(bigEndian: bigEndian)
        message.bytes = [UInt8(ascii: bigEndian ? "B" : "l"), kind, flags, 1]
        message.number(UInt32(body.count), 4)
        message.number(serial, 4)
        message.number(UInt32(fields.bytes.count), 4)
        message.bytes += fields.bytes
        message.pad(8)
        return message.bytes + body
    }

    mutating func append(_ value: WireValue) {
        switch value {
        case .boolean(let value): number(UInt32(value ? 1 : 0), 4)
        case .int32(let value): number(UInt32(bitPattern: value), 4)
        case .uint32(let value): number(value, 4)
        case .int64(let value): number(UInt64(bitPattern: value), 8)
        case .uint64(let value): number(value, 8)
        case .double(let value): number(value.bitPattern, 8)
        case .string(let text), .objectPath(let text): append(text)
        // An index into the message's descriptors, of which there are none.
        case .fileDescriptor: number(UInt32(0), 4)
        case .array(let type, let values):
            list(alignment: Self.alignment(of: type)) { list in for value in values { list.append(value) } }
        case .structure(let values):
            pad(8)
            for value in values { append(value) }
        case .dictionary(let dictionary):
            list(alignment: 8) { list in
                for entry in dictionary.entries {
                    list.pad(8)
                    list.append(entry.key)
                    list.signature(entry.value.signature)
                    list.append(entry.value)
                }
            }
        }
    }

    /// A value of one complete type, of whatever contents.
    /// - Parameter pick: a number below the given one.
    mutating func append(_ type: some StringProtocol, _ pick: (Int) -> Int) {
        let inside = type.dropFirst()
        switch type.first {
        case "y": bytes.append(UInt8(pick(256)))
        case "n", "q": number(UInt16(pick(1 << 16)), 2)
        case "b": number(UInt32(pick(2)), 4)
        case "i", "u": number(UInt32(pick(1 << 31)), 4)
        case "s": append(["", "a", "ä \u{1F3A5}", "org.camarb"][pick(4)])
        case "o": append(["/", "/a/b_1"][pick(2)])
        case "g": signature(["", "a{sv}", "(ii)x"][pick(3)])
        case "v":
            let type = ["y", "s", "ai", "(xs)", "a{sv}", "v"][pick(6)]
            signature(type)
            append(type, pick)
        case "a":
            list(alignment: Self.alignment(of: String(inside))) { list in
                for _ in 0..<pick(4) { list.append(inside, pick) }
            }
        case "(", "{":
            pad(8)
            for member in Self.split(inside.dropLast()) { append(member, pick) }
        default: number(UInt64(pick(1 << 31)) << 30, 8)
        }
    }

    /// Complete types that stand behind each other.
    private static func split(_ types: some StringProtocol) -> [String] {
        var found = [""]
        var depth = 0
        for letter in types {
            if let last = found.last, depth == 0, last.contains(where: { $0 != "a" }) { found.append("") }
            found[found.count - 1].append(letter)
            if "({".contains(letter) { depth += 1 }
            if ")}".contains(letter) { depth -= 1 }
        }
        return found.filter { !$0.isEmpty }
    }

    private mutating func append(_ text: String) {
        number(UInt32(text.utf8.count), 4)
        bytes += Array(text.utf8) + [0]
    }

    private mutating func signature(_ text: String) {
        bytes += [UInt8(truncatingIfNeeded: text.utf8.count)] + Array(text.utf8) + [0]
    }

    private mutating func field(_ code: UInt8, _ value: WireValue) {
        pad(8)
        bytes.append(code)
        signature(value.signature)
        append(value)
    }

    private mutating func signatureField(_ text: String) {
        pad(8)
        bytes.append(8)
        signature("g")
        signature(text)
    }

    /// The length counts neither itself nor the padding before the first element.
    private mutating func list(alignment: Int, _ fill: (inout Marshaller) -> Void) {
        number(UInt32(0), 4)
        let place = bytes.count - 4
        pad(alignment)
        let start = bytes.count
        fill(&self)
        var length = Marshaller(bigEndian: isBigEndian)
        length.number(UInt32(bytes.count - start), 4)
        bytes.replaceSubrange(place..<place + 4, with: length.bytes)
    }

    private mutating func number(_ value: some FixedWidthInteger & UnsignedInteger, _ alignment: Int) {
        pad(alignment)
        let width = value.bitWidth / 8
        for index in 0..<width {
            bytes.append(UInt8(truncatingIfNeeded: value >> (8 * (isBigEndian ? width - 1 - index : index))))
        }
    }

    private mutating func pad(_ alignment: Int) { while bytes.count % alignment != 0 { bytes.append(0) } }

    private static func alignment(of type: String) -> Int {
        switch type.first {
        case "y", "g", "v": 1
        case "n", "q": 2
        case "x", "t", "d", "(", "{": 8
        default: 4
        }
    }
}
