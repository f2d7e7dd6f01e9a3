import Arbiter
package import ArbiterProtocol
import PolicyFile
import TomlFile

package struct LineFault: Error {
    package var message: String
    package init(_ message: String) { self.message = message }
}

/// The members of one object, each taken once; members that are left at the end are wrong.
package struct TraceFields {
    /// The object in errors, such as `the step`.
    private let what: String
    private var members: [JSON.Member]

    init(_ what: String, members: [JSON.Member]) { (self.what, self.members) = (what, members) }

    mutating func optional(_ key: String) -> JSON? {
        guard let place = members.firstIndex(where: { $0.key == key }) else { return nil }
        return members.remove(at: place).value
    }

    mutating func json(_ key: String) throws(LineFault) -> JSON {
        guard let value = optional(key) else { throw LineFault("\(what): “\(key)” is missing") }
        return value
    }

    func end() throws(LineFault) {
        if let member = members.first { throw LineFault("\(what): “\(member.key)” is unknown, or there twice") }
    }

    func has(_ key: String) -> Bool { members.contains { $0.key == key } }

    private func wrong(_ key: String, _ allowed: String) -> LineFault {
        LineFault("\(what): “\(key)” is no \(allowed)")
    }

    // MARK: Values

    private static let allowed = [
        "b": "true or false", "u": "whole number from 0 to \(UInt32.max)", "t": "whole number from 0",
        "x": "whole number of nanoseconds", "d": "number", "s": "text",
    ]

    /// A value in JSON's form of its D-Bus type.
    mutating func read<Value: WireType>(_ key: String, as _: Value.Type = Value.self) throws(LineFault) -> Value {
        let json = try json(key)
        guard json != .null, let wire = WireValue(json: json, type: Value.wireType) else {
            throw wrong(key, Self.allowed[Value.wireType] ?? Value.allowed)
        }
        let value = try made { () throws(BrokerError) in try Value.read(wire, WirePlace(message: what, name: key)) }
        guard let value else { throw wrong(key, Value.allowed) }
        return value
    }

    private func made<Value>(_ make: () throws(BrokerError) -> Value) throws(LineFault) -> Value {
        do throws(BrokerError) { return try make() } catch { throw LineFault("\(what): \(error.message)") }
    }

    mutating func word<Value: WireWord>(_ key: String) throws(LineFault) -> Value {
        guard let word = Value(wireName: try read(key)) else {
            throw wrong(key, Value.words.joined(separator: ", "))
        }
        return word
    }

    mutating func takeNull(_ members: [EventMember]) throws(LineFault) -> Bool {
        guard let first = members.first, self.members.first(where: { $0.key == first.key })?.value == .null else {
            return false
        }
        for member in members { if try json(member.key) != .null { throw wrong(member.key, "null") } }
        return true
    }

    mutating func optionalText(_ key: String) throws(LineFault) -> String? { has(key) ? try read(key) : nil }

    /// `null` is `nil`.
    private mutating func nullable<Value: WireType>(
        _ key: String, as _: Value.Type = Value.self
    ) throws(LineFault) -> Value? {
        try takeNull([EventMember(key: key, type: Value.wireType)]) ? nil : try read(key)
    }

    // MARK: The vocabulary

    mutating func configuration(_ key: String) throws(LineFault) -> Configuration {
        guard let members = try json(key).members else { throw wrong(key, "object") }
        var configuration = Configuration()
        for member in members {
            guard let name = ConfigurationKey(rawValue: member.key), configuration[name] == nil else {
                throw wrong(key, "configuration: it has “\(member.key)”, which is not a key or there twice")
            }
            guard let value = ConfigurationValue(member.value, name.kind) else {
                throw wrong(key, "configuration: “\(member.key)” is not a value")
            }
            configuration[name] = value
        }
        return configuration
    }

    /// A value that is an object here and a dictionary on the wire.
    /// - Parameter whose: the owner of a member in errors.
    mutating func described<Value: Described>(
        _ key: String, _ whose: String, _ make: (WireDictionary) throws(BrokerError) -> Value
    ) throws(LineFault) -> Value {
        guard let wire = WireValue(try json(key))?.dictionary else { throw wrong(key, "object") }
        for (place, entry) in wire.entries.enumerated() {
            let isFirst = !wire.entries[..<place].contains { $0.key == entry.key }
            guard isFirst, Value.keys.contains(entry.key) else {
                throw wrong(key, "\(whose): it has “\(entry.key)”, which is not a key or there twice")
            }
        }
        return try made { () throws(BrokerError) in try make(wire) }
    }

    /// A value of which each entry is a member of the line, `null` where there is none.
    mutating func entries<Value>(
        _ keys: [EventMember], _ make: (WireDictionary) throws(BrokerError) -> Value
    ) throws(LineFault) -> Value {
        var wire = WireDictionary()
        for key in keys {
            guard let json = optional(key.key), let value = WireValue(json) else { continue }
            // A count beyond JSON's numbers is text.
            wire[key.key] = key.type == "t" ? json.count.map { .uint64($0) } ?? value : value
        }
        return try made { () throws(BrokerError) in try make(wire) }
    }

    // Rights to cameras, and recorder cores that outlive their broker, came later than the first traces of this
    // version: in lines without them every connected client has a right, and all is at the one seat.

    mutating func identity() throws(LineFault) -> ClientIdentity {
        let verified: Bool = try read("verified")
        let login: LoginSessionID? = try nullable("loginSession")
        guard has("atSeat") else {
            return ClientIdentity(verified: verified, login: login.map { .session($0) } ?? .outside, own: true)
        }
        let atSeat: Bool = try read("atSeat")
        guard login == nil || !atSeat else { throw LineFault("a client with a “loginSession” is not “atSeat” besides") }
        let (weak, own): (Bool, Bool) = (try read("weak"), try read("own"))
        let groups = try json("groups").array ?? [.null]
        let numbers = groups.compactMap { $0.integer.flatMap(UInt32.init(exactly:)) }
        guard numbers.count == groups.count, numbers.count <= ClientIdentity.groupsMax else {
            throw wrong("groups", "list of at most \(ClientIdentity.groupsMax) whole numbers from 0 to \(UInt32.max)")
        }
        return ClientIdentity(
            verified: verified, weak: weak, groups: numbers,
            login: login.map { .session($0) } ?? (atSeat ? .seat : .outside), own: own)
    }

    mutating func survivor() throws(LineFault) -> Survivor? {
        guard has("grant") else { return nil }
        let (grant, recording): (GrantID?, RecordingID?) = (try nullable("grant"), try nullable("recording"))
        if let grant { return Survivor(grant: grant, recording: recording) }
        if recording != nil { throw LineFault("a “recording” is under way only for a “grant”") }
        return nil
    }

    /// A policy as TOML text. Errors name places in that text.
    mutating func policy(_ key: String) throws(LineFault) -> Policy {
        let text: String = try read(key)
        if text == builtInPolicy { return .firstCome }
        do throws(FileProblems) {
            return try PolicyFile.parse(text, file: "its policy")
        } catch { throw LineFault("the policy in it is not valid:\n\(error)") }
    }
}

extension EventKind: WireWord {}

extension ConfigurationValue {
    fileprivate init?(_ json: JSON, _ kind: ConfigurationKey.Kind) {
        switch json {
        case .bool(let flag): self = .flag(flag)
        case .integer(let number): self = .number(Double(number))
        case .number(let number): self = .number(number)
        case .string(let text): self = .text(text)
        case .array(let parts): self.init(numbers: parts.compactMap(\.number), of: kind)
        case .null, .object: return nil
        }
    }
}

/// Stands for the policy that needs no file, which no text can say.
package let builtInPolicy = "built-in"

extension Policy {
    package var traceText: String { self == .firstCome ? builtInPolicy : PolicyWriter.text(self, numbersOnly: true) }
}
