/// Any `Encodable` value as JSON, without Foundation: members in the order in which they are encoded. For snapshots of
/// the core, whose state is all structs and enums with synthesized members: what is added there is in the next snapshot
/// without anybody's doing. Whole numbers beyond `Int64` become text of digits, which `JSONDecoding` reads back; a
/// reader of JSON would round them.
package enum JSONEncoding {
    package static func json(of value: some Encodable) throws -> JSON {
        let place = Place()
        try value.encode(to: JSONEncoder(place: place, codingPath: []))
        return place.json
    }

    /// On one line, of a value that can always be encoded.
    package static func text(of value: some Encodable) -> String {
        do { return try json(of: value).text } catch { preconditionFailure("\(type(of: value)): \(error)") }
    }
}

/// An object of JSON by its members, in this order; each value is written by the encoder, and nil is null.
package struct JSONObject: Encodable, ExpressibleByDictionaryLiteral {
    private let members: [(String, any Encodable)]

    package init(dictionaryLiteral members: (String, any Encodable)...) { self.init(members) }
    package init(_ members: [(String, any Encodable)]) { self.members = members }

    package func adding(_ other: JSONObject) -> JSONObject { JSONObject(members + other.members) }

    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    package func encode(to encoder: any Encoder) throws {
        var object = encoder.container(keyedBy: Name.self)
        for (key, value) in members { try object.encode(value, forKey: Name(stringValue: key)) }
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

/// A value that is being put together.
private final class Place {
    private enum Content {
        case nothing
        case value(JSON)
        case object([(key: String, place: Place)])
        case array([Place])
    }
    private var content = Content.nothing

    var json: JSON {
        switch content {
        case .nothing: .null
        case .value(let value): value
        case .object(let members): .object(members.map { JSON.Member(key: $0.key, value: $0.place.json) })
        case .array(let places): .array(places.map(\.json))
        }
    }

    var count: Int { if case .array(let places) = content { places.count } else { 0 } }
    func set(_ value: JSON) { content = .value(value) }
    func beObject() { if case .object = content {} else { content = .object([]) } }
    func beArray() { if case .array = content {} else { content = .array([]) } }

    func member(_ key: String) -> Place {
        let place = Place()
        if case .object(var members) = content {
            // Let go of first, so that appending does not copy.
            content = .nothing
            members.append((key, place))
            content = .object(members)
        }
        return place
    }

    func element() -> Place {
        let place = Place()
        if case .array(var places) = content {
            content = .nothing
            places.append(place)
            content = .array(places)
        }
        return place
    }
}

private struct JSONEncoder: Encoder {
    let place: Place
    let codingPath: [any CodingKey]
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        place.beObject()
        return KeyedEncodingContainer(Members<Key>(place: place, codingPath: codingPath))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        place.beArray()
        return Elements(place: place, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(place: place, codingPath: codingPath) }
}

extension Place {
    func put(_ value: some Encodable, _ path: [any CodingKey]) throws {
        switch value {
        case let flag as Bool: set(.bool(flag))
        case let text as String: set(.string(text))
        case let number as Double: set(.number(number))
        case let number as any FixedWidthInteger: set(JSON.exact(number))
        default: try value.encode(to: JSONEncoder(place: self, codingPath: path))
        }
    }
}

extension JSON {
    /// A whole number as it is, or as text of digits where it does not fit into `Int64`.
    package static func exact(_ number: some BinaryInteger) -> JSON {
        Int64(exactly: number).map { .integer($0) } ?? .string(String(number))
    }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let place: Place
    let codingPath: [any CodingKey]

    mutating func encodeNil(forKey key: Key) { place.member(key.stringValue).set(.null) }
    mutating func encode(_ value: some Encodable, forKey key: Key) throws {
        try place.member(key.stringValue).put(value, codingPath + [key])
    }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        JSONEncoder(place: place.member(key.stringValue), codingPath: codingPath + [key]).container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        JSONEncoder(place: place.member(key.stringValue), codingPath: codingPath + [key]).unkeyedContainer()
    }
    mutating func superEncoder() -> any Encoder { JSONEncoder(place: place.member("super"), codingPath: codingPath) }
    mutating func superEncoder(forKey key: Key) -> any Encoder {
        JSONEncoder(place: place.member(key.stringValue), codingPath: codingPath + [key])
    }
}

private struct Elements: UnkeyedEncodingContainer {
    let place: Place
    let codingPath: [any CodingKey]
    var count: Int { place.count }
    mutating func encodeNil() { place.element().set(.null) }
    mutating func encode(_ value: some Encodable) throws { try place.element().put(value, codingPath) }
    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        JSONEncoder(place: place.element(), codingPath: codingPath).container(keyedBy: type)
    }
    mutating func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        JSONEncoder(place: place.element(), codingPath: codingPath).unkeyedContainer()
    }
    mutating func superEncoder() -> any Encoder { JSONEncoder(place: place.element(), codingPath: codingPath) }
}

private struct Single: SingleValueEncodingContainer {
    let place: Place
    let codingPath: [any CodingKey]

    mutating func encodeNil() { place.set(.null) }
    mutating func encode(_ value: some Encodable) throws { try place.put(value, codingPath) }
}
