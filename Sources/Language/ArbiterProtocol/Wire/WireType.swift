/// A value that travels by itself: as an argument, or as an entry of a dictionary.
package protocol WireType: Sendable {
    /// Its D-Bus signature.
    static var wireType: String { get }
    var wireValue: WireValue { get }
    var json: JSON { get }
    static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Self
}

extension WireType { package var json: JSON { wireValue.json } }

/// A value that a list has many of.
package protocol WireElement: WireType {
    static func readList(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> [Self]
}

/// A value that may be missing, for which one of its own type stands on the wire.
package protocol WireOptional: WireType {
    static var none: WireValue { get }
    static func readAny(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Self?
}

extension WireOptional {
    package static func readAny(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Self? {
        let value = try read(name, &reader)
        return value.wireValue == none ? nil : value
    }
}

extension Array: WireType where Element: WireElement {
    package static var wireType: String { "a" + Element.wireType }
    package var wireValue: WireValue { .array(type: Element.wireType, map(\.wireValue)) }
    package var json: JSON { .array(map(\.json)) }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> [Element] {
        try Element.readList(name, &reader)
    }
}

extension Optional: WireType where Wrapped: WireOptional {
    package static var wireType: String { Wrapped.wireType }
    package var wireValue: WireValue { self?.wireValue ?? Wrapped.none }
    package var json: JSON { self?.json ?? .null }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Wrapped? {
        try Wrapped.readAny(name, &reader)
    }
}

// MARK: Numbers

extension Bool: WireType {
    package static var wireType: String { "b" }
    package var wireValue: WireValue { .boolean(self) }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Bool {
        try reader.boolean(name)
    }
}

extension UInt32: WireOptional {
    package static var wireType: String { "u" }
    package static var none: WireValue { .uint32(0) }
    package var wireValue: WireValue { .uint32(self) }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> UInt32 {
        try reader.uint32(name)
    }
}

extension UInt64: WireOptional {
    package static var wireType: String { "t" }
    package static var none: WireValue { .uint64(0) }
    package var wireValue: WireValue { .uint64(self) }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> UInt64 {
        try reader.uint64(name)
    }
}

extension Int64: WireOptional {
    package static var wireType: String { "x" }
    package static var none: WireValue { .int64(0) }
    package var wireValue: WireValue { .int64(self) }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Int64 {
        try reader.int64(name)
    }
}

extension Double: WireType {
    package static var wireType: String { "d" }
    package var wireValue: WireValue { .double(self) }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Double {
        try reader.number(name)
    }
}

/// A value that is a number with a meaning.
package protocol WireNumber: WireOptional {
    associatedtype Number: WireOptional
    var wireNumber: Number { get }
    init(wireNumber: Number)
}

extension WireNumber {
    package static var wireType: String { Number.wireType }
    package static var none: WireValue { Number.none }
    package var wireValue: WireValue { wireNumber.wireValue }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Self {
        Self(wireNumber: try Number.read(name, &reader))
    }
}

extension SessionID: WireNumber {
    package var wireNumber: UInt64 { rawValue }
    package init(wireNumber: UInt64) { self.init(wireNumber) }
}

extension GrantID: WireNumber {
    package var wireNumber: UInt64 { rawValue }
    package init(wireNumber: UInt64) { self.init(wireNumber) }
}

extension Moment: WireNumber {
    package var wireNumber: Int64 { nanoseconds }
    package init(wireNumber: Int64) { self.init(nanoseconds: wireNumber) }
}

extension Duration: WireNumber {
    package var wireNumber: Int64 { wholeNanoseconds }
    package init(wireNumber: Int64) { self = .nanoseconds(wireNumber) }
}

/// The number of a process.
extension Int32: WireNumber {
    package var wireNumber: UInt32 { UInt32(clamping: self) }
    package init(wireNumber: UInt32) { self.init(clamping: wireNumber) }
}

// MARK: Texts

extension String: WireElement, WireOptional {
    package static var wireType: String { "s" }
    package static var none: WireValue { .string("") }
    package var wireValue: WireValue { .string(self) }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> String {
        try reader.string(name)
    }
    package static func readList(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> [String] {
        try reader.strings(name)
    }
}

/// A value that is a word. In a list, and where there may be none, words of a later version are passed over.
package protocol WireWord: WireElement, WireOptional {
    var wireName: String { get }
    init?(wireName: String)
    /// What counts for a word that is not known; nil: it is an error.
    static var unknown: Self? { get }
    static var words: [String] { get }
}

extension WireWord {
    package static var unknown: Self? { nil }
    package static var words: [String] { [] }
    package static var wireType: String { "s" }
    package static var none: WireValue { .string("") }
    package var wireValue: WireValue { .string(wireName) }

    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Self {
        let text = try reader.string(name)
        guard let value = Self(wireName: text) ?? unknown else { throw reader.wrongWord(name, text, among: words) }
        return value
    }
    package static func readAny(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Self? {
        Self(wireName: try reader.string(name))
    }
    package static func readList(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> [Self] {
        try reader.strings(name).compactMap(Self.init(wireName:))
    }
}

extension WireWord where Self: RawRepresentable<String> & CaseIterable {
    package static var words: [String] { allCases.map(\.rawValue) }
    package var wireName: String { rawValue }
    package init?(wireName: String) { self.init(rawValue: wireName) }
}

extension CameraID: WireWord {
    package var wireName: String { name }
    package init?(wireName: String) { self.init(wireName) }
}

extension Interrupter: WireWord { package static var unknown: Interrupter? { .app("") } }
extension Presence: WireWord { package static var unknown: Presence? { .background } }
extension SystemPressure: WireWord { package static var unknown: SystemPressure? { .nominal } }
extension Cause: WireWord { package static var words: [String] { allCases.map(\.wireName) } }

extension AnswerOrigin: WireWord {}
extension AppAnswer: WireWord {}
extension CameraPosition: WireWord {}
extension PresenceStanding: WireWord {}
extension TenancyState: WireWord {}

// MARK: Sets

extension CauseSet: WireType {
    package static var wireType: String { "as" }
    package var wireValue: WireValue { wire }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> CauseSet {
        try reader.causes(name)
    }
}

extension Access: WireType {
    package static var wireType: String { "as" }
    package var wireValue: WireValue { .strings(names) }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Access {
        try reader.access(name)
    }
}

// MARK: Dictionaries

extension WireDictionary: WireElement {
    package static var wireType: String { "a{sv}" }
    package var wireValue: WireValue { .dictionary(self) }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> WireDictionary {
        try reader.dictionary(name)
    }
    package static func readList(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> [WireDictionary] {
        try reader.dictionaries(name)
    }
}

extension Configuration: WireType {
    package static var wireType: String { "a{sv}" }
    package var wireValue: WireValue { .dictionary(wire) }
    package static func read(_ name: String, _ reader: inout WireReader) throws(BrokerError) -> Configuration {
        try Configuration(wire: reader.dictionary(name))
    }
}
