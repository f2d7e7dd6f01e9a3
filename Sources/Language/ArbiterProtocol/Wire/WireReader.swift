/// Reads the arguments of a message one after the other.
///
/// Values come from the other side of a socket: a missing argument, another type or a word outside its closed set is an
/// error with a sentence, never a trap.
public struct WireReader {
    private let message: String
    private let arguments: [WireValue]
    private var taken = 0

    /// - Parameter message: the name of the arguments' message in errors: `WasInterrupted`, `formats[2]`.
    public init(_ message: String, _ arguments: [WireValue]) { (self.message, self.arguments) = (message, arguments) }

    /// An argument of a later version may be missing.
    package var isAtEnd: Bool { taken >= arguments.count }

    mutating func next<Value>(
        _ name: String, takes allowed: String, _ read: (WireValue, WirePlace) throws(BrokerError) -> Value?
    ) throws(BrokerError) -> Value {
        let place = WirePlace(message: message, name: name)
        guard taken < arguments.count else {
            throw place.wrong("argument \(taken + 1), “\(name)”, is missing; it takes \(allowed)")
        }
        let argument = arguments[taken]
        taken += 1
        guard let value = try read(argument, place) else {
            throw place.wrong("“\(name)” is \(argument.sentence); it takes \(allowed)")
        }
        return value
    }

    package mutating func read<Value: WireType>(
        _ name: String, as type: Value.Type = Value.self
    ) throws(BrokerError) -> Value { try next(name, takes: Value.allowed, Value.read) }

    public mutating func string(_ name: String) throws(BrokerError) -> String { try read(name) }
    public mutating func strings(_ name: String) throws(BrokerError) -> [String] { try read(name) }
    public mutating func boolean(_ name: String) throws(BrokerError) -> Bool { try read(name) }
    public mutating func uint64(_ name: String) throws(BrokerError) -> UInt64 { try read(name) }
    public mutating func uint32(_ name: String) throws(BrokerError) -> UInt32 { try read(name) }
    public mutating func int64(_ name: String) throws(BrokerError) -> Int64 { try read(name) }
    /// A finite number, of whatever numeric type.
    public mutating func number(_ name: String) throws(BrokerError) -> Double { try read(name) }
    public mutating func dictionary(_ name: String) throws(BrokerError) -> WireDictionary { try read(name) }
    public mutating func dictionaries(_ name: String) throws(BrokerError) -> [WireDictionary] { try read(name) }
    public mutating func numbers(_ name: String) throws(BrokerError) -> [UInt64] { try read(name) }

    public mutating func fileDescriptor(_ name: String) throws(BrokerError) -> Int32 {
        try next(name, takes: "a file descriptor") { wire, _ in wire.fileDescriptor }
    }

    package mutating func fileDescriptors(_ name: String) throws(BrokerError) -> [Int32] {
        try next(name, takes: "a list of file descriptors") { wire, _ in wire.list(\.fileDescriptor) }
    }

    public mutating func word<T: CaseIterable & RawRepresentable>(
        _ name: String, as type: T.Type = T.self
    ) throws(BrokerError) -> T where T.RawValue == String {
        try next(name, takes: type.allCases.map(\.rawValue).joined(separator: ", ")) { wire, _ in
            wire.string.flatMap(T.init(rawValue:))
        }
    }
}

extension WireValue {
    /// For error sentences: short, and with its type where the value is long.
    public var sentence: String {
        switch self {
        case .boolean(let value): value ? "true" : "false"
        case .int32, .uint32, .int64, .uint64, .double: number.map(\.shortDescription) ?? "a number"
        case .string(let text), .objectPath(let text): text.quotedShort
        case .fileDescriptor: "a file descriptor"
        case .array(let type, let values): "a list of \(values.count) “\(type)”"
        case .structure(let values): "(\(values.map(\.sentence).joined(separator: ", ")))"
        case .dictionary(let dictionary): "a dictionary of \(dictionary.entries.count)"
        }
    }
}
