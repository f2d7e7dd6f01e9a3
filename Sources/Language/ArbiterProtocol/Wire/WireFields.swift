/// Reads the entries of one dictionary by key, with errors that name the place, the key and what is allowed.
public struct WireFields {
    private let place: String
    private let dictionary: WireDictionary

    /// - Parameter place: what errors call the dictionary, such as `cameras[0]`.
    public init(_ place: String, _ dictionary: WireDictionary) {
        self.place = place
        self.dictionary = dictionary
    }

    /// The entry as a reader of one argument, so that both read alike.
    private func reader(_ key: String) -> WireReader { WireReader(place, dictionary[key].map { [$0] } ?? []) }
    public func has(_ key: String) -> Bool { dictionary[key] != nil }

    public func string(_ key: String) throws(BrokerError) -> String {
        var reader = reader(key)
        return try reader.string(key)
    }

    func anyString(_ key: String) throws(BrokerError) -> String? {
        var reader = reader(key)
        return try reader.anyString(key)
    }

    public func strings(_ key: String) throws(BrokerError) -> [String] {
        var reader = reader(key)
        return try reader.strings(key)
    }

    public func boolean(_ key: String) throws(BrokerError) -> Bool {
        var reader = reader(key)
        return try reader.boolean(key)
    }

    public func uint32(_ key: String) throws(BrokerError) -> UInt32 {
        var reader = reader(key)
        return try reader.uint32(key)
    }

    public func uint64(_ key: String) throws(BrokerError) -> UInt64 {
        var reader = reader(key)
        return try reader.uint64(key)
    }

    public func int64(_ key: String) throws(BrokerError) -> Int64 {
        var reader = reader(key)
        return try reader.int64(key)
    }

    public func dictionary(_ key: String) throws(BrokerError) -> WireDictionary {
        var reader = reader(key)
        return try reader.dictionary(key)
    }

    public func dictionaries(_ key: String) throws(BrokerError) -> [WireDictionary] {
        var reader = reader(key)
        return try reader.dictionaries(key)
    }

    func records<Record>(
        _ key: String, _ read: (WireFields) throws(BrokerError) -> Record
    ) throws(BrokerError) -> [Record] {
        var reader = reader(key)
        return try reader.records(key, read)
    }

    public func causes(_ key: String) throws(BrokerError) -> CauseSet {
        var reader = reader(key)
        return try reader.causes(key)
    }

    public func access(_ key: String) throws(BrokerError) -> Access {
        var reader = reader(key)
        return try reader.access(key)
    }

    public func word<T: CaseIterable & RawRepresentable>(
        _ key: String, as type: T.Type = T.self
    ) throws(BrokerError) -> T where T.RawValue == String {
        var reader = reader(key)
        return try reader.word(key, as: type)
    }
}

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
