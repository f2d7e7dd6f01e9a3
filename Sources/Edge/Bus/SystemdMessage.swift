package import ArbiterProtocol
import CLinux
import CSystemd
import Glibc
package import System

/// A message of libsystemd's, on a connection that libcamarb has: its values are read and appended.
package final class SystemdMessage {
    private let pointer: OpaquePointer
    /// The first fault met while appending; such a message is not sent.
    package private(set) var fault: SystemFault?

    package init(_ pointer: OpaquePointer) { self.pointer = sd_bus_message_ref(pointer) }

    deinit { _ = sd_bus_message_unref(pointer) }

    package var path: String { string(sd_bus_message_get_path(pointer)) }
    package var interface: String { string(sd_bus_message_get_interface(pointer)) }
    package var member: String { string(sd_bus_message_get_member(pointer)) }

    package var error: BrokerError? {
        guard let found = sd_bus_message_get_error(pointer) else { return nil }
        let (name, message) = (string(found.pointee.name), string(found.pointee.message))
        if let kind = BrokerError.Kind(rawValue: name) { return BrokerError(kind, message) }
        return BrokerError(.failed, message.isEmpty ? name : "\(message) (\(name))")
    }

    private func string(_ text: UnsafePointer<CChar>?) -> String { text.map { String(cString: $0) } ?? "" }

    /// `BusMessage.arguments`.
    package func arguments() throws(BrokerError) -> [WireValue] {
        var reader = Reader(message: pointer, takesLists: false)
        var values: [WireValue] = []
        do {
            while let value = try reader.value(depth: 0) { values.append(value) }
        } catch {
            for descriptor in reader.descriptors { close(descriptor) }
            throw error
        }
        return values
    }

    func append(_ value: UInt64) { basic("t", value, 8) }
    func append(_ value: Int64) { basic("x", value, 8) }
    func append(_ value: UInt32) { basic("u", value, 4) }
    func append(_ value: Int32) { basic("i", value, 4) }
    func append(_ value: Double) { basic("d", value, 8) }
    /// libsystemd takes a boolean as an int.
    func append(_ value: Bool) { basic("b", Int32(value ? 1 : 0), 4) }
    func append(_ value: String) { text("s", value) }
    func append(objectPath value: String) { text("o", value) }
    /// The message keeps a duplicate; the descriptor stays the caller's.
    func append(descriptor value: Int32) { basic("h", value, 64) }

    func append(_ strings: [String]) { container("a", "s") { for string in strings { append(string) } } }

    func append(_ dictionary: WireDictionary) {
        container("a", "{sv}") {
            for entry in dictionary.entries {
                container("e", "sv") {
                    append(entry.key)
                    container("v", entry.value.signature) { append(entry.value) }
                }
            }
        }
    }

    func append(_ dictionaries: [WireDictionary]) {
        container("a", "a{sv}") { for dictionary in dictionaries { append(dictionary) } }
    }

    package func append(_ value: WireValue) {
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
    func container(_ kind: Unicode.Scalar, _ contents: String, _ fill: () -> Void) {
        if fault != nil { return }
        keep(sd_bus_message_open_container(pointer, CChar(truncatingIfNeeded: kind.value), contents))
        fill()
        if fault != nil { return }
        keep(sd_bus_message_close_container(pointer))
    }

    private func basic<Value>(_ type: Unicode.Scalar, _ value: Value, _ bytes: Int) {
        if fault != nil { return }
        withUnsafePointer(to: value) {
            keep(sd_bus_message_append_basic(pointer, CChar(truncatingIfNeeded: type.value), $0))
        }
    }

    private func text(_ type: Unicode.Scalar, _ value: String) {
        if fault != nil { return }
        value.withCString { keep(sd_bus_message_append_basic(pointer, CChar(truncatingIfNeeded: type.value), $0)) }
    }

    private func keep(_ result: Int32) {
        if result < 0 && fault == nil { fault = SystemFault("append to a message", result) }
    }
}

private struct Reader {
    let message: OpaquePointer
    let takesLists: Bool
    /// The argument that is read is a list of descriptors.
    var isInList = false
    var descriptors: [Int32] = []
    var count = 0

    mutating func value(depth: Int) throws(BrokerError) -> WireValue? {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        let result = sd_bus_message_peek_type(message, &type, &contents)
        if result == 0 { return nil }
        guard result > 0 else { throw malformed(result) }
        count += 1
        guard count <= BusMessage.valuesMax else {
            throw BrokerError(.invalidArguments, "The message has more than \(BusMessage.valuesMax) values.")
        }
        switch Unicode.Scalar(UInt8(bitPattern: type)) {
        case "b": return .boolean(try basic(type, Int32(0)) != 0)
        case "i": return .int32(try basic(type, 0))
        case "u": return .uint32(try basic(type, 0))
        case "x": return .int64(try basic(type, 0))
        case "t": return .uint64(try basic(type, 0))
        case "d": return .double(try basic(type, 0))
        case "s": return .string(try text(type))
        case "o": return .objectPath(try text(type))
        case "h":
            guard depth == 0 || depth == 1 && isInList else {
                throw BrokerError(
                    .invalidArguments,
                    "A file descriptor is an argument of its own, never part of a dictionary or list.")
            }
            let copy = camarb_duplicate(try basic(type, Int32(-1)))
            guard copy >= 0 else {
                throw BrokerError(.outOfResources, "\(SystemFault("take over the descriptor", copy)).")
            }
            descriptors.append(copy)
            return .fileDescriptor(copy)
        case "a": return try array(String(cString: contents!), depth: depth)
        case "r": return try structure(String(cString: contents!), depth: depth)
        case let other:
            throw BrokerError(.invalidArguments, "camarb uses no values of the D-Bus type \"\(other)\".")
        }
    }

    /// Basic values alone, without descriptors: camarb's structures are points and their like.
    private mutating func structure(_ members: String, depth: Int) throws(BrokerError) -> WireValue {
        guard depth < BusMessage.nestingMax, members.utf8.allSatisfy({ "biuxtdso".utf8.contains($0) }) else {
            throw BrokerError(.invalidArguments, "camarb uses no structures of the D-Bus type \"(\(members))\".")
        }
        try enter("r", members)
        var values: [WireValue] = []
        while let value = try value(depth: depth + 1) { values.append(value) }
        try leave()
        return .structure(values)
    }

    private mutating func array(_ element: String, depth: Int) throws(BrokerError) -> WireValue {
        guard depth < BusMessage.nestingMax else {
            throw BrokerError(.invalidArguments, "The arguments nest deeper than \(BusMessage.nestingMax) containers.")
        }
        try enter("a", element)
        if element == "{sv}" {
            var dictionary = WireDictionary()
            while try enter("e", "sv") {
                let key = try text(CChar(bitPattern: UInt8(ascii: "s")))
                dictionary[key] = try variant(depth: depth + 1)
                try leave()
                guard dictionary.entries.count <= BusMessage.keysMax else {
                    throw BrokerError(
                        .invalidArguments, "A dictionary of the message has more than \(BusMessage.keysMax) keys.")
                }
            }
            try leave()
            return .dictionary(dictionary)
        }
        guard element == "a{sv}" || (element.utf8.count == 1 && "biuxtdsoh".utf8.contains(element.utf8.first ?? 0))
        else { throw BrokerError(.invalidArguments, "camarb uses no arrays of the D-Bus type \"\(element)\".") }
        isInList = takesLists && depth == 0 && element == "h"
        defer { isInList = false }
        var values: [WireValue] = []
        while let value = try value(depth: depth + 1) {
            values.append(value)
            guard !isInList || values.count <= BusMessage.descriptorsMax else {
                throw BrokerError(
                    .invalidArguments, "A list has more than \(BusMessage.descriptorsMax) file descriptors.")
            }
        }
        try leave()
        return .array(type: element, values)
    }

    mutating func variant(depth: Int) throws(BrokerError) -> WireValue {
        var type: CChar = 0
        var contents: UnsafePointer<CChar>?
        guard sd_bus_message_peek_type(message, &type, &contents) > 0, let contents else { throw malformed(0) }
        try enter("v", String(cString: contents))
        guard let value = try value(depth: depth) else { throw malformed(0) }
        try leave()
        return value
    }

    private func basic<Value>(_ type: CChar, _ empty: Value) throws(BrokerError) -> Value {
        var value = empty
        let result = withUnsafeMutablePointer(to: &value) { sd_bus_message_read_basic(message, type, $0) }
        guard result > 0 else { throw malformed(result) }
        return value
    }

    private func text(_ type: CChar) throws(BrokerError) -> String {
        let text: UnsafePointer<CChar>? = try basic(type, nil)
        return text.map { String(cString: $0) } ?? ""
    }

    @discardableResult
    private func enter(_ kind: Unicode.Scalar, _ contents: String) throws(BrokerError) -> Bool {
        let result = sd_bus_message_enter_container(message, CChar(truncatingIfNeeded: kind.value), contents)
        if result < 0 { throw malformed(result) }
        return result > 0
    }

    private func leave() throws(BrokerError) {
        let result = sd_bus_message_exit_container(message)
        if result < 0 { throw malformed(result) }
    }

    private func malformed(_ result: Int32) -> BrokerError {
        BrokerError(
            .invalidArguments, "The message's body is not what its signature says: \(SystemFault("read it", result)).")
    }
}
