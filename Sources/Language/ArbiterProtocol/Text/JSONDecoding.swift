/// Any `Decodable` value from JSON that `JSONEncoding` wrote, without Foundation.
package enum JSONDecoding {
    /// - Parameter userInfo: values that are not in the JSON.
    /// - Throws: a sentence with the place of a value that is missing or has another type.
    package static func value<Value: Decodable>(
        _ type: Value.Type, from json: JSON, userInfo: [CodingUserInfoKey: any Sendable] = [:]
    ) throws(Problem) -> Value {
        do {
            return try JSONDecoder(json: json, codingPath: [], values: userInfo).decode(type)
        } catch let problem as Problem {
            throw problem
        } catch let error as DecodingError {
            throw Problem(error)
        } catch {
            throw Problem(message: "\(error)")
        }
    }

    package struct Problem: Error { package var message: String }
}

extension JSONDecoding.Problem {
    fileprivate init(_ path: [any CodingKey], _ what: String) {
        let words = path.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
        let place = String(words.joined().drop { $0 == "." })
        message = place.isEmpty ? what : "\(place) \(what)"
    }

    fileprivate init(_ error: DecodingError) {
        switch error {
        case .typeMismatch(_, let context), .valueNotFound(_, let context), .dataCorrupted(let context):
            self.init(context.codingPath, "is not what belongs there")
        case .keyNotFound(let key, let context): self.init(context.codingPath + [key], "is missing")
        @unknown default: self.init([], "is not what belongs there")
        }
    }
}

private struct JSONDecoder: Decoder, SingleValueDecodingContainer {
    let json: JSON
    let codingPath: [any CodingKey]
    let values: [CodingUserInfoKey: any Sendable]
    var userInfo: [CodingUserInfoKey: Any] { values }

    func problem(_ what: String) -> JSONDecoding.Problem { JSONDecoding.Problem(codingPath, what) }

    func inside(_ json: JSON, _ key: any CodingKey) -> JSONDecoder {
        JSONDecoder(json: json, codingPath: codingPath + [key], values: values)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard let members = json.members else { throw problem("is not an object") }
        return KeyedDecodingContainer(Members<Key>(decoder: self, members: members))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard let elements = json.array else { throw problem("is not a list") }
        return Elements(decoder: self, elements: elements)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
    func decodeNil() -> Bool { json == .null }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let found: Any?
        switch type {
        case is Bool.Type: found = json.bool
        case is String.Type: found = json.string
        case is Double.Type: found = json.number
        case let integer as any (FixedWidthInteger & Decodable).Type: found = integer.exactly(json)
        default: return try Value(from: self)
        }
        guard let value = found as? Value else { throw problem("is not what belongs there") }
        return value
    }
}

extension FixedWidthInteger {
    fileprivate static func exactly(_ json: JSON) -> Self? {
        // Digits in quotation marks only for what is beyond JSON's own numbers.
        if let text = json.string { return Int64(text) == nil ? Self(text) : nil }
        return json.integer.flatMap { Self(exactly: $0) }
    }
}

extension JSON {
    /// A whole number from 0, written by `exact`.
    package var count: UInt64? { UInt64.exactly(self) }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let decoder: JSONDecoder
    let members: [JSON.Member]
    var codingPath: [any CodingKey] { decoder.codingPath }
    var allKeys: [Key] { members.compactMap { Key(stringValue: $0.key) } }

    private func find(_ key: Key) throws -> JSONDecoder {
        guard let value = members.last(where: { $0.key == key.stringValue })?.value else {
            throw JSONDecoding.Problem(codingPath + [key], "is missing")
        }
        return decoder.inside(value, key)
    }

    func contains(_ key: Key) -> Bool { members.contains { $0.key == key.stringValue } }
    func decodeNil(forKey key: Key) throws -> Bool { try find(key).json == .null }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value { try find(key).decode(type) }
    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try find(key).container(keyedBy: type) }
    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try find(key).unkeyedContainer()
    }
    func superDecoder() throws -> any Decoder { throw decoder.problem("has no class above it") }
    func superDecoder(forKey key: Key) throws -> any Decoder { try find(key) }
}

private struct Elements: UnkeyedDecodingContainer {
    let decoder: JSONDecoder
    let elements: [JSON]
    private(set) var currentIndex = 0
    var codingPath: [any CodingKey] { decoder.codingPath }
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private mutating func next() throws -> JSONDecoder {
        guard !isAtEnd else { throw decoder.problem("has too few elements") }
        defer { currentIndex += 1 }
        return decoder.inside(elements[currentIndex], JSONKey(intValue: currentIndex))
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }
    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try next().decode(type) }
    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> { try next().container(keyedBy: type) }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }
}
