/// Any `Encodable` value as JSON, without Foundation: members in the order in which they are encoded, as snapshots of the core
/// need them. Whole numbers beyond `Int64` become text of digits, which `JSONDecoding` reads back; a reader of JSON rounds them.
package enum JSONEncoding {
    package static func json(of value: some Encodable) throws -> JSON {
        let slot = Slot()
        try slot.encode(value)
        return slot.json
    }

    /// On one line; `value` must not throw.
    package static func text(of value: some Encodable) -> String {
        do { return try json(of: value).text } catch { preconditionFailure("\(type(of: value)): \(error)") }
    }
}

/// An object of JSON with its members in this order; the encoder writes each value, and `nil` is `null`.
package struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private let members: [(String, any Encodable)]

    package init(dictionaryLiteral members: (String, any Encodable)...) { self.init(members) }
    package init(_ members: [(String, any Encodable)]) { self.members = members }

    package func adding(_ other: JSONObject) -> JSONObject { JSONObject(members + other.members) }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: JSONKey.self)
        for (key, value) in members { try object.encode(value, forKey: JSONKey(stringValue: key)) }
    }
}

extension JSON: Encodable {
    package func encode(to encoder: any Encoder) throws {
        var value = encoder.singleValueContainer()
        switch self {
        case .null: try value.encodeNil()
        case .bool(let flag): try value.encode(flag)
        case .integer(let number): try value.encode(number)
        case .number(let number): try value.encode(number)
        case .string(let text): try value.encode(text)
        case .array(let values): try value.encode(values)
        case .object(let members): try value.encode(JSONObject(members.map { ($0.key, $0.value) }))
        }
    }
}

struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?
    init(stringValue: String) { (self.stringValue, intValue) = (stringValue, nil) }
    init(intValue: Int) { (stringValue, self.intValue) = (String(intValue), intValue) }
}

extension JSON {
    /// A whole number as it is, or as text of digits where it does not fit into `Int64`.
    package static func exact(_ number: some BinaryInteger) -> JSON {
        Int64(exactly: number).map { .integer($0) } ?? .string(String(number))
    }
}

private final class Slot: Encoder, SingleValueEncodingContainer {
    private enum Content {
        case value(JSON)
        case object([(key: String, slot: Slot)])
        case array([Slot])
    }
    private var content = Content.value(.null)
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    var json: JSON {
        switch content {
        case .value(let value): value
        case .object(let members): .object(members.map { JSON.Member(key: $0.key, value: $0.slot.json) })
        case .array(let slots): .array(slots.map(\.json))
        }
    }

    var count: Int { if case .array(let slots) = content { slots.count } else { 0 } }

    func member(_ key: some CodingKey) -> Slot {
        let slot = Slot()
        if case .object(var members) = content {
            // Let go of first, so that appending does not copy.
            content = .value(.null)
            members.append((key.stringValue, slot))
            content = .object(members)
        }
        return slot
    }

    func element() -> Slot {
        let slot = Slot()
        if case .array(var slots) = content {
            content = .value(.null)
            slots.append(slot)
            content = .array(slots)
        }
        return slot
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        if case .object = content {} else { content = .object([]) }
        return KeyedEncodingContainer(Members<Key>(slot: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array = content {} else { content = .array([]) }
        return Elements(slot: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
    func encodeNil() { content = .value(.null) }

    func encode(_ value: some Encodable) throws {
        switch value {
        case let flag as Bool: content = .value(.bool(flag))
        case let text as String: content = .value(.string(text))
        case let number as Double: content = .value(.number(number))
        case let number as any FixedWidthInteger: content = .value(.exact(number))
        default: try value.encode(to: self)
        }
    }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let slot: Slot
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { slot.member(key).encodeNil() }
    func encode(_ value: some Encodable, forKey key: Key) throws { try slot.member(key).encode(value) }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { slot.member(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { slot.member(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { slot.member(JSONKey(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { slot.member(key) }
}

private struct Elements: UnkeyedEncodingContainer {
    let slot: Slot
    var codingPath: [any CodingKey] { [] }
    var count: Int { slot.count }

    func encodeNil() { slot.element().encodeNil() }
    func encode(_ value: some Encodable) throws { try slot.element().encode(value) }
    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        slot.element().container(keyedBy: type)
    }
    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { slot.element().unkeyedContainer() }
    func superEncoder() -> any Encoder { slot.element() }
}
