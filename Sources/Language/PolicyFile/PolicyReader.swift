import Arbiter
import TomlFile
import Vocabulary

/// Builds a policy from a TOML tree, noting all problems on the way. A value that cannot be read counts as missing, so
/// that one slip is one problem.
package struct PolicyReader {
    let problems: ProblemList
    let top: TableReader
    let accounts: any Accounts
    private var ruleNames: [String: Place] = [:]
    private(set) var declared: [Attribute] = []
    private(set) var declaredModes: [Mode] = []
    /// `nil` when the file has none; a broken list gives no follow-up problems either.
    private var ranks: [String]?
    var factKeys: [String] { Fact.names + declared.map(\.name) }

    init(_ root: TomlTable, accounts: any Accounts, problems: ProblemList) {
        self.problems = problems
        self.accounts = accounts
        top = TableReader(root, owner: "", problems: problems)
    }

    mutating func policy() -> Policy {
        if top.entry("name") == nil {
            top.missing(
                "name", of: PolicyTable.top.names, "the policy has no \"name\"",
                hint: "begin the file with name = \"…\"; status and logs show it")
        }
        var policy = Policy(name: "unnamed")
        let usualRanks = policy.ranks
        policy.ranks = []
        read(PolicyKeys.top, of: top, into: &policy)
        if policy.ranks.isEmpty { policy.ranks = usualRanks } else { ranks = policy.ranks }
        declared = attributes()
        declaredModes = modes()
        (policy.attributes, policy.modes) = (declared, declaredModes)
        read("access", PolicyKeys.access, into: &policy.rights)
        for table in top.tables("cause", countMax: Bounds.rulesMax) { policy.causeRules.append(causeRule(table)) }
        for table in top.tables("rank", countMax: Bounds.rulesMax) { policy.rankRules.append(rankRule(table)) }
        read("pressure", PolicyKeys.pressure, into: &policy.pressure)
        read("contention", PolicyKeys.contention, into: &policy.contention)
        read("shell", PolicyKeys.shell, into: &policy)
        read("agent", PolicyKeys.agent, into: &policy)
        policy.cameras = cameras()
        policy.statements = statements()
        top.refuseUnknown(PolicyTable.top.names, advice: advice(in: ""))
        return policy
    }

    func read<Owner>(
        _ keys: [Key<Owner>], of reader: TableReader, but done: Set<String> = [], into owner: inout Owner
    ) { for key in keys where !done.contains(key.name) { key.read(reader, &owner, self) } }

    /// - Parameter keys: not made for a table that the policy does not have.
    private func read<Owner>(_ name: String, _ keys: @autoclosure () -> [Key<Owner>], into owner: inout Owner) {
        guard let table = top.table(name, takes: "a table that begins with [\(name)]") else { return }
        let keys = keys()
        let reader = TableReader(table, owner: "in [\(name)]", problems: problems)
        reader.refuseUnknown(keys.map(\.name), advice: advice(in: name))
        read(keys, of: reader, into: &owner)
    }

    /// Advice for a key in the wrong table: in TOML every key behind a header belongs to that table, which is the slip
    /// to expect.
    func advice(in table: String) -> (String) -> String? {
        { [factKeys] key in
            if table == "rank", key == "when" {
                return "a rank rule names its facts directly: app = \"…\" on a line of its own"
            }
            if table == "cause", factKeys.contains(key) { return "facts go inside when = { … }" }
            if !table.isEmpty, PolicyTable.top.names.contains(key) {
                let isAlone = ["contention", "shell", "agent", "camera"].contains(key)
                return isAlone || PolicyTable.named(key) == nil
                    ? "it goes to the top of the file, above the first table" : nil
            }
            for other in ["contention", "access", "pressure"] where other != table {
                if PolicyTable.named(other)?.names.contains(key) == true { return "it goes below [\(other)]" }
            }
            let isRanks = PolicyKeys.rank.dropFirst(2).contains { $0.name == key }
            return table != "rank" && isRanks ? "it goes into a [[rank]] rule" : nil
        }
    }

    // MARK: Rules

    private mutating func causeRule(_ table: TomlTable) -> CauseRule {
        let names = PolicyKeys.cause.map(\.name)
        let (reader, name) = rule(table, kind: "cause", names)
        reader.refuseUnknown(names, advice: advice(in: "cause"))
        // Facts beside it are reported as such.
        if reader.entry("when") == nil, !reader.table.entries.contains(where: { factKeys.contains($0.key) }) {
            reader.missing(
                "when", of: names, "no \"when\" \(reader.owner)",
                hint: "say when it holds, as in when = { presence = \"background\" }; {} is always")
        }
        var rule = CauseRule.unsaid
        rule.name = name
        read(PolicyKeys.cause, of: reader, but: ["name"], into: &rule)
        return rule
    }

    func cause(_ reader: TableReader) -> Cause? {
        let allowed = CauseRule.causes.map { ($0.wireName, $0) }
        let takes = Wording.list(allowed.map(\.0))
        guard let entry = reader.entry("cause") else {
            reader.missing(
                "cause", of: PolicyKeys.cause.map(\.name), "no \"cause\" \(reader.owner)", hint: "one of \(takes)")
            return nil
        }
        if case .string(let text) = entry.node.value {
            if let known = Cause(wireName: text), !CauseRule.causes.contains(known) {
                let why =
                    known == .videoDeviceInUseByAnotherClient
                    ? "which [contention] decides" : "a fact that holds under every policy"
                return reader.wrong("cause", "is \(Wording.quoted(text)), \(why); a rule may raise \(takes)")
            }
            if let short = Cause(shortName: text), CauseRule.causes.contains(short) {
                return reader.wrongType(
                    entry, takes: takes, hint: "did you mean \(Wording.quoted(short.wireName))?")
            }
        }
        return reader.choice("cause", allowed)
    }

    private mutating func rankRule(_ table: TomlTable) -> RankRule {
        let names = PolicyKeys.rank.map(\.name)
        let (reader, name) = rule(table, kind: "rank", names + factKeys)
        reader.refuseUnknown(names + factKeys, advice: advice(in: "rank"))
        var rule = RankRule(name: name, when: facts(of: reader), rank: (ranks?.count ?? 1) - 1)
        rule.deny = reader.boolean("deny") ?? false
        if rule.deny {
            for key in names where !RankRule.keysOfDenials.contains(key) {
                reader.complain(key, "means nothing beside deny = true", atKey: true)
            }
        }
        let keys = PolicyKeys.rank.filter { !rule.deny || RankRule.keysOfDenials.contains($0.name) }
        read(keys, of: reader, but: ["name", "deny"], into: &rule)
        return rule
    }

    func rank(_ reader: TableReader) -> Int? {
        if reader.entry("rank") == nil {
            reader.missing(
                "rank", of: PolicyKeys.rank.map(\.name) + factKeys, "no \"rank\" \(reader.owner)",
                hint: "one of the names in \"ranks\"")
            return nil
        }
        guard let (text, place) = reader.string("rank") else { return nil }
        guard let ranks else {
            // A list that could not be read was reported, and its names are unknown.
            if top.entry("ranks") == nil {
                reader.complain(
                    "rank", "is \(Wording.quoted(text)), but the policy has no \"ranks\"", at: place,
                    hint: "add ranks = [\(Wording.quoted(text))] above the first table, the strongest first")
            }
            return nil
        }
        if let rank = ranks.firstIndex(of: text) { return rank }
        return reader.wrong(
            "rank", "is \(Wording.quoted(text)); it takes \(Wording.list(ranks))", at: place,
            hint: Wording.didYouMean(text, among: ranks))
    }

    private mutating func rule(
        _ table: TomlTable, kind: String, _ known: [String]
    ) -> (reader: TableReader, name: String) {
        let (reader, name) = unique(
            table.underTodaysNames(problems), "rule", kind: kind, known, &ruleNames, "every verdict names its rule")
        return (reader, name ?? "")
    }

    /// - Parameter why: the reason for unique names.
    func unique(
        _ table: TomlTable, _ what: String, kind: String, _ known: [String], _ names: inout [String: Place],
        _ why: String, hint: String? = nil
    ) -> (reader: TableReader, name: String?) {
        let unnamed = TableReader(table, owner: "in a [[\(kind)]] \(what)", problems: problems)
        guard let entry = unnamed.entry("name") else {
            unnamed.missing(
                "name", of: known, "a [[\(kind)]] \(what) has no \"name\"", hint: "add name = \"…\"; \(hint ?? why)")
            return (unnamed, nil)
        }
        guard let name = unnamed.label("name") else { return (unnamed, nil) }
        if let first = names[name] {
            problems.add(
                "a second \(what) is named \(Wording.quoted(name)); \(why), so names are unique",
                at: entry.node.place,
                hint:
                    "the first is in \(what == "rule" ? problems.spoken(first, from: entry.node.place) : "line \(first.line)")"
            )
        } else {
            names[name] = entry.node.place
        }
        return (TableReader(table, owner: "in \(what) \(Wording.quoted(name))", problems: problems), name)
    }

    // MARK: Facts

    func facts(_ key: String, _ reader: TableReader) -> [FactTest]? {
        reader.table(key, takes: "facts in braces, as in { presence = \"background\" }")
            .map { facts($0, "\"\(key)\"", reader) }
    }

    func facts(_ table: TomlTable, _ what: String, _ reader: TableReader) -> [FactTest] {
        let inner = TableReader(
            table.underTodaysNames(problems), owner: "in \(what) \(reader.owner.droppingIn)", problems: problems)
        inner.refuseUnknown(factKeys)
        return facts(of: inner)
    }

    /// In the order of the file; other keys are read elsewhere.
    private func facts(of reader: TableReader) -> [FactTest] {
        reader.table.entries.compactMap { entry in
            if let attribute = declared.first(where: { $0.name == entry.key }) {
                return reader.choice(entry.key, attribute.values.map { ($0, .attribute(attribute.name, $0)) })
            }
            return Fact.all.first { $0.name == entry.key }?.read(reader, entry.key, declaredModes.map(\.name))
        }
    }
}
