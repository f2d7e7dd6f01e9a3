import Arbiter
public import ArbiterProtocol
import TomlFile

/// Writes a policy as TOML text that reads back equal.
///
/// Everything is written, also what is not written in the file because it is the default: the text says by itself what is in
/// force. Only what has no value (`budget`, `lease`) and what a rule leaves alone is left out. A name of a user or a group is
/// read back as whoever bears it there. Holds for every policy that was read; a value made by hand has to keep what the format
/// can say (`Bounds`, one test of each fact in a rule, whole milliseconds, and the weakest rank where a rule denies).
public struct PolicyWriter {
    /// The text, ending in a newline. `comment` is a line above that part, without its `#`.
    /// - Parameter numbersOnly: users and groups by their numbers, so that the text means the same on every machine.
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
        for pair in Self.pairs(policy) { write(pair, .top(pair.key)) }
        text += "\n[access]\n"
        for pair in Self.pairs(policy.rights) { write(pair, .access(pair.key)) }
        for attribute in policy.attributes { table("[[attribute]]", Self.pairs(attribute), .attribute(attribute.name)) }
        for mode in policy.modes { table("[[mode]]", Self.pairs(mode), .mode(mode.name)) }
        for rule in policy.causeRules {
            let pairs = Self.pairs(rule)
            table("[[cause]]", pairs.filter { $0.key != "when" }, .rule(rule.name))
            // In its long form it takes what follows, so it is last.
            facts("when", of: "cause", rule.when)
        }
        for rule in policy.rankRules { table("[[rank]]", Self.pairs(rule, ranks: policy.ranks), .rule(rule.name)) }
        text += "\n[pressure]\n"
        for pair in Self.pairs(policy.pressure) { write(pair, .pressure(pair.key)) }
        text += "\n[contention]\n"
        for pair in Self.pairs(policy.contention) { write(pair, .contention(pair.key)) }
        for (header, unit) in [("shell", policy.shellUnit), ("agent", policy.agentUnit)] {
            guard let pairs = unit.map(Self.pairs(speakingUnit:)) else { continue }
            text += "\n[\(header)]\n"
            for pair in pairs { write(pair, .speaker(table: header, key: pair.key)) }
        }
        for camera in policy.cameras { table("[[camera]]", Self.pairs(camera), .camera(camera.camera.name)) }
        for statement in policy.statements { write(statement) }
    }

    // MARK: Keys and values

    /// One `key = value`, the value as TOML has it.
    public struct Pair: Hashable, Sendable {
        public var key: String
        public var value: String

        init(_ key: String, _ value: String) {
            self.key = key
            self.value = value
        }

        init(_ key: String, quoted text: String) { self.init(key, TomlText.quoted(text)) }
        init(_ key: String, _ duration: Duration) { self.init(key, TomlText.quoted(duration)) }
        init(_ key: String, _ texts: [String]) { self.init(key, TomlText.list(texts)) }
        init(_ fact: FactTest) { self.init(fact.written.key, TomlText.value(of: fact)) }

        /// An inline table, which may not be broken over lines.
        init(_ key: String, _ facts: [FactTest]) {
            let pairs = facts.map(Pair.init).map(\.line).joined(separator: ", ")
            self.init(key, pairs.isEmpty ? "{}" : "{ \(pairs) }")
        }

        var line: String { "\(key) = \(value)" }
        var fitsOnALine: Bool { TomlText.fitsOnALine(line) }
    }

    /// What stands at the top of the file.
    public static func pairs(_ policy: Policy) -> [Pair] {
        [
            Pair("name", quoted: policy.name), Pair("summary", quoted: policy.summary),
            Pair("sources", policy.sources.map(\.rawValue)), Pair("ranks", policy.ranks),
            Pair("pressure-settle", policy.pressureSettle),
        ]
    }

    public static func pairs(_ rights: Rights) -> [Pair] {
        [
            Pair("seat", "\(rights.seat)"), Pair("users", TomlText.list(values: rights.users.map(TomlText.value))),
            Pair("groups", TomlText.list(values: rights.groups.map(TomlText.value))), Pair("services", rights.services),
            Pair("identity", quoted: rights.identity.rawValue), Pair("apps", quoted: rights.apps.rawValue),
        ]
    }

    public static func pairs(_ attribute: Attribute) -> [Pair] {
        [
            Pair("name", quoted: attribute.name), Pair("values", attribute.values),
            Pair("default", quoted: attribute.defaultValue),
        ]
    }

    public static func pairs(_ mode: Mode) -> [Pair] {
        [
            Pair("name", quoted: mode.name), Pair("at", mode.at.map(\.written)),
            Pair("set-by", mode.setBy.map(\.rawValue)),
        ]
    }

    public static func pairs(_ rule: CauseRule) -> [Pair] {
        [
            Pair("name", quoted: rule.name), Pair("cause", quoted: rule.cause.wireName),
            Pair("access", Access.rights.filter { rule.access.contains($0.right) }.map(\.name)),
            Pair("when", rule.when),
        ]
    }

    public static func pairs(_ rule: RankRule, ranks: [String]) -> [Pair] {
        var pairs = [Pair("name", quoted: rule.name)] + rule.when.map(Pair.init)
        if rule.deny { return pairs + [Pair("deny", "true")] }
        pairs.append(Pair("rank", quoted: ranks[rule.rank]))
        if rule.isImmediate { pairs.append(Pair("immediate", "true")) }
        if rule.grace != .zero { pairs.append(Pair("grace", rule.grace)) }
        if rule.minHold != .zero { pairs.append(Pair("min-hold", rule.minHold)) }
        if let lease = rule.lease { pairs.append(Pair("lease", lease)) }
        return pairs
    }

    public static func pairs(_ pressure: PressureSettings) -> [Pair] {
        [
            Pair("watch", "\(pressure.isWatched)"), Pair("memory", TomlText.levels(pressure.memory)),
            Pair("processor", TomlText.levels(pressure.processor)),
            Pair("temperature", TomlText.levels(pressure.temperature)),
            Pair("throttling", quoted: pressure.throttling.wireName),
        ]
    }

    public static func pairs(_ contention: Contention) -> [Pair] {
        [
            Pair("order", contention.order.map(\.name)), Pair("tie", quoted: contention.tie.rawValue),
            Pair("same-app", quoted: contention.sameApp.rawValue),
            Pair("own-conflict", quoted: contention.ownConflict.rawValue),
            Pair("newcomer", quoted: contention.newcomer.rawValue), Pair("loser", quoted: contention.loser.rawValue),
            Pair("sharing", quoted: contention.sharing.rawValue),
            Pair("share-with", quoted: contention.shareWith.rawValue),
            Pair("re-decide", quoted: contention.reDecide.rawValue), Pair("cool-down", contention.coolDown),
        ] + (contention.budget.map { [Pair("budget", "\($0)")] } ?? []) + [
            Pair("gives-way", quoted: contention.givesWay.rawValue),
            Pair("strongest-may-exceed", "\(contention.strongestMayExceed)"),
            Pair("backfill", "\(contention.backfill)"),
        ]
    }

    /// What `[shell]` or `[agent]` says.
    public static func pairs(speakingUnit unit: String) -> [Pair] { [Pair("unit", quoted: unit)] }

    public static func pairs(_ camera: CameraRule) -> [Pair] {
        var pairs = [Pair("id", quoted: camera.camera.name)]
        if !camera.conflicts.isEmpty { pairs.append(Pair("conflicts", camera.conflicts.map(\.name))) }
        if camera.cost != 0 { pairs.append(Pair("cost", written(camera.cost))) }
        return pairs
    }

    /// Always with what the other formats cost, so that nobody has to look for the dearest.
    private static func written(_ cost: CameraCost) -> String {
        if !cost.isByFormat { return "\(cost.other)" }
        let formats = cost.formats.map { "\(TomlText.quoted($0.key)) = \($0.cost)" }
        return "{ \((formats + ["\(PolicyReader.otherFormats) = \(cost.other)"]).joined(separator: ", ")) }"
    }

    // MARK: Lines

    mutating func table(_ header: String, _ pairs: [Pair], _ part: PolicyPart) {
        text += "\n"
        note(part)
        text += header + "\n"
        for pair in pairs { write(pair) }
    }

    mutating func write(line: String) { text += line + "\n" }

    mutating func write(_ pair: Pair, _ part: PolicyPart? = nil) {
        if let part { note(part) }
        text += pair.line + "\n"
    }

    /// Facts as an inline table where it fits on a line, else as a table of their own.
    mutating func facts(_ key: String, of header: String, _ facts: [FactTest], isShort: Bool? = nil) {
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
    /// A name that nobody bears stays: it names nobody elsewhere either, where nobody is asked.
    var withNumbersOnly: Policy {
        func plain(_ accounts: [Rights.Account]) -> [Rights.Account] {
            accounts.reduce(into: []) { plain, account in
                let one = account.number.map { Rights.Account(number: $0) } ?? account
                // A name and its number may both have been written.
                if !plain.contains(one) { plain.append(one) }
            }
        }
        var policy = self
        policy.rights.users = plain(rights.users)
        policy.rights.groups = plain(rights.groups)
        return policy
    }
}

