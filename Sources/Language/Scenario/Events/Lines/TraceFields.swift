import Arbiter
package import ArbiterProtocol
import PolicyFile
import TomlFile

package struct LineFault: Error {
    package var message: String
    package init(_ message: String) { self.message = message }
}

/// The members of one object, each taken once; what nobody takes is wrong, so that nothing is passed over.
package struct TraceFields {
    private let what: String
    private var members: [JSON.Member]

    /// - Parameter what: what errors call the object, such as `startRunning`.
    package init(_ what: String, _ json: JSON) throws(LineFault) {
        guard let members = json.members else { throw LineFault("\(what) is no object") }
        self.what = what
        self.members = members
    }

    package init(_ what: String, members: [JSON.Member]) {
        self.what = what
        self.members = members
    }

    package mutating func optional(_ key: String) -> JSON? {
        guard let place = members.firstIndex(where: { $0.key == key }) else { return nil }
        return members.remove(at: place).value
    }

    package mutating func json(_ key: String) throws(LineFault) -> JSON {
        guard let value = optional(key) else { throw LineFault("\(what): “\(key)” is missing") }
        return value
    }

    package func end() throws(LineFault) {
        if let member = members.first { throw LineFault("\(what): “\(member.key)” is unknown, or there twice") }
    }

    private func wrong(_ key: String, _ allowed: String) -> LineFault {
        LineFault("\(what): “\(key)” is no \(allowed)")
    }

    package func has(_ key: String) -> Bool { members.contains { $0.key == key } }

    // MARK: Values

    private mutating func take<Value>(
        _ key: String, _ allowed: @autoclosure () -> String, _ read: (JSON) -> Value?
    ) throws(LineFault) -> Value {
        guard let value = read(try json(key)) else { throw wrong(key, allowed()) }
        return value
    }

    package mutating func text(_ key: String) throws(LineFault) -> String { try take(key, "text") { $0.string } }
    package mutating func flag(_ key: String) throws(LineFault) -> Bool { try take(key, "true or false") { $0.bool } }
    package mutating func number(_ key: String) throws(LineFault) -> Double { try take(key, "number") { $0.number } }

    package mutating func count(_ key: String) throws(LineFault) -> UInt64 {
        try take(key, "whole number from 0") { $0.count }
    }

    package mutating func nanoseconds(_ key: String) throws(LineFault) -> Int64 {
        try take(key, "whole number of nanoseconds") { $0.integer }
    }

    package mutating func integer<Number: FixedWidthInteger>(_ key: String) throws(LineFault) -> Number {
        try take(key, "whole number from \(Number.min) to \(Number.max)") { json in
            json.integer.flatMap { Number(exactly: $0) }
        }
    }

    package mutating func integers<Number: FixedWidthInteger>(_ key: String, countMax: Int) throws(LineFault)
        -> [Number]
    {
        let allowed = "list of at most \(countMax) whole numbers from \(Number.min) to \(Number.max)"
        guard let values = try json(key).array, values.count <= countMax else { throw wrong(key, allowed) }
        return try values.map { (value) throws(LineFault) in
            guard let number = value.integer.flatMap({ Number(exactly: $0) }) else { throw wrong(key, allowed) }
            return number
        }
    }

    /// `null` is nil.
    package mutating func nullable<Value>(
        _ key: String, _ read: (inout TraceFields) throws(LineFault) -> Value
    ) throws(LineFault) -> Value? {
        guard let place = members.firstIndex(where: { $0.key == key }) else {
            throw LineFault("\(what): “\(key)” is missing")
        }
        if members[place].value == .null {
            members.remove(at: place)
            return nil
        }
        return try read(&self)
    }

    package mutating func word<Value>(
        _ key: String, _ allowed: [String], _ read: (String) -> Value?
    ) throws(LineFault) -> Value {
        guard let word = read(try text(key)) else { throw wrong(key, "\(allowed.joined(separator: ", "))") }
        return word
    }

    package mutating func word<Value: RawRepresentable & CaseIterable>(_ key: String) throws(LineFault) -> Value
    where Value.RawValue == String { try word(key, Value.allCases.map(\.rawValue)) { Value(rawValue: $0) } }

    /// A value as it travels: JSON has it in the form of its type.
    package mutating func read<Value: WireType>(_ key: String) throws(LineFault) -> Value {
        let wire: WireValue =
            switch Value.wireType {
            case "b": .boolean(try flag(key))
            case "u": .uint32(try integer(key))
            case "t": .uint64(try count(key))
            case "x": .int64(try nanoseconds(key))
            case "d": .double(try number(key))
            case "s": .string(try text(key))
            default: preconditionFailure("\(Value.self) is read in its own way")
            }
        do throws(BrokerError) {
            if let value = try Value.read(wire, WirePlace(message: what, name: key)) { return value }
        } catch { throw LineFault(error.message) }
        throw wrong(key, Value.allowed)
    }

    mutating func takeNull(_ members: [EventMember]) throws(LineFault) -> Bool {
        guard let first = members.first, self.members.first(where: { $0.key == first.key })?.value == .null else {
            return false
        }
        for member in members { if try json(member.key) != .null { throw wrong(member.key, "null") } }
        return true
    }

    // MARK: The vocabulary

    package mutating func optionalText(_ key: String) throws(LineFault) -> String? {
        guard let json = optional(key) else { return nil }
        guard let text = json.string else { throw LineFault("“\(key)” is no text") }
        return text
    }

    package mutating func nullableText(_ key: String) throws(LineFault) -> String? {
        try nullable(key) { (fields) throws(LineFault) in try fields.text(key) }
    }

    package mutating func configuration(_ key: String) throws(LineFault) -> Configuration {
        guard let members = try json(key).members else { throw wrong(key, "object") }
        var configuration = Configuration()
        for member in members {
            guard let name = ConfigurationKey(rawValue: member.key), configuration[name] == nil else {
                throw wrong(key, "configuration: it has “\(member.key)”, which is no key or there twice")
            }
            switch member.value {
            case .bool(let flag): configuration[name] = .flag(flag)
            case .integer(let number): configuration[name] = .number(Double(number))
            case .number(let number): configuration[name] = .number(number)
            case .string(let text): configuration[name] = .text(text)
            case .array(let parts):
                guard let value = ConfigurationValue(numbers: parts.compactMap(\.number), of: name.kind) else {
                    throw wrong(key, "configuration: “\(member.key)” is no value")
                }
                configuration[name] = value
            case .null, .object: throw wrong(key, "configuration: “\(member.key)” is no value")
            }
        }
        return configuration
    }

    /// A value that travels as a dictionary, from the object that it is here.
    /// - Parameter whose: what errors call a member.
    mutating func described<Value: Described>(
        _ key: String, _ whose: String, _ make: (WireDictionary) throws(BrokerError) -> Value
    ) throws(LineFault) -> Value {
        guard let wire = WireValue(try json(key))?.dictionary else { throw wrong(key, "object") }
        for (place, entry) in wire.entries.enumerated() {
            let isFirst = !wire.entries[..<place].contains { $0.key == entry.key }
            guard isFirst, Value.keys.contains(entry.key) else {
                throw wrong(key, "\(whose): it has “\(entry.key)”, which is no key or there twice")
            }
        }
        do throws(BrokerError) { return try make(wire) } catch { throw LineFault("\(what): \(error.message)") }
    }

    /// A value of which each entry is a member of the line, `null` where there is none.
    mutating func described<Value: Described>(
        _ make: (WireDictionary) throws(BrokerError) -> Value
    ) throws(LineFault) -> Value {
        var wire = WireDictionary()
        for field in Value.fields {
            guard let json = optional(field.name), let value = WireValue(json) else { continue }
            // A count is exact, however great: then it is a text.
            wire[field.name] = field.type == "t" ? json.count.map { .uint64($0) } ?? value : value
        }
        do throws(BrokerError) { return try make(wire) } catch { throw LineFault("\(what): \(error.message)") }
    }
}

