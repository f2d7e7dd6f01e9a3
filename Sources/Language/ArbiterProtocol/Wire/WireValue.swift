/// A value of the D-Bus type system, as far as camarb's interfaces use it.
///
/// A descriptor is a borrowed number in a message to send and an owned one in a message that was read: the reader
/// closes it.
public enum WireValue: Hashable, Sendable {
    case boolean(Bool)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case fileDescriptor(Int32)
    /// `type` names the elements' type, since an empty array has none.
    case array(type: String, [WireValue])
    /// Basic values side by side, such as the `(dd)` of a point.
    case structure([WireValue])
    /// `a{sv}`, in the order of its keys on the wire.
    case dictionary(WireDictionary)

    public var signature: String {
        switch self {
        case .boolean: "b"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .fileDescriptor: "h"
        case .array(let type, _): "a" + type
        case .structure(let values): "(\(values.map(\.signature).joined()))"
        case .dictionary: "a{sv}"
        }
    }

    public static func structure(of numbers: [Double]) -> WireValue { .structure(numbers.map { .double($0) }) }
    public static func strings(_ strings: [String]) -> WireValue { .array(type: "s", strings.map { .string($0) }) }
    public static func dictionaries(_ list: [WireDictionary]) -> WireValue {
        .array(type: "a{sv}", list.map { .dictionary($0) })
    }

    public var boolean: Bool? { if case .boolean(let value) = self { value } else { nil } }
    public var string: String? {
        switch self {
        case .string(let value), .objectPath(let value): value
        default: nil
        }
    }
    /// Of any type of whole numbers.
    private var whole: Int128? {
        switch self {
        case .int32(let value): Int128(value)
        case .uint32(let value): Int128(value)
        case .int64(let value): Int128(value)
        case .uint64(let value): Int128(value)
        default: nil
        }
    }
    public var uint64: UInt64? { whole.flatMap { UInt64(exactly: $0) } }
    public var int64: Int64? { whole.flatMap { Int64(exactly: $0) } }
    /// Of any numeric type: a client may well send `2` for 2.0.
    public var number: Double? { if case .double(let value) = self { value } else { whole.map { Double($0) } } }
    public var fileDescriptor: Int32? { if case .fileDescriptor(let value) = self { value } else { nil } }
    package var fileDescriptors: [Int32] {
        switch self {
        case .fileDescriptor(let value): [value]
        case .array(type: "h", let values): values.compactMap(\.fileDescriptor)
        default: []
        }
    }
    public var dictionary: WireDictionary? { if case .dictionary(let value) = self { value } else { nil } }
    public var elements: [WireValue]? { if case .array(_, let values) = self { values } else { nil } }
    /// The numbers of a structure, or of a list, which clients without structures send instead; `nil` where one is no
    /// number.
    public var numbers: [Double]? {
        let values: [WireValue]
        switch self {
        case .structure(let parts): values = parts
        case .array(_, let elements): values = elements
        default: return nil
        }
        let numbers = values.compactMap(\.number)
        return numbers.count == values.count ? numbers : nil
    }
    public var strings: [String]? { list(\.string) }

    /// `nil` where an element is of another type.
    func list<Element>(_ element: (WireValue) -> Element?) -> [Element]? {
        guard let elements else { return nil }
        let list = elements.compactMap(element)
        return list.count == elements.count ? list : nil
    }
}

/// `a{sv}`: few entries, so a list in wire order serves better than a hash.
public struct WireDictionary: Hashable, Sendable, ExpressibleByDictionaryLiteral {
    public private(set) var entries: [Entry]

    public struct Entry: Hashable, Sendable {
        public var key: String
        public var value: WireValue
    }

    public init() { entries = [] }
    public init(dictionaryLiteral elements: (String, WireValue)...) {
        entries = elements.map { Entry(key: $0.0, value: $0.1) }
    }

    /// The last entry of a key counts.
    public subscript(key: String) -> WireValue? {
        get { entries.last { $0.key == key }?.value }
        set {
            entries.removeAll { $0.key == key }
            if let newValue { entries.append(Entry(key: key, value: newValue)) }
        }
    }

    /// For a key that is not there yet.
    package mutating func append(_ key: String, _ value: WireValue) { entries.append(Entry(key: key, value: value)) }

    package mutating func reserveCapacity(_ count: Int) { entries.reserveCapacity(count) }
    public var keys: [String] { entries.map(\.key) }
    public var isEmpty: Bool { entries.isEmpty }
}

public struct WireSignal: Hashable, Sendable {
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [WireValue]

    public init(path: String, interface: String, member: String, arguments: [WireValue]) {
        (self.path, self.interface, self.member, self.arguments) = (path, interface, member, arguments)
    }
}
