/// Reads the arguments of a message one after the other, and says in a sentence what is wrong with them.
///
/// Values come from the other side of a socket, so nothing about them is taken for granted: a missing
/// argument, another type or a word outside its closed set is an error, never a trap.
public struct WireReader {
    private let message: String
    private let arguments: [WireValue]
    private var next = 0

    /// - Parameter message: what the arguments belong to, as errors name it: `WasInterrupted`, `formats[2]`.
    public init(_ message: String, _ arguments: [WireValue]) {
        self.message = message
        self.arguments = arguments
    }

    /// Whether every argument was read: one that came with a later version may be missing.
    package var isAtEnd: Bool { next >= arguments.count }
    private func wrong(_ text: String) -> BrokerError { BrokerError(.invalidArguments, "\(message): \(text).") }

    private mutating func take<T>(
        _ name: String, _ expected: String, _ read: (WireValue) -> T?
    ) throws(BrokerError) -> T {
        guard next < arguments.count else {
            throw wrong("argument \(next + 1), “\(name)”, is missing; it takes \(expected)")
        }
        let argument = arguments[next]
        next += 1
        guard let value = read(argument) else { throw wrong("“\(name)” is \(argument.sentence); it takes \(expected)") }
        return value
    }

    public mutating func string(_ name: String) throws(BrokerError) -> String {
        try take(name, "a string") { $0.string }
    }

    /// `""`: there is none.
    mutating func anyString(_ name: String) throws(BrokerError) -> String? {
        let text = try string(name)
        return text.isEmpty ? nil : text
    }

    public mutating func strings(_ name: String) throws(BrokerError) -> [String] {
        try take(name, "a list of strings") { $0.strings }
    }

    public mutating func boolean(_ name: String) throws(BrokerError) -> Bool {
        try take(name, "true or false") { $0.boolean }
    }

    public mutating func uint64(_ name: String) throws(BrokerError) -> UInt64 {
        try take(name, "a whole number from 0") { $0.uint64 }
    }

    /// An array of them.
    public mutating func numbers(_ name: String) throws(BrokerError) -> [UInt64] {
        try take(name, "whole numbers from 0") { value in
            let numbers = value.elements?.map(\.uint64)
            return numbers.flatMap { $0.contains(nil) ? nil : $0.compactMap(\.self) }
        }
    }

    public mutating func uint32(_ name: String) throws(BrokerError) -> UInt32 {
        try take(name, "a whole number from 0 to 4294967295") { $0.uint64.flatMap(UInt32.init(exactly:)) }
    }

    public mutating func int64(_ name: String) throws(BrokerError) -> Int64 {
        try take(name, "a whole number") { $0.int64 }
    }

    /// A finite number, of whatever numeric type.
    public mutating func number(_ name: String) throws(BrokerError) -> Double {
        try take(name, "a finite number") { $0.number.flatMap { $0.isFinite ? $0 : nil } }
    }

    public mutating func fileDescriptor(_ name: String) throws(BrokerError) -> Int32 {
        try take(name, "a file descriptor") { $0.fileDescriptor }
    }

    package mutating func fileDescriptors(_ name: String) throws(BrokerError) -> [Int32] {
        try take(name, "a list of file descriptors") { value in
            let descriptors = value.elements?.map(\.fileDescriptor)
            return descriptors.flatMap { $0.contains(nil) ? nil : $0.compactMap(\.self) }
        }
    }

    public mutating func dictionary(_ name: String) throws(BrokerError) -> WireDictionary {
        try take(name, "a dictionary a{sv}") { $0.dictionary }
    }

    public mutating func dictionaries(_ name: String) throws(BrokerError) -> [WireDictionary] {
        try take(name, "a list of dictionaries aa{sv}") { value in
            guard let elements = value.elements else { return nil }
            let list = elements.compactMap(\.dictionary)
            return list.count == elements.count ? list : nil
        }
    }

    package mutating func read<Value: WireType>(_ name: String, as type: Value.Type = Value.self) throws(BrokerError)
        -> Value
    {
        try Value.read(name, &self)
    }

    /// One of a closed set of words.
    public mutating func word<T>(_ name: String, of all: [T], _ spelling: (T) -> String) throws(BrokerError) -> T {
        let text = try string(name)
        guard let value = all.first(where: { spelling($0) == text }) else {
            throw wrongWord(name, text, among: all.map(spelling))
        }
        return value
    }

    func wrongWord(_ name: String, _ text: String, among words: [String]) -> BrokerError {
        wrong("“\(name)” is \(text.quotedShort); it takes \(list(words))")
    }

    /// One of an enumeration's raw values.
    public mutating func word<T: CaseIterable & RawRepresentable>(
        _ name: String, as type: T.Type = T.self
    ) throws(BrokerError) -> T where T.RawValue == String {
        try word(name, of: Array(type.allCases), \.rawValue)
    }

    public mutating func cause(_ name: String) throws(BrokerError) -> Cause {
        try word(name, of: Cause.allCases, \.wireName)
    }

    public mutating func causes(_ name: String) throws(BrokerError) -> CauseSet {
        var set = CauseSet()
        for word in try strings(name) {
            guard let cause = Cause(wireName: word) else {
                throw wrong("“\(name)” has \(word.quotedShort), which is no cause")
            }
            set.insert(cause)
        }
        return set
    }

    public mutating func access(_ name: String) throws(BrokerError) -> Access {
        var access = Access.none
        for word in try strings(name) {
            guard let right = Access(name: word) else {
                throw wrong("“\(name)” has \(word.quotedShort); it takes \(list(Access.rights.map(\.name)))")
            }
            access.insert(right)
        }
        return access
    }

    private func list(_ words: [String]) -> String { words.joined(separator: ", ") }
}

extension WireValue {
    /// The value as an error sentence shows it: short, and with its type where the value says little.
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
