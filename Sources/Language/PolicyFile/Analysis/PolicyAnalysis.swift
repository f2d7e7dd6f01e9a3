import Arbiter
import ArbiterProtocol
import TomlFile

/// Suspicious parts of a policy that can be read. Exact: a rule is named where it answers for no facts that a session
/// can have.
struct PolicyAnalysis {
    let policy: Policy
    let root: TomlTable
    private let space: FactSpace
    let problems: ProblemList

    /// - Parameter looksForAccounts: the policy was read with a machine's users and groups.
    static func run(_ policy: Policy, _ root: TomlTable, _ problems: ProblemList, looksForAccounts: Bool = false) {
        let analysis = PolicyAnalysis(policy: policy, root: root, space: FactSpace(policy), problems: problems)
        for list in RuleList.all(policy) { analysis.look(list.entries) }
        analysis.lookAtRanks()
        lookAtModes(policy, root, problems)
        analysis.lookAtRights(looksForAccounts: looksForAccounts)
        analysis.lookAtStatements()
    }

    private typealias Rule = RuleList.Entry

    /// The first rule that matches answers.
    private func look(_ rules: [Rule]) {
        var live: [Rule] = []
        for rule in rules {
            if space.answer(rule.when) == .covered {
                neverMatches(rule)
                continue
            }
            // A rule that shares no facts with it hides nothing of it; most rules do not.
            let box = space.box(rule.when)
            let near = live.filter { space.meet(box, space.box($0.when)) }
            switch space.answer(rule.when, by: near.map(\.when)) {
            case .open: live.append(rule)
            case .covered: hidden(rule, by: near)
            case .unsettled:
                live.append(rule)
                warn("whether rule \(Wording.quoted(rule.name)) can ever answer", rule)
            }
        }
    }

    private func neverMatches(_ rule: Rule) {
        // The fewest of its facts that contradict each other, and the reasons.
        let facts = rule.when.fewest { space.answer($0) == .covered }
        let reasons = space.impossible.fewest { space.answer(facts, knowing: $0) == .covered }.map(\.why).eachOnce
        problems.warn(
            "rule \(Wording.quoted(rule.name)) can never match: \(Wording.joined(facts.map(TomlText.pair))) "
                + (facts.count > 1 ? "cannot be together" : "never holds"),
            at: place(of: facts.last, rule),
            hint: reasons.isEmpty ? "a layout is one of the foreground" : reasons.joined(separator: "; "))
    }

    private func hidden(_ rule: Rule, by live: [Rule]) {
        let hiders = live.fewest { space.answer(rule.when, by: $0.map(\.when)) == .covered }
        let here = place(of: rule)
        let names = hiders.map { hider in
            "\(hider.isDeny ? "the deny rule" : "rule") \(Wording.quoted(hider.name)) "
                + "(\(problems.spoken(place(of: hider), from: here)))"
        }
        if names.isEmpty { return }
        let together = names.count == 1 ? "answers" : "together answer"
        problems.warn(
            "rule \(Wording.quoted(rule.name)) can never answer: \(Wording.joined(names)) \(together) wherever it matches",
            at: here,
            hint: names.count == 1
                ? "let it stand before that one, or take it out" : "let it stand before one of them, or take it out")
    }

    private func warn(_ what: String, _ rule: Rule) {
        problems.warn(
            "\(what) was not settled in \(CoverSearch.stepsMax) steps", at: place(of: rule),
            hint: "fewer rules with overlapping facts before it would help")
    }

