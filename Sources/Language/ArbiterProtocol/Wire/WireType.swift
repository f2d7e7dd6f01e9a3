/// A value that travels by itself: as an argument, or as an entry of a dictionary.
package protocol WireType: Sendable {
    /// Its D-Bus signature.
    static var wireType: String { get }
    /// Its values, in a sentence.
    static var allowed: String { get }
    var wireValue: WireValue { get }
    var json: JSON { get }

    /// - Returns: `nil` for a value that it does not take.
    static func read(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> Self?
}

extension WireType { package var json: JSON { wireValue.json } }

/// A place of a value in errors.
package struct WirePlace {
    /// The message or dictionary: `WasInterrupted`, `formats[2]`.
    package var message: String
    package var name: String

    package init(message: String, name: String) { (self.message, self.name) = (message, name) }
    func wrong(_ text: String) -> BrokerError { BrokerError(.invalidArguments, "\(message): \(text).") }
}

/// A value of which there are lists.
package protocol WireElement: WireType {
    static var allowedList: String { get }
    static func readList(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> [Self]?
}

/// A value that may be missing: a value of the same type stands on the wire for none.
package protocol WireOptional: WireType {
    static var none: WireValue { get }
    static func readAny(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> Self??
}

extension WireOptional {
    package static func readAny(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> Self?? {
        guard let value = try read(wire, place) else { return nil }
        return .some(value.wireValue == none ? nil : value)
    }
}

extension Array: WireType where Element: WireElement {
    package static var wireType: String { "a" + Element.wireType }
    package static var allowed: String { Element.allowedList }
    package var wireValue: WireValue { .array(type: Element.wireType, map(\.wireValue)) }
    package var json: JSON { .array(map(\.json)) }
    package static func read(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> [Element]? {
        try Element.readList(wire, place)
    }
}

extension Optional: WireType where Wrapped: WireOptional {
    package static var wireType: String { Wrapped.wireType }
    package static var allowed: String { Wrapped.allowed }
    package var wireValue: WireValue { self?.wireValue ?? Wrapped.none }
    package var json: JSON { self?.json ?? .null }
    package static func read(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> Wrapped?? {
        try Wrapped.readAny(wire, place)
    }
}

extension Bool: WireType {
    package static let wireType = "b"
    package static let allowed = "true or false"
    package var wireValue: WireValue { .boolean(self) }
    package static func read(_ wire: WireValue, _: WirePlace) -> Bool? { wire.boolean }
}

extension UInt32: WireOptional {
    package static let wireType = "u"
    package static let allowed = "a whole number from 0 to 4294967295"
    package static let none = WireValue.uint32(0)
    package var wireValue: WireValue { .uint32(self) }
    package static func read(_ wire: WireValue, _: WirePlace) -> UInt32? { wire.uint64.flatMap(UInt32.init(exactly:)) }
}

/// Read from any numeric type.
extension UInt8: WireType {
    package static let wireType = "u"
    package static let allowed = "a whole number from 0 to 255"
    package var wireValue: WireValue { .uint32(UInt32(self)) }
    package static func read(_ wire: WireValue, _: WirePlace) -> UInt8? { wire.number.flatMap(UInt8.init(exactly:)) }
}

extension UInt64: WireOptional, WireElement {
    package static let wireType = "t"
    package static let allowed = "a whole number from 0"
    package static let allowedList = "whole numbers from 0"
    package static let none = WireValue.uint64(0)
    package var wireValue: WireValue { .uint64(self) }
    package static func read(_ wire: WireValue, _: WirePlace) -> UInt64? { wire.uint64 }
    package static func readList(_ wire: WireValue, _: WirePlace) -> [UInt64]? { wire.list(\.uint64) }
}

extension Int64: WireOptional {
    package static let wireType = "x"
    package static let allowed = "a whole number"
    package static let none = WireValue.int64(0)
    package var wireValue: WireValue { .int64(self) }
    package static func read(_ wire: WireValue, _: WirePlace) -> Int64? { wire.int64 }
}

/// Read from any numeric type.
extension Double: WireType {
    package static let wireType = "d"
    package static let allowed = "a finite number"
    package var wireValue: WireValue { .double(self) }
    package static func read(_ wire: WireValue, _: WirePlace) -> Double? {
        wire.number.flatMap { $0.isFinite ? $0 : nil }
    }
}

package protocol WireNumber: WireOptional {
    associatedtype Number: WireOptional
    var wireNumber: Number { get }
    init(wireNumber: Number)
}

extension WireNumber {
    package static var wireType: String { Number.wireType }
    package static var allowed: String { Number.allowed }
    package static var none: WireValue { Number.none }
    package var wireValue: WireValue { wireNumber.wireValue }
    package static func read(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> Self? {
        try Number.read(wire, place).map { Self(wireNumber: $0) }
    }
}

extension ClientID: WireNumber {
    package var wireNumber: UInt64 { rawValue }
    package init(wireNumber: UInt64) { self.init(wireNumber) }
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

/// A number of pixels, or a place in a list.
extension Int: WireNumber {
    package var wireNumber: UInt32 { UInt32(clamping: self) }
    package init(wireNumber: UInt32) { self.init(wireNumber) }
}

extension WireDictionary: WireElement {
    package static let wireType = "a{sv}"
    package static let allowed = "a dictionary a{sv}"
    package static let allowedList = "a list of dictionaries aa{sv}"
    package var wireValue: WireValue { .dictionary(self) }
    package static func read(_ wire: WireValue, _: WirePlace) -> WireDictionary? { wire.dictionary }
    package static func readList(_ wire: WireValue, _: WirePlace) -> [WireDictionary]? { wire.list(\.dictionary) }
}

extension Configuration: WireType {
    package static let wireType = WireDictionary.wireType
    package static let allowed = WireDictionary.allowed
    package var wireValue: WireValue { .dictionary(wire) }
    package static func read(_ wire: WireValue, _: WirePlace) throws(BrokerError) -> Configuration? {
        try wire.dictionary.map { (wire) throws(BrokerError) in try Configuration(wire: wire) }
    }
}
