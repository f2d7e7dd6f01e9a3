/// A value that travels as a dictionary, or as the arguments of a signal. Its fields are its one description: it is written and
/// read by them, is JSON by them, and has its table in `docs/wire.md` from them.
package protocol Described: WireElement, Equatable {
    init()
    static var fields: [Field<Self>] { get }

    /// Keys that are not known are passed over.
    /// - Parameter place: what errors call it.
    init(_ wire: WireDictionary, at place: String) throws(BrokerError)
}

extension Described {
    /// A value of which `fill` sets what is not as usual.
    package init<Failure: Error>(_ fill: (inout Self) throws(Failure) -> Void) throws(Failure) {
        self.init()
        try fill(&self)
    }

    package static var wireType: String { WireDictionary.wireType }
    package static var allowed: String { WireDictionary.allowed }
    package static var allowedList: String { WireDictionary.allowedList }
    package var wireValue: WireValue { .dictionary(wire) }

    package var wire: WireDictionary {
        var dictionary = WireDictionary()
        let fields = Self.fields
        // By places: a copy of a field counts references to all that it is made of.
        for place in fields.indices {
            if let value = fields[place].value(self) { dictionary.append(fields[place].name, value) }
        }
        return dictionary
    }

    package var json: JSON {
        .object(
            Self.fields.compactMap { field in
                field.json.map { JSON.Member(key: $0.key, value: $0.value(self)) }
            })
    }

    /// Those that are not in JSON alone.
    package static var wireFields: [Field<Self>] { fields.filter { !$0.type.isEmpty } }
    package static var keys: [String] { wireFields.map(\.name) }

    package static func allowed(_ key: String) -> String { fields.first { $0.name == key }?.allowed ?? "" }

    package func entry(_ name: String) -> WireValue? { Self.fields.first { $0.name == name }?.value(self) }

    /// The fields that have another value than they had.
    package func changes(since before: Self) -> [Field<Self>] { Self.fields.filter { !$0.isSame(self, before) } }

    package init(_ wire: WireDictionary, at place: String) throws(BrokerError) {
        self.init()
        for field in Self.fields where wire[field.name] != nil || !field.mayLack(in: wire) {
            var reader = WireReader(place, wire[field.name].map { [$0] } ?? [])
            try reader.take(field, into: &self)
        }
    }

