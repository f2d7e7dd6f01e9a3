extension String: WireElement, WireOptional {
    package static let wireType = "s"
    package static let allowed = "a string"
    package static let allowedList = "a list of strings"
    package static let none = WireValue.string("")
    package var wireValue: WireValue { .string(self) }
    package static func read(_ wire: WireValue, _: WirePlace) -> String? { wire.string }
    package static func readList(_ wire: WireValue, _: WirePlace) -> [String]? { wire.strings }
}

/// In a list, and where there may be none, words of a later version are passed over.
package protocol WireWord: WireElement, WireOptional {
    var wireName: String { get }
    init?(wireName: String)
    /// Stands for unknown words; `nil` makes them errors.
    static var unknown: Self? { get }
    /// Empty where every word is one.
    static var words: [String] { get }
}

extension WireWord {
    package static var unknown: Self? { nil }
    package static var words: [String] { [] }
    package static var wireType: String { "s" }
    package static var allowed: String {
        words.isEmpty || unknown != nil ? String.allowed : words.joined(separator: ", ")
    }
    package static var allowedList: String { String.allowedList }
    package static var none: WireValue { .string("") }
    package var wireValue: WireValue { .string(wireName) }

    package static func read(_ wire: WireValue, _: WirePlace) -> Self? {
        wire.string.flatMap { Self(wireName: $0) ?? unknown }
    }
    package static func readAny(_ wire: WireValue, _: WirePlace) -> Self?? { wire.string.map(Self.init(wireName:)) }
    package static func readList(_ wire: WireValue, _: WirePlace) -> [Self]? {
        wire.strings?.compactMap(Self.init(wireName:))
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

extension LoginSessionID: WireWord {
    package var wireName: String { name }
    package init?(wireName: String) { self.init(wireName) }
}

extension Interrupter: WireWord { package static var unknown: Interrupter? { .app("") } }
extension Presence: WireWord {
    package static var unknown: Presence? { .background }
    package static var words: [String] { wireNames }
}
extension SystemPressure: WireWord {
    package static var unknown: SystemPressure? { .nominal }
    package static var words: [String] { allCases.map(\.wireName) }
}
extension Cause: WireWord {
    package static var words: [String] { allCases.map(\.wireName) }

    /// An unknown cause is an error: nobody could tell what it asks of a client.
    package static func readAny(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> Cause?? {
        guard let text = wire.string else { return nil }
        guard let cause = Cause(wireName: text) else {
            if text.isEmpty { return .some(nil) }
            throw BrokerError(.invalidArguments, "\(place.name) is \(text.quotedShort), which is not a cause.")
        }
        return cause
    }
}

extension AnswerOrigin: WireWord {}
extension AppAnswer: WireWord {}
extension Applier: WireWord {}
extension CameraPosition: WireWord {}
extension ClientKind: WireWord {}
extension DeviceFault: WireWord {}
extension Mode.Setter: WireWord {}
extension PresenceSource: WireWord {}
extension PresenceStanding: WireWord {}
extension QuestionEnd: WireWord {}
extension RecordingEnd: WireWord {}
extension RecordingFileType: WireWord {}
extension RecordingFinished.NextChance: WireWord {}
extension SessionOutput: WireWord {}
extension StopReason: WireWord {}
extension TenancyState: WireWord {}
extension VideoCodec: WireWord {}

extension CauseSet: WireType {
    package static let wireType = "as"
    package static let allowed = String.allowedList
    package var wireValue: WireValue { .strings(ordered.map(\.wireName)) }
    package static func read(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> CauseSet? {
        guard let words = wire.strings else { return nil }
        var set = CauseSet()
        for word in words {
            guard let cause = Cause(wireName: word) else {
                throw place.wrong("“\(place.name)” has \(word.quotedShort), which is not a cause")
            }
            set.insert(cause)
        }
        return set
    }
}

extension Access: WireType {
    package static let wireType = "as"
    package static let allowed = String.allowedList
    package var wireValue: WireValue { .strings(names) }
    package static func read(_ wire: WireValue, _ place: WirePlace) throws(BrokerError) -> Access? {
        guard let words = wire.strings else { return nil }
        var access = Access.none
        for word in words {
            guard let right = Access(name: word) else {
                let names = Access.rights.map(\.name).joined(separator: ", ")
                throw place.wrong("“\(place.name)” has \(word.quotedShort); it takes \(names)")
            }
            access.insert(right)
        }
        return access
    }
}
