public import ArbiterProtocol
import Glibc
import System

/// D-Bus messages as bytes, one behind the other, in little-endian order: what one step sends to one client is written without
/// an allocation, and leaves in one piece. The form is that of the D-Bus specification, "Message Protocol".
public struct MessageWriter {
    package private(set) var bytes: [UInt8]
    /// Where the present one begins: everything is aligned from there.
    private var start = 0
    /// The next descriptor's place among those of the message.
    private var nextDescriptor: UInt32 = 0

    package init() { bytes = [] }

    /// Nothing was written, and the memory is there to be used again.
    mutating func clear() { bytes.removeAll(keepingCapacity: true) }

    enum Head {
        case call(to: String?, path: String, interface: String, member: String)
        case signal(path: String, interface: String, member: String, sender: String?)
        case answer(to: UInt32, destination: String?, sender: String?)
        case error(name: String, to: UInt32, destination: String?, sender: String?)

        fileprivate var kind: BusMessage.Kind {
            switch self {
            case .call: .call
            case .answer: .answer
            case .error: .error
            case .signal: .signal
            }
        }

        private func isFit(_ name: String, _ field: UInt8) -> Bool {
            Array(name.utf8).withUnsafeBytes { MessageHead.isName($0, field) }
        }

        /// - Throws: where a call's names are none.
        func check() throws(SystemFault) {
            guard case .call(let destination, let path, let interface, let member) = self else { return }
            let names = [
                (path, Field.path), (interface, Field.interface), (member, Field.member),
                (destination ?? BusMessage.serverName, Field.destination),
            ]
            if names.allSatisfy({ isFit($0.0, $0.1) }) { return }
            throw SystemFault("make a call of \(interface).\(member) at \(path)", EINVAL)
        }
    }

    private typealias Field = MessageHead.Field

    /// - Parameter serial: not 0.
    /// - Parameter signature: of all that `body` appends.
    /// - Parameter descriptors: so many are among that.
    mutating func message(
        _ head: Head, serial: UInt32, signature: String, descriptors: Int = 0, _ body: (inout MessageWriter) -> Void
    ) {
        // One ends where its body does, without padding; and the next one is aligned from its own beginning.
        start = bytes.count
        nextDescriptor = 0
        // The order of bytes, the type, whether no answer is expected, the protocol's version; then the body's length, below.
        let flags: UInt64 = head.kind == .call ? 0 : 1
        raw(UInt64(UInt8(ascii: "l")) | UInt64(head.kind.rawValue) << 8 | flags << 16 | 1 << 24)
        // And the fields' length, below.
        raw(UInt64(serial))
        let fields = bytes.count
        switch head {
        case .call(let destination, let path, let interface, let member):
            names(path, interface, member)
            if let destination { field(Field.destination, "s", destination) }
        case .signal(let path, let interface, let member, let sender):
            names(path, interface, member)
            if let sender { field(Field.sender, "s", sender) }
        case .answer(let serial, let destination, let sender): replies(to: serial, destination, sender)
        case .error(let name, let serial, let destination, let sender):
            field(Field.errorName, "s", name)
            replies(to: serial, destination, sender)
        }
        if !signature.isEmpty {
            begin(Field.signature, "g")
            self.signature(signature)
        }
        if descriptors > 0 {
            begin(Field.descriptors, "u")
            number(UInt32(descriptors))
        }
        patch(fields - 4, bytes.count - fields)
        align(8)
        let content = bytes.count
        body(&self)
        patch(start + 4, bytes.count - content)
    }

    private mutating func names(_ path: String, _ interface: String, _ member: String) {
        field(Field.path, "o", path)
        field(Field.interface, "s", interface)
        field(Field.member, "s", member)
    }

    private mutating func replies(to serial: UInt32, _ destination: String?, _ sender: String?) {
        begin(Field.replySerial, "u")
        number(serial)
        if let destination { field(Field.destination, "s", destination) }
        if let sender { field(Field.sender, "s", sender) }
    }

    private mutating func field(_ code: UInt8, _ type: Unicode.Scalar, _ text: String) {
        begin(code, type)
        append(text)
    }

    private mutating func begin(_ code: UInt8, _ type: Unicode.Scalar) {
        align(8)
        raw(UInt32(code) | 1 << 8 | type.value << 16)
    }

    mutating func append(whole messages: [UInt8]) { bytes.append(contentsOf: messages) }

    // MARK: Values

    public mutating func append(_ value: UInt64) { number(value) }
    public mutating func append(_ value: Int64) { number(value) }
    public mutating func append(_ value: UInt32) { number(value) }
    public mutating func append(_ value: Int32) { number(value) }
    public mutating func append(_ value: UInt8) { bytes.append(value) }
    public mutating func append(_ value: Bool) { number(UInt32(value ? 1 : 0)) }
    public mutating func append(_ strings: [String]) {
        array(of: "s") { writer in for string in strings { writer.append(string) } }
    }

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

    public mutating func append(_ value: WireValue) {
        switch value {
        case .boolean(let value): append(value)
        case .int32(let value): number(value)
        case .uint32(let value): number(value)
        case .int64(let value): number(value)
        case .uint64(let value): number(value)
        case .double(let value): number(value.bitPattern)
        case .string(let text), .objectPath(let text): append(text)
        // A number of those that go along, in their order.
        case .fileDescriptor:
            number(nextDescriptor)
            nextDescriptor += 1
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

    /// One level of nesting of any kind: `a` with its element's type, `v` with its content's, `r` for a structure, `e` for an
    /// entry of a dictionary. For what `WireValue` does not have.
    public mutating func container(
        _ kind: Unicode.Scalar, _ contents: String, _ fill: (inout MessageWriter) -> Void
    ) {
        switch kind {
        case "a": return array(of: contents, fill)
        case "v": signature(contents)
        default: align(8)
        }
        fill(&self)
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

    private mutating func align(_ size: Int) {
        for _ in 0..<((start &- bytes.count) & (size - 1)) { bytes.append(0) }
    }

    private mutating func number<Number: FixedWidthInteger>(_ value: Number) {
        align(MemoryLayout<Number>.size)
        raw(value)
    }

    private mutating func raw<Number: FixedWidthInteger>(_ value: Number) {
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
