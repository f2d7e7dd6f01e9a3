/// Takes the entries of a dictionary `a{sv}`, one after the other: a message, or a `WireDictionary`.
package protocol WireEntries {
    mutating func add(_ key: String, _ value: Bool)
    mutating func add(_ key: String, _ value: UInt32)
    mutating func add(_ key: String, _ value: UInt64)
    mutating func add(_ key: String, _ value: Int64)
    mutating func add(_ key: String, _ value: String)
    mutating func add(_ key: String, _ texts: [String])
    mutating func add<Record: WireRecord>(_ key: String, each records: [Record])
}

/// What travels as a dictionary. It names its entries once, for a message that is written without making the dictionary
/// first as much as for the dictionary.
package protocol WireRecord {
    /// Adds every entry, each key once.
    func addEntries(to entries: inout some WireEntries)
}

extension WireRecord {
    package var wire: WireDictionary {
        var dictionary = WireDictionary()
        addEntries(to: &dictionary)
        return dictionary
    }
}

extension WireDictionary: WireEntries {
    package mutating func add(_ key: String, _ value: Bool) { append(key, .boolean(value)) }
    package mutating func add(_ key: String, _ value: UInt32) { append(key, .uint32(value)) }
    package mutating func add(_ key: String, _ value: UInt64) { append(key, .uint64(value)) }
    package mutating func add(_ key: String, _ value: Int64) { append(key, .int64(value)) }
    package mutating func add(_ key: String, _ value: String) { append(key, .string(value)) }
    package mutating func add(_ key: String, _ texts: [String]) { append(key, .strings(texts)) }
    package mutating func add<Record: WireRecord>(_ key: String, each records: [Record]) {
        append(key, .dictionaries(records.map(\.wire)))
    }
}
