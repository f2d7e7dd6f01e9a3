public import ArbiterProtocol
import CLinux
import Glibc
import System

extension BusMessage {
    /// Containers within containers, as deep as anything of ours goes and a little more.
    public static let nestingMax = 8
    /// Values in one message: a value costs more in here than there.
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
        var arguments = Arguments(reader: reader, brought: descriptors, takesLists: lists)
        var values: [WireValue] = []
        do {
            while arguments.reader.letter != nil { values.append(try arguments.value(depth: 0)) }
        } catch {
            for descriptor in arguments.descriptors { close(descriptor) }
            throw Arguments.refusal(of: error)
        }
        return values
    }

    /// Every argument of a message that has no business with descriptors.
    /// - Throws: as above, and `InvalidArgs` where it brought some: none of them is duplicated.
    public func argumentsWithoutDescriptors() throws(BrokerError) -> [WireValue] {
        guard !head.bytes[head.signature].contains(UInt8(ascii: "h")) else {
            throw BrokerError(
                .invalidArguments, "\(member) brings file descriptors (\(signature.quotedShort)), and takes none.")
        }
        return try arguments()
    }

    /// The first argument, where it is a descriptor: a duplicate, which the caller owns. Others stay the message's own.
    public func firstDescriptor() throws(BrokerError) -> Int32 {
        try Self.duplicate(descriptors[try next("h") { reader throws(Malformed) in try reader.readDescriptor() }])
    }

    fileprivate static func duplicate(_ descriptor: Int32) throws(BrokerError) -> Int32 {
        let copy = camarb_duplicate(descriptor)
        guard copy >= 0 else { throw BrokerError(.outOfResources, "\(SystemFault("take over the descriptor", copy)).") }
        return copy
    }

    /// The `v` that comes next, with a value of any type that camarb's own interfaces have, in the message that is.
    /// - Throws: `InvalidArgs` for every other, and for a descriptor.
    package func readWireVariant() throws(BrokerError) -> WireValue {
        var arguments = Arguments(reader: reader, brought: descriptors, takesLists: false)
        defer { reader = arguments.reader }
        do { return try arguments.variant(depth: 1) } catch { throw Arguments.refusal(of: error) }
    }

    // Lean reads, in the order of the arguments, for messages whose signature was looked at.

    typealias Malformed = MessageReader.Malformed

    public func readUInt32() throws(BrokerError) -> UInt32 { try number("u") }
    public func readInt32() throws(BrokerError) -> Int32 { try number("i") }
    public func readBool() throws(BrokerError) -> Bool {
        try next("b") { reader throws(Malformed) in try reader.readBool() }
    }
    public func readString() throws(BrokerError) -> String { try text("s") }
    package func readObjectPath() throws(BrokerError) -> String { try text("o") }

    private func number<Number: FixedWidthInteger>(_ type: Unicode.Scalar) throws(BrokerError) -> Number {
        do throws(Malformed) { return try reader.read(type) } catch { throw unexpected("\(type)") }
    }

    private func text(_ type: Unicode.Scalar) throws(BrokerError) -> String {
        try next("\(type)") { reader throws(Malformed) in try reader.readText(type) }
    }

    private func next<Value>(
        _ types: String, _ read: (inout MessageReader) throws(Malformed) -> Value
    ) throws(BrokerError) -> Value {
        do throws(Malformed) { return try read(&reader) } catch { throw unexpected(types) }
    }

    private func unexpected(_ types: String) -> BrokerError {
        BrokerError(.invalidArguments, "The arguments are \"\(signature)\", and \"\(types)\" was expected next.")
    }

    // Step by step, what other services' interfaces have and camarb's own have not.

    /// Reads the container that comes next, as long as there is anything in it: an array's elements one after the other.
    /// - Parameter kind: `a` for an array, `r` for a structure, `e` for an entry of a dictionary.
    /// - Parameter contents: the signature of what is inside.
    /// - Parameter most: of an array, so many elements at the most.
    /// - Parameter read: reads one element, all of it.
    /// - Throws: `InvalidArgs` where something else comes, or more.
    public func readEach(
        _ kind: Unicode.Scalar, _ contents: String, most: Int, _ read: () throws(BrokerError) -> Void
    ) throws(BrokerError) {
        let letter: Unicode.Scalar = kind == "r" ? "(" : kind == "e" ? "{" : kind
        let around = try next(contents) { reader throws(Malformed) in
            let around = try reader.enter(letter)
            guard reader.bytes[around.inside].elementsEqual(contents.utf8) else { throw Malformed() }
            return around
        }
        var count = 0
        while try next(contents, { reader throws(Malformed) in try reader.hasMore(in: around) }) {
            count += 1
            guard count <= most else {
                throw BrokerError(.invalidArguments, "A list of the message has more than \(most) elements.")
            }
            try read()
        }
        do throws(Malformed) { try reader.leave(around) } catch {
            throw BrokerError(.invalidArguments, "The message's body is not what its signature says.")
        }
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

    /// The `a{sv}` that comes next. Of a structure its first member counts, as in logind's `(so)` for a seat; values of
    /// other types are passed over.
    package func readProperties() throws(BrokerError) -> WireDictionary {
        var found = WireDictionary()
        try readEach("a", "{sv}", most: Self.keysMax) { () throws(BrokerError) in
            try readEach("e", "sv", most: 1) { () throws(BrokerError) in
                let key = try readString()
                if let value = try readVariant() { found[key] = value }
            }
        }
        return found
    }

    /// The `v` that comes next, as in `readProperties`; `nil` for a value of another type.
    package func readVariant() throws(BrokerError) -> WireValue? {
        let around = try next("v") { reader throws(Malformed) in try reader.enter("v") }
        let isStructure = reader.letter == UInt8(ascii: "(")
        let inside = isStructure ? try next("(") { reader throws(Malformed) in try reader.enter("(") } : nil
        let value: WireValue? =
            switch reader.letter.map({ Unicode.Scalar($0) }) {
            case "b": .boolean(try readBool())
            case "u": .uint32(try readUInt32())
            case "t": .uint64(try number("t"))
            case "x": .int64(try number("x"))
            case "o": .objectPath(try readObjectPath())
            case "s": .string(try readString())
            default: nil
            }
        return try next("v") { reader throws(Malformed) in
            while reader.letter != nil { try reader.skip() }
            if let inside { try reader.leave(inside) }
            try reader.leave(around)
            return value
        }
    }

    /// The `v` that comes next, where its value begins with this letter: what `read` makes of it. `nil` for another.
    func readVariant<Value>(
        of letter: Unicode.Scalar, _ read: () throws(BrokerError) -> Value
    ) throws(BrokerError) -> Value? {
        let around = try next("v") { reader throws(Malformed) in try reader.enter("v") }
        let value = reader.letter.map({ Unicode.Scalar($0) }) == letter ? try read() : nil
        return try next("v") { reader throws(Malformed) in
            while reader.letter != nil { try reader.skip() }
            try reader.leave(around)
            return value
        }
    }

    /// Passes over as many values as there are letters, each of these types.
    public func skip(_ types: String) throws(BrokerError) {
        for type in types.utf8 {
            try next(types) { reader throws(Malformed) in
                guard reader.letter == type else { throw Malformed() }
                try reader.skip()
            }
        }
    }

    /// Reads from the first argument on again.
    public func rewind() { reader = head.reader }
}

