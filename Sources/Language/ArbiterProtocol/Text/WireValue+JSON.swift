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

    /// The value on the wire for an unknown figure, by its type.
    private static let unknown: [String: WireValue] = [
        "t": .uint64(UnknownFigure.count), "x": .int64(UnknownFigure.nanoseconds),
    ]

    /// As `json`, with `null` for an unknown figure.
    package var knownJSON: JSON { self == Self.unknown[signature] ? .null : json }

    /// A value of D-Bus type `type`, as far as session events have such types.
    package init?(json: JSON, type: String) {
        let found: WireValue? =
            switch (type, json) {
            case (_, .null): Self.unknown[type]
            case ("b", .bool), ("s", .string), ("x", .integer), ("a{sv}", .object): WireValue(json)
            case ("t", _): json.count.map { .uint64($0) }
            case ("u", .integer(let number)): UInt32(exactly: number).map { .uint32($0) }
            case ("d", _): json.number.map { .double($0) }
            case ("as", .array(let values)):
                values.allSatisfy { $0.string != nil } ? .strings(values.compactMap(\.string)) : nil
            default: nil
            }
        guard let found else { return nil }
        self = found
    }

    /// As far as JSON tells types apart; `nil` for `null`.
    package init?(_ json: JSON) {
        switch json {
        case .null: return nil
        case .bool(let flag): self = .boolean(flag)
        case .integer(let number): self = .int64(number)
        case .number(let number): self = .double(number)
        case .string(let text): self = .string(text)
        case .array(let values): self = .array(type: "v", values.compactMap { WireValue($0) })
        case .object(let members):
            var wire = WireDictionary()
            for member in members { if let value = WireValue(member.value) { wire.append(member.key, value) } }
            self = .dictionary(wire)
        }
    }
}

extension WireDictionary {
    package var json: JSON { .object(entries.map { JSON.Member(key: $0.key, value: $0.value.json) }) }
    package var object: JSONObject { JSONObject(entries.map { ($0.key, $0.value.json) }) }
}
