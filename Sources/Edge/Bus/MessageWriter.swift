public import ArbiterProtocol

/// D-Bus messages as bytes, one behind the other: signals and answers of a server, in little-endian order.
///
/// libsystemd could make them, too, and makes all those that bring descriptors. It allocates some ten times for each, though, and
/// writes each by itself; what one step says to one client is written here without an allocation, and leaves in one piece. The
/// form is that of the D-Bus specification, "Message Protocol"; what is written is what `sd-bus` reads (`MessageWriterTests`).
public struct MessageWriter {
    package private(set) var bytes: [UInt8]
    /// Where the present one begins: everything is aligned from there.
    private var start = 0

    package init() { bytes = [] }

    /// Nothing was written, and the memory is there to be used again.
    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    enum Head {
        case signal(path: String, interface: String, member: String)
        case answer(to: UInt32, destination: String?)
        case error(name: String, to: UInt32, destination: String?)

        fileprivate var type: UInt8 {
            switch self {
            case .answer: 2
            case .error: 3
            case .signal: 4
            }
        }
    }

    /// Codes of header fields.
    private enum Field {
        static let path: UInt8 = 1
        static let interface: UInt8 = 2
        static let member: UInt8 = 3
        static let errorName: UInt8 = 4
        static let replySerial: UInt8 = 5
        static let destination: UInt8 = 6
        static let sender: UInt8 = 7
        static let signature: UInt8 = 8
    }

    /// - Parameter serial: not 0.
    /// - Parameter signature: of all that `body` appends.
    mutating func message(_ head: Head, serial: UInt32, signature: String, _ body: (inout MessageWriter) -> Void) {
        // One ends where its body does, without padding; and the next one is aligned from its own beginning.
        start = bytes.count
        bytes.append(UInt8(ascii: "l"))
        bytes.append(head.type)
        bytes.append(1)  // No answer is expected.
        bytes.append(1)  // The protocol's version.
        number(UInt32(0))  // The body's length, below.
        number(serial)
        number(UInt32(0))  // The fields' length, below.
        let fields = bytes.count
        switch head {
        case .signal(let path, let interface, let member):
            field(Field.path, "o", path)
            field(Field.interface, "s", interface)
            field(Field.member, "s", member)
        case .answer(let serial, let destination): replies(to: serial, destination)
        case .error(let name, let serial, let destination):
            field(Field.errorName, "s", name)
            replies(to: serial, destination)
        }
        field(Field.sender, "s", BusMessage.serverName)
        if !signature.isEmpty {
            begin(Field.signature, "g")
            self.signature(signature)
        }
        patch(fields - 4, bytes.count - fields)
        align(8)
        let content = bytes.count
        body(&self)
        patch(start + 4, bytes.count - content)
    }

    private mutating func replies(to serial: UInt32, _ destination: String?) {
        begin(Field.replySerial, "u")
        number(serial)
        if let destination { field(Field.destination, "s", destination) }
    }

    private mutating func field(_ code: UInt8, _ type: Unicode.Scalar, _ text: String) {
        begin(code, type)
        append(text)
    }

    private mutating func begin(_ code: UInt8, _ type: Unicode.Scalar) {
        align(8)
        bytes.append(code)
        bytes.append(1)
        bytes.append(UInt8(truncatingIfNeeded: type.value))
        bytes.append(0)
    }

    mutating func append(whole messages: [UInt8]) { bytes.append(contentsOf: messages) }

    // MARK: Values

    public mutating func append(_ value: UInt64) { number(value) }
    public mutating func append(_ value: Int64) { number(value) }
    public mutating func append(_ value: UInt32) { number(value) }
    public mutating func append(_ value: Bool) { number(UInt32(value ? 1 : 0)) }

