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
    func reader(_ key: String) -> WireReader { WireReader(place, dictionary[key].map { [$0] } ?? []) }
    public func has(_ key: String) -> Bool { dictionary[key] != nil }

    package func read<Value: WireType>(_ key: String, as type: Value.Type = Value.self) throws(BrokerError) -> Value {
        var reader = reader(key)
        return try Value.read(key, &reader)
    }
}
