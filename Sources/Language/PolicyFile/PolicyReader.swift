import Arbiter
import ArbiterProtocol
import TomlFile

/// Builds a policy from a TOML tree, noting everything that is wrong on the way. What cannot be read counts as not
/// written, so that one slip is one problem.
struct PolicyReader {
    static let keys = [
        "include", "name", "summary", "sources", "ranks", "pressure-settle", "access", "attribute", "mode", "cause",
        "rank", "pressure", "contention", "shell", "agent", "camera", "never", "always",
    ]

    let problems: ProblemList
    let top: TableReader
    let accounts: any Accounts
    /// Where each rule name was first given.
    private var ruleNames: [String: Place] = [:]
    /// What the file declares, for the rules that name it.
    private(set) var declared: [Attribute] = []
    private(set) var declaredModes: [Mode] = []
    var factKeys: [String] { FactReader.keys(with: declared) }

    init(_ root: TomlTable, accounts: any Accounts, problems: ProblemList) {
        self.problems = problems
        self.accounts = accounts
        top = TableReader(root, owner: "", problems: problems)
    }

    mutating func policy() -> Policy {
        if top.entry("name") == nil {
            top.missing(
                "name", of: Self.keys, "the policy has no \"name\"",
                hint: "begin the file with name = \"…\"; status and logs show it")
        }
        let ranks = rankNames()
        declared = attributes()
        declaredModes = modes()
        var policy = Policy(
            name: top.label("name") ?? "unnamed",
            summary: top.label("summary", emptyAllowed: true, bytesMax: Bounds.summaryBytesMax) ?? "",
            sources: top.choices("sources", PresenceSource.allCases.map { ($0.rawValue, $0) }) ?? [],
            shellUnit: speakingUnit("shell"), agentUnit: speakingUnit("agent"), attributes: declared,
            modes: declaredModes, ranks: ranks ?? [Self.onlyRank])
        if let settle = top.duration("pressure-settle", in: Bounds.pressureSettle) { policy.pressureSettle = settle }
        policy.rights = rights()
        policy.causeRules = top.tables("cause", countMax: Bounds.rulesMax).compactMap { causeRule($0) }
        policy.rankRules = top.tables("rank", countMax: Bounds.rulesMax).compactMap { rankRule($0, ranks: ranks) }
        policy.pressure = pressure()
        policy.contention = contention()
        policy.cameras = cameras()
        policy.statements = statements()
        top.refuseUnknown(Self.keys, advice: Self.advice(at: ""))
        return policy
    }

    /// What the one rank of a policy without `ranks` is called.
    private static let onlyRank = "everyone"

    /// Nil when the file has none; a broken list gives no follow-up problems either.
    private func rankNames() -> [String]? {
        let takes = "a list of names, the strongest first"
        guard let names = top.strings("ranks", takes: takes, countMax: Bounds.ranksMax) else { return nil }
        if names.isEmpty, let entry = top.entry("ranks"), case .array(let nodes) = entry.node.value, nodes.isEmpty {
            problems.add("\"ranks\" is empty; it takes \(takes)", at: entry.node.place)
        }
        for (name, place) in names {
            if let complaint = FileBounds.complaint(name) {
                problems.add("a name in \"ranks\" \(complaint)", at: place)
            }
        }
        return names.isEmpty ? nil : names.map(\.text)
    }

    // MARK: Rules

    static let causeKeys = ["name", "when", "cause", "access"]

    private mutating func causeRule(_ table: TomlTable) -> CauseRule? {
        let reader = rule(table, kind: "cause")
        reader.refuseUnknown(Self.causeKeys, advice: Self.advice(at: "[[cause]]", facts: factKeys))

        var when: [FactTest] = []
        if reader.entry("when") == nil {
            // Facts beside it are reported as such.
            if !reader.table.entries.contains(where: { factKeys.contains($0.key) }) {
                reader.missing(
                    "when", of: Self.causeKeys, "no \"when\" \(reader.owner)",
                    hint: "say when it holds, as in when = { presence = \"background\" }; {} is always")
            }
        } else if let facts = reader.table("when", takes: "facts in braces, as in { presence = \"background\" }") {
            let facts = TableReader(
                facts.underTodaysNames(problems), owner: "in \"when\" \(reader.owner.droppingIn)", problems: problems)
            facts.refuseUnknown(factKeys)
            when = FactReader(reader: facts, attributes: declared, modes: declaredModes.map(\.name)).tests()
        }
        let cause = cause(reader)
        let rights = reader.choices("access", Access.rights.map { ($0.name, $0.right) }) ?? []
        guard let name = reader.ruleName, let cause else { return nil }
        return CauseRule(name: name, when: when, cause: cause, access: rights.reduce(.none) { $0.union($1) })
    }

