public import ArbiterProtocol
import CLinux
import CSystemd
import Glibc
import System

extension BusMessage {
    /// Containers within containers, as deep as anything of ours goes and a little more.
    public static let nestingMax = 8
    /// Values in one message. libsystemd takes messages of 128 MiB, and a value costs more in here than there.
    public static let valuesMax = 65_536
    /// Keys in one dictionary: each is compared with those before it, and the longest of ours has a dozen.
    public static let keysMax = 256
    /// Descriptors in one list: as many as a bracket has photos, and as a message may bring.
    public static let descriptorsMax = 8

    /// Every argument. Descriptors are duplicates that the reader owns; they are arguments of their own, never inside
    /// a dictionary or an array, where a reader that does not look would leave them open.
    /// - Parameter lists: an argument may also be a list of descriptors (`ah`): the reader looks there, too.
    /// - Throws: `InvalidArgs` for types camarb does not use, `OutOfResources` when no descriptor is left.
    public func arguments(descriptorsInLists lists: Bool = false) throws(BrokerError) -> [WireValue] {
        var reader = Reader(message: pointer, takesLists: lists)
        var values: [WireValue] = []
        do {
            while let value = try reader.value(depth: 0) { values.append(value) }
        } catch {
            for descriptor in reader.descriptors { close(descriptor) }
            throw error
        }
        return values
    }

    /// Every argument of a message that has no business with descriptors.
    /// - Throws: as above, and `InvalidArgs` where it brought some: none of them is duplicated.
    public func argumentsWithoutDescriptors() throws(BrokerError) -> [WireValue] {
        guard !signature.utf8.contains(UInt8(ascii: "h")) else {
            throw BrokerError(
                .invalidArguments, "\(member) brings file descriptors (\(signature.quotedShort)), and takes none.")
        }
        return try arguments()
    }

    /// The first argument, where it is a descriptor: a duplicate, which the caller owns. Others stay the message's own.
    public func firstDescriptor() throws(BrokerError) -> Int32 {
        let copy = camarb_duplicate(try fixed("h", Int32(-1)))
        guard copy >= 0 else { throw BrokerError(.outOfResources, "\(SystemFault("take over the descriptor", copy)).") }
        return copy
    }

    /// The `v` that comes next, with a value of any type that camarb's own interfaces have, in the message that is.
    /// - Throws: `InvalidArgs` for every other, and for a descriptor.
    package func readWireVariant() throws(BrokerError) -> WireValue {
        var reader = Reader(message: pointer, takesLists: false)
        return try reader.variant(depth: 1)
    }

    // Lean reads, in the order of the arguments, for messages whose signature was looked at.

    public func readUInt64() throws(BrokerError) -> UInt64 { try fixed("t", UInt64(0)) }
    public func readInt64() throws(BrokerError) -> Int64 { try fixed("x", Int64(0)) }
    public func readUInt32() throws(BrokerError) -> UInt32 { try fixed("u", UInt32(0)) }
    public func readInt32() throws(BrokerError) -> Int32 { try fixed("i", Int32(0)) }
    public func readBool() throws(BrokerError) -> Bool { try fixed("b", Int32(0)) != 0 }
    public func readString() throws(BrokerError) -> String {
        let text: UnsafePointer<CChar>? = try fixed("s", nil)
        return text.map { String(cString: $0) } ?? ""
    }

    private func fixed<Value>(_ type: Unicode.Scalar, _ empty: Value) throws(BrokerError) -> Value {
        var value = empty
        let result = withUnsafeMutablePointer(to: &value) {
            sd_bus_message_read_basic(pointer, CChar(truncatingIfNeeded: type.value), $0)
        }
        guard result > 0 else { throw unexpected("\(type)") }
        return value
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

/// Reading, step by step, what other services' interfaces have and camarb's own have not.
extension BusMessage {
    /// Reads the container that comes next, as long as there is anything in it: an array's elements one after the other.
    /// - Parameter kind: `a` for an array, `r` for a structure, `e` for an entry of a dictionary.
    /// - Parameter contents: the signature of what is inside.
    /// - Parameter most: of an array, so many elements at the most.
    /// - Parameter read: reads one element, all of it.
    /// - Throws: `InvalidArgs` where something else comes, or more.
    public func readEach(
        _ kind: Unicode.Scalar, _ contents: String, most: Int, _ read: () throws(BrokerError) -> Void
    ) throws(BrokerError) {
        guard try enter(kind, contents) else { throw unexpected(contents) }
        var count = 0
        while sd_bus_message_at_end(pointer, 0) == 0 {
            count += 1
            guard count <= most else {
                throw BrokerError(.invalidArguments, "A list of the message has more than \(most) elements.")
            }
            try read()
        }
        try leave()
    }

    @discardableResult
    func enter(_ kind: Unicode.Scalar, _ contents: String) throws(BrokerError) -> Bool {
        let result = sd_bus_message_enter_container(pointer, CChar(truncatingIfNeeded: kind.value), contents)
        if result < 0 { throw unexpected(contents) }
        return result > 0
    }

    func leave() throws(BrokerError) {
        guard sd_bus_message_exit_container(pointer) >= 0 else {
            throw BrokerError(.invalidArguments, "The message's body is not what its signature says.")
        }
    }

    func unexpected(_ types: String) -> BrokerError {
        BrokerError(.invalidArguments, "The arguments are \"\(signature)\", and \"\(types)\" was expected next.")
    }

    /// The `as` that comes next.
    public func readStrings(most: Int) throws(BrokerError) -> [String] {
        var strings: [String] = []
        try readEach("a", "s", most: most) { () throws(BrokerError) in strings.append(try readString()) }
        return strings
    }

    /// The `ai` that comes next.
    public func readInt32s(most: Int) throws(BrokerError) -> [Int32] {
        var numbers: [Int32] = []
        try readEach("a", "i", most: most) { () throws(BrokerError) in numbers.append(try readInt32()) }
        return numbers
    }

    /// Passes over values of these types.
    public func skip(_ types: String) throws(BrokerError) {
        guard sd_bus_message_skip(pointer, types) >= 0 else { throw unexpected(types) }
    }

    /// Reads from the first argument on again.
    public func rewind() { _ = sd_bus_message_rewind(pointer, 1) }
}
