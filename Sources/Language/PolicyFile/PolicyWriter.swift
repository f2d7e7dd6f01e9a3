import Arbiter
public import ArbiterProtocol
import TomlFile

/// Writes a policy as TOML text that reads back equal.
///
/// Defaults are written too: the text has everything in force, except keys without a value (`budget`, `lease`) and
/// those that a rule leaves alone. A name of a user or a group means the account of the machine that reads it. Holds
/// for every policy that was read; a value made by hand has to keep to the format (`Bounds`, one test of each fact in a
/// rule, whole milliseconds, and the weakest rank where a rule denies).
public struct PolicyWriter {
    /// Ends in a newline.
    /// - Parameters:
    /// - numbersOnly: users and groups by their numbers, so that the text means the same on every machine.
    /// - comment: the line above a part, without its `#`.
    public static func text(
        _ policy: Policy, numbersOnly: Bool = false, comment: (PolicyPart) -> String? = { _ in nil }
    ) -> String {
        withoutActuallyEscaping(comment) { comment in
            var writer = PolicyWriter(comment: comment)
            writer.write(numbersOnly ? policy.withNumbersOnly : policy)
            return writer.text
        }
    }

    private let comment: (PolicyPart) -> String?
    private var text = ""

    private init(comment: @escaping (PolicyPart) -> String?) { self.comment = comment }

    private mutating func write(_ policy: Policy) {
        for section in PolicySection.all(of: policy) {
            if !section.table.name.isEmpty { text += "\n" }
            write(section)
        }
    }

    static func text(of section: PolicySection) -> String {
        var writer = PolicyWriter { _ in nil }
        writer.write(section)
        return writer.text
    }

    private mutating func write(_ section: PolicySection) {
        let header = section.table.header
        if let part = section.part { note(part) }
        if !header.isEmpty { text += header + "\n" }
        if let statement = section.statement { return write(statement) }
        for pair in section.pairs {
            if section.part == nil { note(section.part(of: pair)) }
            if let facts = pair.facts { self.facts(pair.key, of: section.table.name, facts) } else { write(pair) }
        }
    }

    // MARK: Keys and values

    /// One `key = value`, the value as TOML has it.
    public struct Pair: Sendable {
        public var key: String
        public var value: String
        /// It is the default.
        public var isUsual = false
        /// Of a `when`, which is a table of its own where it is long.
        var facts: [FactTest]?

        init(_ key: String, _ value: String, isUsual: Bool = false) {
            (self.key, self.value, self.isUsual) = (key, value, isUsual)
        }

        init(_ key: String, quoted text: String) { self.init(key, TomlText.quoted(text)) }
        init(_ key: String, _ duration: Duration) { self.init(key, TomlText.quoted(duration)) }
        init(_ fact: FactTest) { self.init(fact.written.key, TomlText.value(of: fact)) }

        /// An inline table, which may not be broken over lines.
        init(_ key: String, _ facts: [FactTest]) { self.init(key, TomlText.inline(facts.map(TomlText.pair))) }

        public var line: String { "\(key) = \(value)" }
        var fitsOnALine: Bool { TomlText.fitsOnALine(line) }
    }

    // MARK: Lines

    private mutating func write(_ pair: Pair) { text += pair.line + "\n" }

    /// As an inline table where it fits on a line, else as a table of its own.
    private mutating func facts(_ key: String, of header: String, _ facts: [FactTest], isShort: Bool? = nil) {
        let pair = Pair(key, facts)
        if isShort ?? pair.fitsOnALine { return write(pair) }
        text += "[\(header).\(key)]\n"
        for fact in facts { write(Pair(fact)) }
    }

    private mutating func note(_ part: PolicyPart) {
        guard let words = comment(part) else { return }
        text += "# \(Wording.visible(words))\n"
    }
}

