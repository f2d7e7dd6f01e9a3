// The vocabulary in snapshots and programs: ids by their number or name, words as on the wire.

extension Decoder {
    fileprivate func single<Value: Decodable>(_ type: Value.Type = Value.self) throws -> Value {
        try singleValueContainer().decode(type)
    }

    fileprivate func word<Value>(_ what: String, _ read: (String) -> Value?) throws -> Value {
        guard let value = read(try single()) else { throw wrong("no \(what)") }
        return value
    }

    fileprivate func wrong(_ text: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: codingPath, debugDescription: text))
    }
}

extension Encoder {
    fileprivate func single(_ value: some Encodable) throws {
        var container = singleValueContainer()
        try container.encode(value)
    }
}

/// An id, which is kept as its number or name.
public protocol KeptByValue: Codable {
    associatedtype Kept: Codable
    var kept: Kept { get }
    init(_ kept: Kept)
}

extension KeptByValue {
    public init(from decoder: any Decoder) throws { self.init(try decoder.single(Kept.self)) }
    public func encode(to encoder: any Encoder) throws { try encoder.single(kept) }
}

extension ClientID: KeptByValue { public var kept: UInt64 { rawValue } }
extension SessionID: KeptByValue { public var kept: UInt64 { rawValue } }
extension GrantID: KeptByValue { public var kept: UInt64 { rawValue } }
extension CameraID: KeptByValue { public var kept: String { name } }
extension SeatID: KeptByValue { public var kept: String { name } }
extension LoginSessionID: KeptByValue { public var kept: String { name } }

extension Moment: Codable {
    public init(from decoder: any Decoder) throws { self.init(nanoseconds: try decoder.single()) }
    public func encode(to encoder: any Encoder) throws { try encoder.single(nanoseconds) }
}

extension Presence: Codable {
    public init(from decoder: any Decoder) throws { self = try decoder.word("presence", Self.init(wireName:)) }
    public func encode(to encoder: any Encoder) throws { try encoder.single(wireName) }
}

extension SystemPressure: Codable {
    public init(from decoder: any Decoder) throws { self = try decoder.word("pressure", Self.init(wireName:)) }
    public func encode(to encoder: any Encoder) throws { try encoder.single(wireName) }
}

extension Cause: Codable {
    public init(from decoder: any Decoder) throws { self = try decoder.word("cause", Self.init(wireName:)) }
    public func encode(to encoder: any Encoder) throws { try encoder.single(wireName) }
}

extension Interrupter: Codable {
    public init(from decoder: any Decoder) throws { self = try decoder.word("app", Self.init(wireName:)) }
    public func encode(to encoder: any Encoder) throws { try encoder.single(wireName) }
}

extension CauseSet: Codable {
    public init(from decoder: any Decoder) throws { self.init(try decoder.single([Cause].self)) }
    public func encode(to encoder: any Encoder) throws { try encoder.single(ordered) }
}

extension Access: Codable {
    public init(from decoder: any Decoder) throws {
        self = .none
        for name in try decoder.single([String].self) {
            guard let right = Access(name: name) else { throw decoder.wrong("no right") }
            insert(right)
        }
    }
    public func encode(to encoder: any Encoder) throws { try encoder.single(names) }
}

extension Configuration: Codable {
    public init(from decoder: any Decoder) throws {
        self.init()
        let members = try decoder.container(keyedBy: Key.self)
        for key in members.allKeys { self[key.key] = try members.decode(ConfigurationValue.self, forKey: key) }
    }

    public func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Key.self)
        for (key, value) in ordered { try members.encode(value, forKey: Key(key: key)) }
    }

    private struct Key: CodingKey {
        var key: ConfigurationKey
        var stringValue: String { key.rawValue }
        var intValue: Int? { nil }
        init(key: ConfigurationKey) { self.key = key }
        init?(stringValue: String) {
            guard let key = ConfigurationKey(rawValue: stringValue) else { return nil }
            self.key = key
        }
        init?(intValue: Int) { nil }
    }
}

extension ConfigurationValue: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let flag = try? container.decode(Bool.self) {
            self = .flag(flag)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let numbers = try? container.decode([Double].self),
            let value = ConfigurationValue(numbers: numbers, of: numbers.count == 2 ? .point : .gains)
        {
            self = value
        } else {
            self = .text(try container.decode(String.self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        switch self {
        case .text(let text): try encoder.single(text)
        case .number(let number): try encoder.single(number)
        case .flag(let flag): try encoder.single(flag)
        case .point, .gains: try encoder.single(numbers)
        }
    }
}