    private func cause(_ reader: TableReader) -> Cause? {
        let allowed = CauseRule.causes.map { ($0.wireName, $0) }
        guard let entry = reader.entry("cause") else {
            reader.missing(
                "cause", of: Self.causeKeys, "no \"cause\" \(reader.owner)",
                hint: "one of \(Wording.list(allowed.map(\.0)))")
            return nil
        }
        if case .string(let text) = entry.node.value {
            if let known = Cause(wireName: text), !CauseRule.causes.contains(known) {
                let why =
                    known == .videoDeviceInUseByAnotherClient
                    ? "which [contention] decides" : "a fact that holds under every policy"
                problems.add(
                    "\(reader.subject("cause")) is \(Wording.quoted(text)), \(why); a rule may raise "
                        + Wording.list(allowed.map(\.0)), at: entry.node.place)
                return nil
            }
            if let short = Cause(shortName: text), CauseRule.causes.contains(short) {
                return reader.wrongType(
                    entry, takes: Wording.list(allowed.map(\.0)),
                    hint: "did you mean \(Wording.quoted(short.wireName))?")
            }
        }
        return reader.choice("cause", allowed)
    }

    static let rankKeys = ["name", "rank", "deny", "immediate", "grace", "min-hold", "lease"]

    private mutating func rankRule(_ table: TomlTable, ranks: [String]?) -> RankRule? {
        let reader = rule(table, kind: "rank")
        reader.refuseUnknown(Self.rankKeys + factKeys, advice: Self.advice(at: "[[rank]]"))

        let when = FactReader(reader: reader, attributes: declared, modes: declaredModes.map(\.name)).tests()
        if reader.boolean("deny") == true {
            for key in Self.rankKeys where key != "name" && key != "deny" {
                guard let entry = reader.entry(key) else { continue }
                problems.add("\(reader.subject(key)) means nothing beside deny = true", at: entry.keyPlace)
            }
            guard let name = reader.ruleName else { return nil }
            return RankRule(name: name, when: when, rank: (ranks?.count ?? 1) - 1, deny: true)
        }
        let rank = rank(reader, ranks: ranks)
        let isImmediate = reader.boolean("immediate") ?? false
        let grace = reader.duration("grace", in: Bounds.grace) ?? .zero
        let minHold = reader.duration("min-hold", in: Bounds.minHold) ?? .zero
        let lease = reader.duration("lease", in: Bounds.lease)
        guard let name = reader.ruleName, let rank else { return nil }
        return RankRule(
            name: name, when: when, rank: rank, isImmediate: isImmediate, grace: grace, minHold: minHold, lease: lease)
    }

    private func rank(_ reader: TableReader, ranks: [String]?) -> Int? {
        if reader.entry("rank") == nil {
            reader.missing(
                "rank", of: Self.rankKeys + factKeys, "no \"rank\" \(reader.owner)",
                hint: "one of the names in \"ranks\"")
            return nil
        }
        guard let (text, place) = reader.string("rank") else { return nil }
        guard let ranks else {
            // A list that could not be read was reported; which names it would have had nobody knows.
            if top.entry("ranks") == nil {
                problems.add(
                    "\(reader.subject("rank")) is \(Wording.quoted(text)), but the policy has no \"ranks\"", at: place,
                    hint: "add ranks = [\(Wording.quoted(text))] above the first table, the strongest first")
            }
            return nil
        }
        if let rank = ranks.firstIndex(of: text) { return rank }
        problems.add(
            "\(reader.subject("rank")) is \(Wording.quoted(text)); it takes \(Wording.list(ranks))", at: place,
            hint: Wording.didYouMean(text, among: ranks))
        return nil
    }