extension Policy {
    /// A name without an account stays.
    var withNumbersOnly: Policy {
        func plain(_ accounts: [Rights.Account]) -> [Rights.Account] {
            // A name and its number may both have been written.
            accounts.map { account in account.number.map { Rights.Account(number: $0) } ?? account }.eachOnce
        }
        var policy = self
        policy.rights.users = plain(rights.users)
        policy.rights.groups = plain(rights.groups)
        return policy
    }
}

extension TomlText {
    static func inline(_ pairs: [String]) -> String {
        pairs.isEmpty ? "{}" : "{ \(pairs.joined(separator: ", ")) }"
    }

    static func pair(_ fact: FactTest) -> String { "\(fact.written.key) = \(value(of: fact))" }

    static func levels(_ levels: PressureSettings.Levels) -> String {
        inline(
            SystemPressure.allCases.compactMap { level in
                levels[level].map { "\(level.wireName) = \(number($0))" }
            })
    }

    static func value(of account: Rights.Account) -> String {
        account.name.map(quoted) ?? account.number.map { "\($0)" } ?? quoted("")
    }

    static func value(of fact: FactTest) -> String {
        switch fact {
        // Names are the author's, and may have quotation marks in them.
        case .app(let name), .claimedApp(let name): quoted(name)
        case .camera(let camera): quoted(camera.name)
        default: fact.written.value
        }
    }
}

extension PolicyWriter {
    /// Reads back in its place as long as every `never` stands before every `always`.
    private mutating func write(_ statement: Statement) {
        let header = statement.isNever ? "never" : "always"
        for pair in [Pair("name", quoted: statement.name)] + Self.demand(of: statement) { write(pair) }
        let roles = Self.roles(of: statement) + (statement.by.map { [("by", $0)] } ?? [])
        let unless = Self.unless(of: statement)
        // One in its long form makes all of them long: behind such a table there are only tables.
        let isShort = roles.allSatisfy { Pair($0.key, $0.when).fitsOnALine } && unless?.fitsOnALine ?? true
        for role in roles { facts(role.key, of: header, role.when, isShort: isShort) }
        if let unless, isShort { return write(unless) }
        for excuse in statement.unless {
            text += "[[\(header).unless]]\n"
            for fact in excuse.when { write(Pair(fact)) }
            if let by = excuse.by { facts("by", of: "\(header).unless", by, isShort: Pair("by", by).fitsOnALine) }
        }
    }

    static func pairs(_ statement: Statement) -> [Pair] {
        let roles = roles(of: statement).map { Pair($0.key, $0.when) }
        let by = statement.by.map { [Pair("by", $0)] } ?? []
        let unless = unless(of: statement).map { [$0] } ?? []
        let name = Pair("name", quoted: statement.name)
        let demand = demand(of: statement)
        return [name] + roles + demand + by + unless
    }

    private static func demand(of statement: Statement) -> [Pair] {
        switch statement.assertion {
        case .never: statement.isAcrossCameras ? [Pair("across", quoted: "cameras")] : []
        case .always(_, let part): [Pair("is", quoted: part.rawValue)]
        case .within(_, let part, let time): [Pair("is", quoted: part.rawValue), Pair("within", time)]
        case .warned(_, let time): [Pair("warned", time)]
        case .atMost(_, let time, let window): [Pair("at-most", time), Pair("in", window)]
        case .fair(_, let part): [Pair("is", quoted: part.rawValue), Pair("fair", "true")]
        }
    }

    private static func roles(of statement: Statement) -> [(key: String, when: [FactTest])] {
        guard case .never(let players) = statement.assertion else { return [("when", statement.roles.first ?? [])] }
        return players.map { ($0.part.rawValue, $0.when) }
    }

    private static func unless(of statement: Statement) -> Pair? {
        if statement.unless.isEmpty { return nil }
        let all = statement.unless.map { excuse in
            TomlText.inline(
                excuse.when.map(TomlText.pair) + (excuse.by.map { [Pair("by", $0).line] } ?? []))
        }
        return Pair("unless", all.count == 1 ? all[0] : "[\(all.joined(separator: ", "))]")
    }
}