/// Arguments of the types that camarb's own interfaces have. What is malformed is thrown as that, and the rest as `InvalidArgs`.
private struct Arguments {
    var reader: MessageReader
    let brought: [Int32]
    let takesLists: Bool
    /// The argument that is read is a list of descriptors.
    var isInList = false
    var descriptors: [Int32] = []
    var count = 0

    mutating func value(depth: Int) throws -> WireValue {
        count += 1
        guard count <= BusMessage.valuesMax else {
            throw Self.refusal("The message has more than \(BusMessage.valuesMax) values.")
        }
        let letter = reader.letter.map { Unicode.Scalar($0) }
        switch letter {
        case "b": return .boolean(try reader.readBool())
        case "i": return .int32(try reader.read("i"))
        case "u": return .uint32(try reader.read("u"))
        case "x": return .int64(try reader.read("x"))
        case "t": return .uint64(try reader.read("t"))
        case "d": return .double(Double(bitPattern: try reader.read("d")))
        case "s": return .string(try reader.readText("s"))
        case "o": return .objectPath(try reader.readText("o"))
        case "h": return try descriptor(depth)
        case "a": return try array(depth)
        case "(": return try structure(depth)
        default: throw Self.refusal("camarb uses no values of the D-Bus type \"\(letter.map(String.init) ?? "")\".")
        }
    }

