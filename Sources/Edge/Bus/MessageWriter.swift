public import ArbiterProtocol
import Glibc
import System

/// D-Bus messages as bytes, one behind the other, in little-endian order: what one step sends to one client is written without
/// an allocation, and leaves in one piece. The form is that of the D-Bus specification, "Message Protocol".
public struct MessageWriter {
    /// The written bytes, and room for more.
    private var storage: [UInt8] = []
    private(set) var count = 0
    /// Where the present one begins: everything is aligned from there.
    private var start = 0
    /// The next descriptor's place among those of the message.
    private var nextDescriptor: UInt32 = 0

    package init() {}

    var bytes: ArraySlice<UInt8> { storage[..<count] }
    var isEmpty: Bool { count == 0 }

    /// Nothing was written, and the memory is there to be used again.
    mutating func clear() { count = 0 }

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
            var name = name
            return name.withUTF8 { MessageHead.isName(UnsafeRawBufferPointer($0), field) }
        }

        /// - Throws: where a call's names are none.
        func check() throws(SystemFault) {
            guard case .call(let destination, let path, let interface, let member) = self else { return }
            let areFit =
                isFit(path, Field.path) && isFit(interface, Field.interface) && isFit(member, Field.member)
                && isFit(destination ?? BusMessage.serverName, Field.destination)
            if !areFit { throw SystemFault("make a call of \(interface).\(member) at \(path)", EINVAL) }
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
        start = count
        nextDescriptor = 0
        // The order of bytes, the type, whether no answer is expected, the protocol's version; then the body's length, below.
        let flags: UInt64 = head.kind == .call ? 0 : 1
        raw(UInt64(UInt8(ascii: "l")) | UInt64(head.kind.rawValue) << 8 | flags << 16 | 1 << 24)
        // And the fields' length, below.
        raw(UInt64(serial))
        let fields = count
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
        patch(fields - 4, count - fields)
        align(8)
        let content = count
        body(&self)
        patch(start + 4, count - content)
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

    mutating func append(whole messages: ArraySlice<UInt8>) { messages.withUnsafeBytes { raw($0) } }

    // MARK: Values

    public mutating func append(_ value: UInt64) { number(value) }
    public mutating func append(_ value: Int64) { number(value) }
    public mutating func append(_ value: UInt32) { number(value) }
    public mutating func append(_ value: Int32) { number(value) }
    public mutating func append(_ value: UInt8) { raw(value) }
    public mutating func append(_ value: Bool) { number(UInt32(value ? 1 : 0)) }
    public mutating func append(_ strings: [String]) {
        array(of: "s") { writer in for string in strings { writer.append(string) } }
    }

    /// A text ends where it has a zero byte, as C's do: D-Bus has none inside.
    public mutating func append(_ text: String) { append(text, lengthAs: UInt32.self) }

    private mutating func append<Length: FixedWidthInteger>(_ text: String, lengthAs _: Length.Type) {
        var text = text
        text.withUTF8 { text in
            let length = text.firstIndex(of: 0) ?? text.count
            number(Length(truncatingIfNeeded: length))
            raw(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(text)[..<length]))
            raw(UInt8(0))
        }
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

    mutating func append(all values: [WireValue]) { for value in values { append(value) } }

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
            array(of: type) { $0.append(all: values) }
        case .structure(let values):
            align(8)
            append(all: values)
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
                field.key.bytes.withUnsafeBytes { writer.raw($0) }
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
        let offset = (count - start) % 8
        if let part, part.offset == offset { return part.bytes.withUnsafeBytes { raw($0) } }
        let place = count
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
        let length = count - 4
        // The padding before the first element does not count, and is there without one, too.
        switch type.utf8.first {
        case UInt8(ascii: "{"), UInt8(ascii: "("), UInt8(ascii: "x"), UInt8(ascii: "t"), UInt8(ascii: "d"): align(8)
        default: break
        }
        let place = count
        elements(&self)
        patch(length, count - place)
    }

    private mutating func signature(_ text: String) { append(text, lengthAs: UInt8.self) }

    // MARK: Bytes

    private mutating func align(_ size: Int) {
        let padding = (start &- count) & (size - 1)
        if padding == 0 { return }
        raw(UInt64(0))
        count -= 8 - padding
    }

    private mutating func number<Number: FixedWidthInteger>(_ value: Number) {
        align(MemoryLayout<Number>.size)
        raw(value)
    }

    private mutating func raw<Number: FixedWidthInteger>(_ value: Number) {
        let place = room(MemoryLayout<Number>.size)
        storage.withUnsafeMutableBytes { $0.storeBytes(of: value.littleEndian, toByteOffset: place, as: Number.self) }
    }

    private mutating func raw(_ more: UnsafeRawBufferPointer) {
        let place = room(more.count)
        storage.withUnsafeMutableBytes { UnsafeMutableRawBufferPointer(rebasing: $0[place...]).copyMemory(from: more) }
    }

    /// - Returns: the place of so many further bytes, which are to be written.
    private mutating func room(_ more: Int) -> Int {
        if storage.count - count < more {
            // Most messages have fewer than 256 bytes.
            storage.append(contentsOf: repeatElement(0, count: max(more, storage.count, 256)))
        }
        count += more
        return count - more
    }

    private mutating func patch(_ place: Int, _ value: Int) {
        let value = UInt32(value).littleEndian
        storage.withUnsafeMutableBytes { $0.storeBytes(of: value, toByteOffset: place, as: UInt32.self) }
    }
}

extension [WireValue] {
    /// Of all of them.
    var signature: String { count == 1 ? self[0].signature : reduce(into: "") { $0 += $1.signature } }
}
