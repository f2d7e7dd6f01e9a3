public import ArbiterProtocol
import CSystemd
import System

/// Appending values, one basic value at a time. A fault (no memory, no descriptor left, a path that is none)
/// is kept in the message, which is then not sent: callers need not ask after each value.
extension BusMessage {
    public func append(_ value: UInt64) { basic("t", value, 8) }
    public func append(_ value: Int64) { basic("x", value, 8) }
    public func append(_ value: UInt32) { basic("u", value, 4) }
    public func append(_ value: Int32) { basic("i", value, 4) }
    public func append(_ value: Double) { basic("d", value, 8) }
    public func append(_ value: UInt8) { basic("y", value, 1) }
    /// libsystemd takes a boolean as an int.
    public func append(_ value: Bool) { basic("b", Int32(value ? 1 : 0), 4) }
    public func append(_ value: String) { text("s", value) }
    public func append(objectPath value: String) { text("o", value) }
    /// The message keeps a duplicate; the descriptor stays the caller's.
    public func append(descriptor value: Int32) { basic("h", value, 64) }

    public func append(_ strings: [String]) { container("a", "s") { for string in strings { append(string) } } }

    public func append(_ dictionary: WireDictionary) {
        container("a", "{sv}") {
            for entry in dictionary.entries {
                container("e", "sv") {
                    append(entry.key)
                    container("v", entry.value.signature) { append(entry.value) }
                }
            }
        }
    }

    public func append(_ dictionaries: [WireDictionary]) {
        container("a", "a{sv}") { for dictionary in dictionaries { append(dictionary) } }
    }

    public func append(_ value: WireValue) {
        switch value {
        case .boolean(let value): append(value)
        case .int32(let value): append(value)
        case .uint32(let value): append(value)
        case .int64(let value): append(value)
        case .uint64(let value): append(value)
        case .double(let value): append(value)
        case .string(let value): append(value)
        case .objectPath(let value): append(objectPath: value)
        case .fileDescriptor(let value): append(descriptor: value)
        case .array(let type, let values): container("a", type) { for value in values { append(value) } }
        case .structure(let values):
            container("r", values.map(\.signature).joined()) { for value in values { append(value) } }
        case .dictionary(let value): append(value)
        }
    }

    /// One level of nesting of any kind: `a` with its element's type, `v` with its content's, `e` for an entry of a
    /// dictionary. For answers whose types `WireValue` does not know, such as those of the object manager.
    public func container(_ kind: Unicode.Scalar, _ contents: String, _ fill: () -> Void) {
        if buildFault != nil { return }
        keep(sd_bus_message_open_container(pointer, CChar(truncatingIfNeeded: kind.value), contents))
        fill()
        if buildFault != nil { return }
        payloadBytes += 8
        keep(sd_bus_message_close_container(pointer))
    }

    private func basic<Value>(_ type: Unicode.Scalar, _ value: Value, _ bytes: Int) {
        if buildFault != nil { return }
        payloadBytes += bytes
        withUnsafePointer(to: value) {
            keep(sd_bus_message_append_basic(pointer, CChar(truncatingIfNeeded: type.value), $0))
        }
    }

    private func text(_ type: Unicode.Scalar, _ value: String) {
        if buildFault != nil { return }
        payloadBytes += value.utf8.count + 8
        value.withCString { keep(sd_bus_message_append_basic(pointer, CChar(truncatingIfNeeded: type.value), $0)) }
    }

    private func keep(_ result: Int32) {
        if result < 0 && buildFault == nil { buildFault = SystemFault("append to a message", result) }
    }
}