    private mutating func descriptor(_ depth: Int) throws -> WireValue {
        guard depth == 0 || depth == 1 && isInList else {
            throw Self.refusal("A file descriptor is an argument of its own, never part of a dictionary or list.")
        }
        let copy = try BusMessage.duplicate(brought[try reader.readDescriptor()])
        descriptors.append(copy)
        return .fileDescriptor(copy)
    }

    /// Basic values alone, without descriptors: camarb's structures are points and their like.
    private mutating func structure(_ depth: Int) throws -> WireValue {
        let around = try reader.enter("(")
        let members = String(decoding: reader.bytes[around.inside], as: UTF8.self)
        guard depth < BusMessage.nestingMax, members.utf8.allSatisfy({ "biuxtdso".utf8.contains($0) }) else {
            throw Self.refusal("camarb uses no structures of the D-Bus type \"(\(members))\".")
        }
        var values: [WireValue] = []
        while reader.letter != nil { values.append(try value(depth: depth + 1)) }
        try reader.leave(around)
        return .structure(values)
    }

    private mutating func array(_ depth: Int) throws -> WireValue {
        guard depth < BusMessage.nestingMax else {
            throw Self.refusal("The arguments nest deeper than \(BusMessage.nestingMax) containers.")
        }
        let around = try reader.enter("a")
        let element = String(decoding: reader.bytes[around.inside], as: UTF8.self)
        if element == "{sv}" { return .dictionary(try dictionary(around, depth)) }
        guard element == "a{sv}" || (element.utf8.count == 1 && "biuxtdsoh".utf8.contains(element.utf8.first ?? 0))
        else { throw Self.refusal("camarb uses no arrays of the D-Bus type \"\(element)\".") }
        isInList = takesLists && depth == 0 && element == "h"
        defer { isInList = false }
        var values: [WireValue] = []
        while try reader.hasMore(in: around) {
            values.append(try value(depth: depth + 1))
            guard !isInList || values.count <= BusMessage.descriptorsMax else {
                throw Self.refusal("A list has more than \(BusMessage.descriptorsMax) file descriptors.")
            }
        }
        try reader.leave(around)
        return .array(type: element, values)
    }

    private mutating func dictionary(_ around: MessageReader.Around, _ depth: Int) throws -> WireDictionary {
        var dictionary = WireDictionary()
        while try reader.hasMore(in: around) {
            let entry = try reader.enter("{")
            let key = try reader.readText("s")
            dictionary[key] = try variant(depth: depth + 1)
            try reader.leave(entry)
            guard dictionary.entries.count <= BusMessage.keysMax else {
                throw Self.refusal("A dictionary of the message has more than \(BusMessage.keysMax) keys.")
            }
        }
        try reader.leave(around)
        return dictionary
    }

    mutating func variant(depth: Int) throws -> WireValue {
        let around = try reader.enter("v")
        let value = try value(depth: depth)
        try reader.leave(around)
        return value
    }

    private static func refusal(_ sentence: String) -> BrokerError { BrokerError(.invalidArguments, sentence) }

    static func refusal(of error: any Error) -> BrokerError {
        let fault = SystemFault("read it", EBADMSG)
        return error as? BrokerError ?? refusal("The message's body is not what its signature says: \(fault).")
    }
}
