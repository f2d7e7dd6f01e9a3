/// A value that travels as a dictionary, or as the arguments of a signal. Its fields are its one description: it is written and
/// read by them, is JSON by them, and has its table in `docs/wire.md` from them.
package protocol Described: WireElement {
    init()
    static var fields: [Field<Self>] { get }
}

extension Described {
    /// A value of which `fill` sets what is not as usual.
    package init<Failure: Error>(_ fill: (inout Self) throws(Failure) -> Void) throws(Failure) {
        self.init()
        try fill(&self)
    }

    package static var wireType: String { "a{sv}" }
    package var wireValue: WireValue { .dictionary(wire) }

    package var wire: WireDictionary {
        var dictionary = WireDictionary()
        for field in Self.fields { if let value = field.value(self) { dictionary.append(field.name, value) } }
        return dictionary
    }

    package var json: JSON {
        .object(
            Self.fields.compactMap { field in
                field.json.map { JSON.Member(key: $0.key, value: $0.value(self)) }
            })
    }

    /// - Throws: `.invalidArguments`, naming the place, the key and what it takes. Keys that are not known are passed over.
    package init(_ entries: WireFields) throws(BrokerError) {
        self.init()
        for field in Self.fields where entries.has(field.name) || !field.mayLack(in: entries) {
            var reader = entries.reader(field.name)
            try field.read(&self, &reader)
        }
    }

    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Self {
        try Self(WireFields(name, try reader.dictionary(name)))
    }

    package static func readList(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> [Self] {
        var list: [Self] = []
        for (index, entries) in try reader.dictionaries(name).enumerated() {
            list.append(try Self(WireFields("\(name)[\(index)]", entries)))
        }
        return list
    }

    // MARK: As a signal's arguments

    package static var arguments: [Interface.Argument] { fields.map { Interface.Argument($0.name, $0.type) } }
    package var wireArguments: [WireValue] { Self.fields.compactMap { $0.value(self) } }

    package init(arguments reader: inout WireReader) throws(BrokerError) {
        self.init()
        for field in Self.fields { try field.read(&self, &reader) }
    }
}

/// One entry of a value that travels.
package struct Field<Owner>: Sendable {
    package let name: String
    /// Its D-Bus signature; empty: it is in JSON alone.
    package let type: String
    /// For the table in `docs/wire.md`.
    package let meaning: String
    /// Nil: it is left out.
    package let value: @Sendable (Owner) -> WireValue?
    fileprivate let read: @Sendable (inout Owner, inout WireReader) throws(BrokerError) -> Void
    /// Nil: it is on the wire alone.
    fileprivate let json: JSONMember?
    /// The keys that an older peer lacks together with this one; nil: it has to be there.
    fileprivate let since: String?

    fileprivate struct JSONMember: Sendable {
        var key: String
        var value: @Sendable (Owner) -> JSON

        /// - Parameter key: `""`: there is none.
        init?(_ key: String, _ value: @escaping @Sendable (Owner) -> JSON) {
            if key.isEmpty { return nil }
            (self.key, self.value) = (key, value)
        }
    }

    fileprivate func mayLack(in entries: WireFields) -> Bool { since.map { !entries.has($0) } ?? false }
}

extension Field {
    /// - Parameters:
    ///   - since: the key that an older peer lacks together with this one.
    ///   - json: its key in JSON, where that is another one; `""`: it is not there.
    package init<Value: WireType>(
        _ name: String, _ path: any WritableKeyPath<Owner, Value> & Sendable, since: String? = nil, json: String? = nil,
        _ meaning: String = ""
    ) {
        self.init(
            name: name, type: Value.wireType, meaning: meaning, value: { $0[keyPath: path].wireValue },
            read: { (owner, reader) throws(BrokerError) in owner[keyPath: path] = try Value.read(name, &reader) },
            json: JSONMember(json ?? name) { $0[keyPath: path].json }, since: since)
    }

    /// One that is left out where there is none.
    package static func ifAny<Value: WireType>(
        _ name: String, _ path: any WritableKeyPath<Owner, Value?> & Sendable, json: String? = nil,
        _ meaning: String = ""
    ) -> Field {
        Field(
            name: name, type: Value.wireType, meaning: meaning, value: { $0[keyPath: path]?.wireValue },
            read: { (owner, reader) throws(BrokerError) in owner[keyPath: path] = try Value.read(name, &reader) },
            json: JSONMember(json ?? name) { $0[keyPath: path]?.json ?? .null }, since: name)
    }

    /// One that follows from others: it is written, and not read.
    package static func following<Value: WireType>(
        _ name: String, json: String? = nil, _ meaning: String, _ value: @escaping @Sendable (Owner) -> Value
    ) -> Field {
        Field(
            name: name, type: Value.wireType, meaning: meaning, value: { value($0).wireValue }, read: { _, _ in },
            json: JSONMember(json ?? name) { value($0).json }, since: name)
    }

    /// One that follows from others, in JSON alone.
    package static func inJSON(_ name: String, _ value: @escaping @Sendable (Owner) -> JSON) -> Field {
        Field(
            name: name, type: "", meaning: "", value: { _ in nil }, read: { _, _ in }, json: JSONMember(name, value),
            since: name)
    }
}