    private func lookAtRanks() {
        for rule in policy.rankRules where rule.pause > .zero && rule.lease == nil {
            guard let table = root.table("rank", named: rule.name), let entry = table.entry("pause") else { continue }
            problems.warn(
                "rule \(Wording.quoted(rule.name)) has a pause and no lease, so that there is nothing to pause after",
                at: entry.keyPlace, hint: "give a lease beside it, or take the pause out")
        }
        // A session that matches no rule has the weakest rank.
        let weakest = policy.ranks.count - 1
        let isWeakestFree = space.answer([], by: policy.rankRules.map(\.when)) != .covered
        for (rank, node) in root.nodes("ranks").enumerated()
        where rank < policy.ranks.count && !(rank == weakest && isWeakestFree) {
            // A rule that cannot answer has been reported.
            let givers = policy.rankRules.filter { !$0.deny && $0.rank == rank }
            guard givers.isEmpty else { continue }
            problems.warn(
                "no rule gives the rank \(Wording.quoted(policy.ranks[rank]))", at: node.place,
                hint: rank == weakest
                    ? "every session matches another rule" : "a client may only lower itself to it")
        }
    }

    private func lookAtRights(looksForAccounts: Bool) {
        guard case .table(let table)? = root.entry("access")?.node.value else { return }
        let rights = policy.rights
        if looksForAccounts {
            for (key, accounts) in [("users", rights.users), ("groups", rights.groups)] {
                for (account, node) in zip(accounts, table.nodes(key)) where account.number == nil {
                    problems.warn(
                        "this machine has no \(key.dropLast()) \(Wording.quoted(account.name ?? "")): nobody gets a right by it",
                        at: node.place)
                }
            }
        }
        for (service, node) in zip(rights.services, table.nodes("services")) where !service.hasSuffix(".service") {
            problems.warn(
                "\"services\" in [access] has \(Wording.quoted(service)) in it; the kernel vouches for services alone",
                at: node.place, hint: "a unit's name ends in .service")
        }
        if !rights.seat, rights.users.isEmpty, rights.groups.isEmpty, rights.services.isEmpty,
            let seat = table.entry("seat")
        {
            problems.warn(
                "nobody but root may use a camera: seat is false, and nobody is named", at: seat.keyPlace,
                hint: "name users, groups or services beside it")
        }
    }

    private func table(_ rule: Rule) -> TomlTable? { root.table(rule.isCause ? "cause" : "rank", named: rule.name) }

    private func place(of rule: Rule) -> Place { table(rule)?.entry("name")?.node.place ?? root.place }

    private func place(of fact: FactTest?, _ rule: Rule) -> Place {
        guard let fact, var facts = table(rule) else { return place(of: rule) }
        if rule.isCause, case .table(let when)? = facts.entry("when")?.node.value { facts = when }
        return facts.entry(fact.written.key)?.keyPlace ?? place(of: rule)
    }

    /// Modes whose calendar never decides, because an earlier mode's does in each of its minutes. The week has 10,080.
    static func lookAtModes(_ policy: Policy, _ root: TomlTable, _ problems: ProblemList) {
        guard policy.modes.count > 1, policy.hasCalendar else { return }
        let minutes = 0..<CalendarSpan.minutesOfWeek
        let inForce = minutes.map { policy.calendarMode(at: $0) }
        for (index, mode) in policy.modes.enumerated() where !mode.at.isEmpty && !inForce.contains(mode) {
            let hiding = policy.modes[..<index].filter { earlier in
                minutes.contains { minute in inForce[minute] == earlier && mode.at.contains { $0.holds(at: minute) } }
            }
            let names = hiding.map { "\"\($0.name)\"" }.joined(separator: " or ")
            guard let entry = root.table("mode", named: mode.name)?.entry("at") else { continue }
            let who = mode.setBy.isEmpty ? "never in force" : "in force only where somebody sets it"
            problems.warn(
                "mode \"\(mode.name)\" is \(who): whenever its calendar holds, so does that of \(names) before it",
                at: entry.node.place, hint: "let it stand before, or change its \"at\"")
        }
    }
}

extension Array {
    /// A part for which `holds` is true, as for the whole, and of which no smaller part is.
    func fewest(where holds: ([Element]) -> Bool) -> [Element] {
        // From the back: where two would do, the first stays.
        indices.reversed().reduce(self) { kept, index in
            var fewer = kept
            fewer.remove(at: index)
            return holds(fewer) ? fewer : kept
        }
    }
}