    package static func read(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> Self? {
        try wire.dictionary.map { (wire) throws(BrokerError) in try Self(wire, at: place.name) }
    }

    package static func readList(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> [Self]? {
        guard let dictionaries = wire.list(\.dictionary) else { return nil }
        var list: [Self] = []
        for (index, wire) in dictionaries.enumerated() { list.append(try Self(wire, at: "\(place.name)[\(index)]")) }
        return list
    }
}

/// As a signal's arguments.
extension Described {
    package static var arguments: [Interface.Argument] { wireFields.map { Interface.Argument($0.name, $0.type) } }
    package var wireArguments: [WireValue] { Self.fields.compactMap { $0.value(self) } }

    package init(arguments reader: inout WireReader) throws(BrokerError) {
        self.init()
        for field in Self.wireFields { try reader.take(field, into: &self) }
    }
}

/// As what another side asks for or says of a camera: the first entry that is wrong is refused with what it takes.
extension Described {
    /// - Parameters:
    ///   - subject: what stands before a key in a sentence: `formats[2]: `.
    ///   - unknown: the refusal of a key that is not known; nil: it is passed over.
    package init(
        checking wire: WireDictionary, _ subject: String = "", as kind: BrokerError.Kind = .invalidValue,
        unknown: ((WireDictionary.Entry) -> String)? = nil
    ) throws(BrokerError) {
        func refusal(_ field: Field<Self>) -> BrokerError {
            let given = wire[field.name]?.sentence ?? "missing"
            return BrokerError(kind, "\(subject)\(field.name) is \(given); it takes \(field.allowed).")
        }
        self.init()
        for entry in wire.entries {
            guard let field = Self.fields.first(where: { $0.name == entry.key && !$0.type.isEmpty }) else {
                if let unknown { throw BrokerError(kind, unknown(entry)) }
                continue
            }
            guard try field.take(&self, entry.value, WirePlace(message: "", name: field.name)) else {
                throw refusal(field)
            }
        }
        for field in Self.fields where wire[field.name] == nil && !field.mayLack(in: wire) { throw refusal(field) }
    }
}

package struct Field<Owner>: Sendable {
    package let key: WireKey
    package var name: String { key.name }
    package var type: String { key.type }
    /// What it takes, as a sentence says it.
    package let allowed: String
    /// For the table in `docs/wire.md`.
    package let meaning: String
    /// Nil: it is left out.
    package let value: @Sendable (Owner) -> WireValue?
    /// - Returns: false for what it does not take.
    fileprivate let take: @Sendable (inout Owner, WireValue, WirePlace) throws(BrokerError) -> Bool
    fileprivate let isSame: @Sendable (Owner, Owner) -> Bool
    /// Nil: it is on the wire alone.
    fileprivate let json: JSONMember?
    /// The key that an older peer lacks together with this one; nil: it has to be there.
    fileprivate let since: String?
    /// How a change of it is told, where it is a property.
    package private(set) var changes = Interface.Property.Change.told

    fileprivate struct JSONMember: Sendable {
        var key: String
        var value: @Sendable (Owner) -> JSON

        /// - Parameter key: `""`: there is none.
        init?(_ key: String, _ value: @escaping @Sendable (Owner) -> JSON) {
            if key.isEmpty { return nil }
            (self.key, self.value) = (key, value)
        }
    }

    fileprivate func mayLack(in wire: WireDictionary) -> Bool { since.map { wire[$0] == nil } ?? false }
}

extension Field {
    // Inlined, so that the path is known where a value is read: reading by any path costs more than all else of a notice.

    /// - Parameters:
    ///   - since: the key that an older peer lacks together with this one.
    ///   - json: its key in JSON, where that is another one; `""`: it is not there.
    ///   - takes: what a sentence says that it takes, where that is not all of its type.
    @inline(__always)
    package init<Value: WireType & Equatable>(
        _ name: String, _ path: @autoclosure @escaping @Sendable () -> WritableKeyPath<Owner, Value>,
        since: String? = nil, json: String? = nil, _ meaning: String = "", takes: String? = nil,
        where isAllowed: @escaping @Sendable (Value) -> Bool = { _ in true }
    ) {
        self.init(name, { $0[keyPath: path()].wireValue }, path, since, json ?? name, meaning, takes, isAllowed)
    }

    /// - Parameter usual: the value for which it is left out.
    package init<Value: WireType & Equatable>(
        _ name: String, _ path: @autoclosure @escaping @Sendable () -> WritableKeyPath<Owner, Value>,
        unless usual: Value, json: String? = nil, _ meaning: String = "", takes: String? = nil,
        where isAllowed: @escaping @Sendable (Value) -> Bool = { _ in true }
    ) {
        let value: @Sendable (Owner) -> WireValue? = { owner in
            let value = owner[keyPath: path()]
            return value == usual ? nil : value.wireValue
        }
        self.init(name, value, path, name, json ?? name, meaning, takes, isAllowed)
    }

    private init<Value: WireType & Equatable>(
        _ name: String, _ value: @escaping @Sendable (Owner) -> WireValue?,
        _ path: @escaping @Sendable () -> WritableKeyPath<Owner, Value>, _ since: String?, _ json: String,
        _ meaning: String, _ takes: String?, _ isAllowed: @escaping @Sendable (Value) -> Bool
    ) {
        self.init(
            key: WireKey(name, Value.wireType), allowed: takes ?? Value.allowed, meaning: meaning, value: value,
            take: { (owner, wire, place) throws(BrokerError) in
                guard let value = try Value.read(wire, place), isAllowed(value) else { return false }
                owner[keyPath: path()] = value
                return true
            }, isSame: { $0[keyPath: path()] == $1[keyPath: path()] },
            json: JSONMember(json) { $0[keyPath: path()].json }, since: since)
    }

    /// One that is left out where there is none.
    @inline(__always)
    package static func ifAny<Value: WireType & Equatable>(
        _ name: String, _ path: @autoclosure @escaping @Sendable () -> WritableKeyPath<Owner, Value?>,
        json: String? = nil, _ meaning: String = "", takes: String? = nil,
        where isAllowed: @escaping @Sendable (Value) -> Bool = { _ in true }
    ) -> Field {
        Field(
            key: WireKey(name, Value.wireType), allowed: takes ?? Value.allowed, meaning: meaning,
            value: { $0[keyPath: path()]?.wireValue },
            take: { (owner, wire, place) throws(BrokerError) in
                guard let value = try Value.read(wire, place), isAllowed(value) else { return false }
                owner[keyPath: path()] = value
                return true
            }, isSame: { $0[keyPath: path()] == $1[keyPath: path()] },
            json: JSONMember(json ?? name) { $0[keyPath: path()]?.json ?? .null }, since: name)
    }

    /// One that follows from others: it is written, and not read.
    package static func following<Value: WireType>(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (Owner) -> Value
    ) -> Field {
        Field(
            key: WireKey(name, Value.wireType), allowed: "", meaning: meaning, value: { value($0).wireValue },
            take: { _, _, _ in true }, isSame: { _, _ in true }, json: JSONMember(name) { value($0).json }, since: name)
    }

    /// One that follows from others, in JSON alone.
    package static func inJSON(_ name: String, _ value: @escaping @Sendable (Owner) -> JSON) -> Field {
        Field(
            key: WireKey(name, ""), allowed: "", meaning: "", value: { _ in nil }, take: { _, _, _ in true },
            isSame: { _, _ in true }, json: JSONMember(name, value), since: name)
    }

    /// The same as a property whose changes are told so.
    package func changing(_ changes: Interface.Property.Change) -> Field {
        var field = self
        field.changes = changes
        return field
    }
}

/// A key with the type of its value.
package struct WireKey: Sendable {
    package let name: String
    package let type: String
    /// Both as they lie in a message, behind eight bytes' alignment.
    package let bytes: [UInt8]

    fileprivate init(_ name: String, _ type: String) {
        (self.name, self.type) = (name, type)
        var bytes = (0..<4).map { UInt8(truncatingIfNeeded: name.utf8.count >> (8 * $0)) }
        bytes += name.utf8
        bytes += [0, UInt8(type.utf8.count)]
        bytes += type.utf8
        bytes.append(0)
        self.bytes = bytes
    }
}

extension WireReader {
    fileprivate mutating func take<Owner>(_ field: Field<Owner>, into owner: inout Owner) throws(BrokerError) {
        try next(field.name, takes: field.allowed) { (wire, place) throws(BrokerError) in
            try field.take(&owner, wire, place) ? () : nil
        }
    }
}

extension Field {
    /// One that came with a later version, at its message's end.
    @inline(__always)
    package static func later<Value: WireType & Equatable>(
        _ name: String, _ path: @autoclosure @escaping @Sendable () -> WritableKeyPath<Owner, Value>
    ) -> Field { Field(name, path(), since: name) }

    /// One that need not be known.
    /// - Parameters:
    ///   - unknown: stands for it on the wire then.
    ///   - isKnown: whether a value from there is one.
    package static func known<Value: WireType & Equatable>(
        _ name: String, _ path: any WritableKeyPath<Owner, Value?> & Sendable, else unknown: Value,
        if isKnown: @escaping @Sendable (Value) -> Bool
    ) -> Field {
        Field(
            key: WireKey(name, Value.wireType), allowed: Value.allowed, meaning: "",
            value: { ($0[keyPath: path] ?? unknown).wireValue },
            take: { (owner, wire, place) throws(BrokerError) in
                guard let value = try Value.read(wire, place) else { return false }
                owner[keyPath: path] = isKnown(value) ? value : nil
                return true
            }, isSame: { $0[keyPath: path] == $1[keyPath: path] }, json: nil, since: nil)
    }

    /// One that follows from others, and is read over.
    package static func repeating<Value: WireType>(
        _ name: String, _ value: @escaping @Sendable (Owner) -> Value
    ) -> Field {
        Field(
            key: WireKey(name, Value.wireType), allowed: Value.allowed, meaning: "", value: { value($0).wireValue },
            take: { (_, wire, place) throws(BrokerError) in try Value.read(wire, place) != nil },
            isSame: { _, _ in true }, json: nil, since: nil)
    }
}

extension Array {
    /// - Parameter blank: what has not been read yet, or is missing because it came with a later version.
    package func read<Owner>(_ blank: Owner, _ reader: inout WireReader) throws(BrokerError) -> Owner
    where Element == Field<Owner> {
        var value = blank
        for field in self where field.since == nil || !reader.isAtEnd { try reader.take(field, into: &value) }
        return value
    }
}

/// What stands on the wire for a figure that nobody knows.
package enum UnknownFigure {
    package static let count = UInt64.max
    package static let nanoseconds: Int64 = -1
}