    /// A text ends where it has a zero byte, as C's do: D-Bus has none inside.
    public mutating func append(_ text: String) {
        number(UInt32(0))
        let place = bytes.count
        var text = text
        text.withUTF8 { bytes.append(contentsOf: $0.prefix { $0 != 0 }) }
        patch(place - 4, bytes.count - place)
        bytes.append(0)
    }

    public mutating func append(_ dictionary: WireDictionary) {
        array(of: "{sv}") { writer in
            for entry in dictionary.entries {
                writer.align(8)
                writer.append(entry.key)
                writer.append(variant: entry.value)
            }
        }
    }

    /// With its type before it.
    public mutating func append(variant value: WireValue) {
        signature(value.signature)
        append(value)
    }

    /// - Precondition: it has no descriptor in it (`WireValue.hasDescriptor`).
    public mutating func append(_ value: WireValue) {
        switch value {
        case .boolean(let value): append(value)
        case .int32(let value): number(value)
        case .uint32(let value): number(value)
        case .int64(let value): number(value)
        case .uint64(let value): number(value)
        case .double(let value): number(value.bitPattern)
        case .string(let text), .objectPath(let text): append(text)
        case .fileDescriptor: preconditionFailure("A descriptor is no byte: libsystemd passes it.")
        case .array(let type, let values):
            array(of: type) { writer in for value in values { writer.append(value) } }
        case .structure(let values):
            align(8)
            for value in values { append(value) }
        case .dictionary(let dictionary): append(dictionary)
        }
    }

    package mutating func append<Record: Described>(each records: [Record]) {
        array(of: "a{sv}") { writer in for record in records { writer.append(record) } }
    }

    package mutating func append<Record: Described>(_ record: Record) {
        array(of: "{sv}") { writer in
            for field in Record.fields {
                guard let value = field.value(record) else { continue }
                writer.align(8)
                writer.bytes.append(contentsOf: field.key.bytes)
                writer.append(value)
            }
        }
    }

    /// Values that are written once and go into many messages, as long as they come to lie in all of them in the same way:
    /// everything is aligned to eight bytes at the most.
    package struct Part {
        fileprivate var offset: Int
        fileprivate var bytes: [UInt8]
    }

    /// Appends what `body` appends, without asking it again where that was kept.
    package mutating func append(kept part: inout Part?, _ body: (inout MessageWriter) -> Void) {
        let offset = (bytes.count - start) % 8
        if let part, part.offset == offset { return bytes.append(contentsOf: part.bytes) }
        let place = bytes.count
        body(&self)
        part = Part(offset: offset, bytes: Array(bytes[place...]))
    }

    private mutating func array(of type: String, _ elements: (inout MessageWriter) -> Void) {
        number(UInt32(0))
        let length = bytes.count - 4
        // The padding before the first element does not count, and is there without one, too.
        switch type.utf8.first {
        case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "x"), UInt8(ascii: "t"), UInt8(ascii: "d"): align(8)
        default: break
        }
        let place = bytes.count
        elements(&self)
        patch(length, bytes.count - place)
    }

    private mutating func signature(_ text: String) {
        bytes.append(UInt8(truncatingIfNeeded: text.utf8.count))
        bytes.append(contentsOf: text.utf8)
        bytes.append(0)
    }

    // MARK: Bytes

    private mutating func align(_ size: Int) { while (bytes.count - start) % size != 0 { bytes.append(0) } }

    private mutating func number<Number: FixedWidthInteger>(_ value: Number) {
        align(MemoryLayout<Number>.size)
        withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }

    private mutating func patch(_ place: Int, _ value: Int) {
        let value = UInt32(value)
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: value >> UInt32(8 * index)) }
    }
}

extension WireValue {
    var hasDescriptor: Bool {
        switch self {
        case .fileDescriptor: true
        case .array(_, let values), .structure(let values): values.contains(where: \.hasDescriptor)
        case .dictionary(let dictionary): dictionary.entries.contains(where: \.value.hasDescriptor)
        default: false
        }
    }
}