    /// A reader for a rule's table that speaks of the rule by its name, which every rule has to have, alone.
    private mutating func rule(_ table: TomlTable, kind: String) -> TableReader {
        let table = table.underTodaysNames(problems)
        let unnamed = TableReader(table, owner: "in a [[\(kind)]] rule", problems: problems)
        let known = kind == "cause" ? Self.causeKeys : Self.rankKeys + factKeys
        guard let entry = unnamed.entry("name") else {
            unnamed.missing(
                "name", of: known, "a [[\(kind)]] rule has no \"name\"",
                hint: "add name = \"…\"; every verdict names its rule")
            return unnamed
        }
        guard let name = unnamed.label("name") else { return unnamed }
        if let first = ruleNames[name] {
            problems.add(
                "a second rule is named \(Wording.quoted(name)); every verdict names its rule, so names are unique",
                at: entry.node.place, hint: "the first is in \(problems.texts.spoken(first, from: entry.node.place))")
        } else {
            ruleNames[name] = entry.node.place
        }
        return TableReader(table, owner: "in rule \(Wording.quoted(name))", problems: problems)
    }
}

extension TableReader {
    /// The rule's name without a second complaint about it.
    fileprivate var ruleName: String? {
        guard let entry = entry("name"), case .string(let text) = entry.node.value, FileBounds.complaint(text) == nil
        else { return nil }
        return text
    }
}

extension String {
    /// `in rule "X"` as `of rule "X"`, to stand behind another place.
    var droppingIn: String { hasPrefix("in ") ? "of \(dropFirst(3))" : self }
}

/// Keys that had another name once. Policies of those days still read, and say the same.
enum EarlierNames {
    /// Of rank rules and of facts: each earlier name and the one of today. Nobody can declare an attribute by either.
    static let rules = ["claim": "bid", "override": "immediate"]
}

extension TomlTable {
    /// The table with today's names for its keys. Where a key stands there by both names, the earlier one is a problem.
    func underTodaysNames(_ problems: ProblemList) -> TomlTable {
        var table = self
        for (index, entry) in entries.enumerated() {
            guard let name = EarlierNames.rules[entry.key] else { continue }
            if entries.contains(where: { $0.key == name }) {
                problems.add(
                    "\(Wording.quoted(entry.key)) is the earlier name of \(Wording.quoted(name)), and both are given",
                    at: entry.keyPlace, hint: "leave it out")
            }
            table.entries[index].key = name
        }
        return table
    }
}

extension PolicyReader {
    static let pressureKeys = ["watch", "memory", "processor", "temperature", "throttling"]
    static let pressureLevels: [SystemPressure] = [.fair, .serious, .critical]

    /// "How hard is the machine pressed?" What is not written is `PressureSettings`' default.
    func pressure() -> PressureSettings {
        var pressure = PressureSettings.usual
        guard let table = top.table("pressure", takes: "a table that begins with [pressure]") else { return pressure }
        let reader = TableReader(table, owner: "in [pressure]", problems: problems)
        reader.refuseUnknown(Self.pressureKeys, advice: Self.advice(at: "[pressure]"))
        if let watch = reader.boolean("watch") { pressure.isWatched = watch }
        if let memory = levels("memory", reader, in: Bounds.stall) { pressure.memory = memory }
        if let processor = levels("processor", reader, in: Bounds.stall) { pressure.processor = processor }
        if let temperature = levels("temperature", reader, in: Bounds.temperature) {
            pressure.temperature = temperature
        }
        if let throttling = reader.choice("throttling", SystemPressure.allCases.map { ($0.wireName, $0) }) {
            pressure.throttling = throttling
        }
        return pressure
    }

    /// Where each level begins; one that is missing is never reached by this.
    private func levels(
        _ key: String, _ pressure: TableReader, in range: ClosedRange<Double>
    ) -> PressureSettings.Levels? {
        let takes = "levels in braces, as in { fair = 30, serious = 60, critical = 80 }"
        guard let table = pressure.table(key, takes: takes) else { return nil }
        let reader = TableReader(table, owner: "in \"\(key)\" of [pressure]", problems: problems)
        reader.refuseUnknown(Self.pressureLevels.map(\.wireName))
        var levels = PressureSettings.Levels()
        var below: (name: String, value: Double)?
        for level in Self.pressureLevels {
            guard let value = reader.number(level.wireName, in: range) else { continue }
            levels[level] = value
            if let below, value <= below.value, let entry = reader.entry(level.wireName) {
                problems.add(
                    "\(reader.subject(level.wireName)) is \(TomlText.number(value)), which is not above "
                        + "\"\(below.name)\"; a harder pressure begins at a higher figure", at: entry.node.place)
            }
            below = (level.wireName, value)
        }
        return levels
    }
}
