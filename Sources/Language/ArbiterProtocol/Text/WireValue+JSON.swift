extension WireValue {
    package var json: JSON {
        switch self {
        case .boolean(let flag): .bool(flag)
        case .int32, .uint32, .int64: .integer(int64 ?? 0)
        case .uint64(let number): .count(number)
        case .double(let number): .number(number)
        case .string(let text), .objectPath(let text): .string(text)
        case .fileDescriptor(let number): .integer(Int64(number))
        case .array(_, let values), .structure(let values): .array(values.map(\.json))
        case .dictionary(let dictionary): dictionary.json
        }
    }

    /// What stands on the wire for a figure that nobody knows, by its type.
    private static let unknown: [String: WireValue] = [
        "t": .uint64(UnknownFigure.count), "x": .int64(UnknownFigure.nanoseconds),
    ]

    /// As `json`; a figure that nobody knows is null.
    package var knownJSON: JSON { self == Self.unknown[signature] ? .null : json }

    /// A value of D-Bus type `type`, as far as session events have such types.
    package init?(json: JSON, type: String) {
        switch (type, json) {
        case (_, .null):
            guard let unknown = Self.unknown[type] else { return nil }
            self = unknown
        case ("b", .bool(let flag)): self = .boolean(flag)
        case ("s", .string(let text)): self = .string(text)
        case ("t", .integer(let number)):
            guard let number = UInt64(exactly: number) else { return nil }
            self = .uint64(number)
        case ("u", .integer(let number)):
            guard let number = UInt32(exactly: number) else { return nil }
            self = .uint32(number)
        case ("x", .integer(let number)): self = .int64(number)
        case ("d", _):
            guard let number = json.number else { return nil }
            self = .double(number)
        case ("as", .array(let values)):
            let strings = values.compactMap(\.string)
            guard strings.count == values.count else { return nil }
            self = .strings(strings)
        case ("a{sv}", .object(let members)):
            var dictionary = WireDictionary()
            for member in members {
                switch member.value {
                case .bool(let flag): dictionary[member.key] = .boolean(flag)
                case .integer(let number): dictionary[member.key] = .int64(number)
                case .number(let number): dictionary[member.key] = .double(number)
                case .string(let text): dictionary[member.key] = .string(text)
                case .array(let parts):
                    // A configuration's points and gains.
                    let numbers = parts.compactMap(\.number)
                    guard numbers.count == parts.count else { return nil }
                    dictionary[member.key] = .structure(of: numbers)
                case .null, .object: return nil
                }
            }
            self = .dictionary(dictionary)
        default: return nil
        }
    }
}

extension WireDictionary {
    package var json: JSON { .object(entries.map { JSON.Member(key: $0.key, value: $0.value.json) }) }
    package var object: JSONObject { JSONObject(entries.map { ($0.key, $0.value.json) }) }
}
