/// A value that travels as a dictionary, or as the arguments of a signal. Its fields are its one description: by them
/// it is written, read, JSON, and a table in `docs/wire.md`.
package protocol Described: WireElement, Equatable {
    init()
    static var fields: [Field<Self>] { get }

    /// Unknown keys are passed over.
    /// - Parameter place: its name in errors.
    init(_ wire: WireDictionary, at place: String) throws(BrokerError)
}

extension Described {
    /// The usual value with the changes of `fill`.
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
        // By places: a copy of a field counts references to all its parts.
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

    package static var wireFields: [Field<Self>] { fields.filter { !$0.type.isEmpty } }
    package static var keys: [String] { wireFields.map(\.name) }

    package static func allowed(_ key: String) -> String { fields.first { $0.name == key }?.allowed ?? "" }

    package func entry(_ name: String) -> WireValue? { Self.fields.first { $0.name == name }?.value(self) }

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

extension Described {
    static var argumentList: String { wireFields.map { "\($0.name) \($0.type)" }.joined(separator: ", ") }
    package var wireArguments: [WireValue] { Self.fields.compactMap { $0.value(self) } }

    package init(arguments reader: inout WireReader) throws(BrokerError) {
        self.init()
        for field in Self.wireFields { try reader.take(field, into: &self) }
    }
}

/// For requests, and for descriptions of cameras: the first wrong entry is refused with what its key takes.
extension Described {
    /// - Parameters:
    /// - subject: the words before a key in a sentence: `formats[2]: `.
    /// - unknown: the refusal of an unknown key; `nil` passes it over.
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
    /// Its values, in a sentence.
    package let allowed: String
    /// For the table in `docs/wire.md`.
    package let meaning: String
    /// `nil` where it is left out.
    package let value: @Sendable (Owner) -> WireValue?
    /// - Returns: false for a value that it does not take.
    fileprivate let take: @Sendable (inout Owner, WireValue, WirePlace) throws(BrokerError) -> Bool
    fileprivate let isSame: @Sendable (Owner, Owner) -> Bool
    /// `nil` for a field that is on the wire alone.
    fileprivate let json: JSONMember?
    /// The key that an older peer lacks together with this one; `nil` for a field that every peer has.
    fileprivate let since: String?
    /// How a change of it is announced, where it is a property.
    package private(set) var changes = Interface.Property.Change.told

    fileprivate typealias JSONMember = (key: String, value: @Sendable (Owner) -> JSON)

    /// - Parameter key: `""` for none.
    private static func member(_ key: String, _ value: @escaping @Sendable (Owner) -> JSON) -> JSONMember? {
        key.isEmpty ? nil : (key, value)
    }

    fileprivate func mayLack(in wire: WireDictionary) -> Bool { since.map { wire[$0] == nil } ?? false }
}

extension Field {
    // Inlined, so that the path is known where a value is read: reading by any path costs more than all else of a
    // notice.

    /// - Parameters:
    /// - since: the key that an older peer lacks together with this one.
    /// - json: its key in JSON, where that differs; `""` for none.
    /// - takes: its values in a sentence, where it does not take all of its type.
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
            json: Self.member(json) { $0[keyPath: path()].json }, since: since)
    }

    /// A field that is left out where there is no value.
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
            json: Self.member(json ?? name) { $0[keyPath: path()]?.json ?? .null }, since: name)
    }

    /// A field that follows from others: it is written, and not read.
    package static func following<Value: WireType>(
        _ name: String, _ meaning: String, _ value: @escaping @Sendable (Owner) -> Value
    ) -> Field {
        Field(
            key: WireKey(name, Value.wireType), allowed: "", meaning: meaning, value: { value($0).wireValue },
            take: { _, _, _ in true }, isSame: { _, _ in true }, json: Self.member(name) { value($0).json }, since: name
        )
    }

    /// A field that follows from others, in JSON alone.
    package static func inJSON(_ name: String, _ value: @escaping @Sendable (Owner) -> JSON) -> Field {
        Field(
            key: WireKey(name, ""), allowed: "", meaning: "", value: { _ in nil }, take: { _, _, _ in true },
            isSame: { _, _ in true }, json: Self.member(name, value), since: name)
    }

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
    /// A field that came with a later version, at its message's end.
    @inline(__always)
    package static func later<Value: WireType & Equatable>(
        _ name: String, _ path: @autoclosure @escaping @Sendable () -> WritableKeyPath<Owner, Value>
    ) -> Field { Field(name, path(), since: name) }

    /// A field whose value may be unknown.
    /// - Parameters:
    /// - unknown: stands for that on the wire.
    /// - isKnown: whether a value from there is known.
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

    /// A field that follows from others: it is written, and read over.
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
    /// - Parameter blank: the values of fields that the message lacks because they came with a later version.
    package func read<Owner>(_ blank: Owner, _ reader: inout WireReader) throws(BrokerError) -> Owner
    where Element == Field<Owner> {
        var value = blank
        for field in self where field.since == nil || !reader.isAtEnd { try reader.take(field, into: &value) }
        return value
    }
}

/// The values on the wire for unknown figures.
package enum UnknownFigure {
    package static let count = UInt64.max
    package static let nanoseconds: Int64 = -1
}