extension WireValue {
    /// As far as JSON tells types apart: who reads it knows which one is meant. Nil: `null`.
    fileprivate init?(_ json: JSON) {
        switch json {
        case .null: return nil
        case .bool(let flag): self = .boolean(flag)
        case .integer(let number): self = .int64(number)
        case .number(let number): self = .double(number)
        case .string(let text): self = .string(text)
        case .array(let values): self = .array(type: "v", values.compactMap { WireValue($0) })
        case .object(let members):
            var wire = WireDictionary()
            for member in members { if let value = WireValue(member.value) { wire.append(member.key, value) } }
            self = .dictionary(wire)
        }
    }
}

/// Rights to cameras came later than the first traces of this version. Lines without them are read as things were then:
/// every connected client had a right, and every login session and camera was at the one seat.
extension TraceFields {
    mutating func identity() throws(LineFault) -> ClientIdentity {
        let verified = try flag("verified")
        let login = try nullableText("loginSession").map { LoginSessionID($0) }
        guard has("atSeat") else {
            return ClientIdentity(verified: verified, login: login.map { .session($0) } ?? .outside, own: true)
        }
        let atSeat = try flag("atSeat")
        guard login == nil || !atSeat else { throw LineFault("a client with a “loginSession” is not “atSeat” besides") }
        let (weak, own) = (try flag("weak"), try flag("own"))
        let groups: [UInt32] = try integers("groups", countMax: ClientIdentity.groupsMax)
        return ClientIdentity(
            verified: verified, weak: weak, groups: groups,
            login: login.map { .session($0) } ?? (atSeat ? .seat : .outside), own: own)
    }

    /// Recorder cores outlive their broker since later than the first traces of this version.
    mutating func survivor() throws(LineFault) -> Survivor? {
        guard has("grant") else { return nil }
        let grant = try nullable("grant") { (fields) throws(LineFault) in GrantID(try fields.count("grant")) }
        let recording = try nullable("recording") { (fields) throws(LineFault) in try fields.count("recording") }
        guard let grant else {
            if recording != nil { throw LineFault("a “recording” is under way only for a “grant”") }
            return nil
        }
        return Survivor(grant: grant, recording: recording)
    }

    /// A policy as TOML text; the line's column is no use to anybody, so the text's own places are named.
    package mutating func policy(_ key: String) throws(LineFault) -> Policy {
        let text = try text(key)
        if text == builtInPolicy { return .firstCome }
        do throws(FileProblems) {
            return try PolicyFile.parse(text, file: "its policy")
        } catch { throw LineFault("the policy in it is not valid:\n\(error)") }
    }
}

/// What stands for the policy that needs no file: its text could not say that nothing else was to be had.
package let builtInPolicy = "built-in"

extension Policy {
    package var traceText: String { self == .firstCome ? builtInPolicy : PolicyWriter.text(self, numbersOnly: true) }
}