extension TomlText {
    /// Those that there are, from the lowest, as an inline table.
    static func levels(_ levels: PressureSettings.Levels) -> String {
        let pairs = SystemPressure.allCases.compactMap { level in
            levels[level].map { "\(level.wireName) = \(number($0))" }
        }
        return pairs.isEmpty ? "{}" : "{ \(pairs.joined(separator: ", ")) }"
    }

    /// Its name where the file has that.
    static func value(of account: Rights.Account) -> String {
        account.name.map(quoted) ?? account.number.map { "\($0)" } ?? quoted("")
    }

    static func value(of fact: FactTest) -> String {
        switch fact {
        // Names are the author's, and may have quotation marks in them.
        case .app(let name), .claimedApp(let name): quoted(name)
        case .camera(let camera): quoted(camera.name)
        // Words of the format and numbers stand as they are.
        case .user, .loginSession, .foreground, .layout, .focused, .foregroundApps, .client, .multitasking, .position,
            .usesAudio, .microphoneTaken, .pressure, .recording, .bidIsNew, .operatorChosen, .attribute, .mode:
            fact.written.value
        }
    }
}

extension PolicyWriter {
    /// Reads back in its place as long as every `never` stands before every `always`, as reading has them.
    mutating func write(_ statement: Statement) {
        let header = statement.isNever ? "never" : "always"
        let demand = Self.demand(of: statement)
        table("[[\(header)]]", [Pair("name", quoted: statement.name)] + demand, .statement(statement.name))
        let roles = Self.roles(of: statement) + (statement.by.map { [("by", $0)] } ?? [])
        let unless = Self.unless(of: statement)
        // One in its long form makes all of them long: behind such a table there are only tables.
        let isShort = roles.allSatisfy { Pair($0.key, $0.when).fitsOnALine } && unless?.fitsOnALine ?? true
        for role in roles { facts(role.key, of: header, role.when, isShort: isShort) }
        if let unless, isShort { return write(unless) }
        for excuse in statement.unless {
            write(line: "[[\(header).unless]]")
            for fact in excuse.when { write(Pair(fact)) }
            if let by = excuse.by { facts("by", of: "\(header).unless", by, isShort: Pair("by", by).fitsOnALine) }
        }
    }

    public static func pairs(_ statement: Statement) -> [Pair] {
        let roles = roles(of: statement).map { Pair($0.key, $0.when) }
        let by = statement.by.map { [Pair("by", $0)] } ?? []
        let unless = unless(of: statement).map { [$0] } ?? []
        let name = Pair("name", quoted: statement.name)
        let demand = demand(of: statement)
        return [name] + roles + demand + by + unless
    }

    /// What it says besides facts.
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

    /// One table, or a list of several.
    private static func unless(of statement: Statement) -> Pair? {
        if statement.unless.isEmpty { return nil }
        let all = statement.unless.map { excuse in
            let pairs = excuse.when.map(Pair.init) + (excuse.by.map { [Pair("by", $0)] } ?? [])
            return pairs.isEmpty ? "{}" : "{ \(pairs.map(\.line).joined(separator: ", ")) }"
        }
        return Pair("unless", all.count == 1 ? all[0] : "[\(all.joined(separator: ", "))]")
    }
}
