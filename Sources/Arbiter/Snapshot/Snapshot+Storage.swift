/// A map as a list of pairs, in the order of its keys: two snapshots of one state are one text.
extension SmallMap: Encodable where Key: Encodable & Comparable, Value: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var pairs = encoder.unkeyedContainer()
        for (key, value) in sorted(by: { $0.key < $1.key }) {
            var pair = pairs.nestedUnkeyedContainer()
            try pair.encode(key)
            try pair.encode(value)
        }
    }
}

extension SmallMap: Decodable where Key: Decodable & Comparable, Value: Decodable {
    public init(from decoder: any Decoder) throws {
        self.init()
        var pairs = try decoder.unkeyedContainer()
        while !pairs.isAtEnd {
            var pair = try pairs.nestedUnkeyedContainer()
            let key = try pair.decode(Key.self)
            guard self[key] == nil, let value = Optional(try pair.decode(Value.self)), pair.isAtEnd else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: pairs.codingPath, debugDescription: "an entry is no pair, or there twice"))
            }
            self[key] = value
        }
    }
}

/// What a snapshot does with a value behind a reference.
protocol Kept {
    func keep(in encoder: any Encoder) throws
    static func kept(in decoder: any Decoder) throws -> Self
}

extension Shared: Codable where Value: Kept {
    func encode(to encoder: any Encoder) throws { try value.keep(in: encoder) }
    init(from decoder: any Decoder) throws { self.init(try Value.kept(in: decoder)) }
}

extension Stamped: Codable where Value: Kept {
    func encode(to encoder: any Encoder) throws { try value.keep(in: encoder) }
    init(from decoder: any Decoder) throws { self.init(try Value.kept(in: decoder)) }
}

extension World: Kept {
    func keep(in encoder: any Encoder) throws { try encode(to: encoder) }
    static func kept(in decoder: any Decoder) throws -> World { try World(from: decoder) }
}

/// The policy stands beside the snapshot, and its reader passes it under `CodingUserInfoKey.policy`.
extension Policy: Kept {
    func keep(in encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encodeNil()
    }

    static func kept(in decoder: any Decoder) throws -> Policy {
        guard let policy = decoder.userInfo[.policy] as? Policy else {
            throw DecodingError.dataCorrupted(
                .init(codingPath: decoder.codingPath, debugDescription: "a snapshot is read with its policy"))
        }
        return policy
    }
}
