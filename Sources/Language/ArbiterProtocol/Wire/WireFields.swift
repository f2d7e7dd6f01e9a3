/// Reads the entries of one dictionary by key, with errors that name the place, the key and what is allowed.
package struct WireFields {
    private let place: String
    private let dictionary: WireDictionary

    package init(_ place: String, _ dictionary: WireDictionary) { (self.place, self.dictionary) = (place, dictionary) }

    package func has(_ key: String) -> Bool { dictionary[key] != nil }

    package func read<Value: WireType>(_ key: String, as type: Value.Type = Value.self) throws(BrokerError) -> Value {
        var reader = WireReader(place, dictionary[key].map { [$0] } ?? [])
        return try reader.read(key)
    }
}
