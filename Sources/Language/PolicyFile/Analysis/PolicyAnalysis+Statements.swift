import Arbiter
import ArbiterProtocol
import TomlFile

/// Suspicious statements, as far as the rules alone show them: about nobody, never broken, or surely broken.
extension PolicyAnalysis {
    func lookAtStatements() {
        // A space of its own: facts of statements alone say nothing about rules.
        let space = FactSpace(policy, besides: policy.statements.flatMap(\.testsRead))
        for statement in policy.statements {
            let look = StatementLook(statement: statement, space: space, analysis: self)
            look.lookAtFacts()
            look.lookAtExcuses()
            look.lookAtTimes()
            look.lookAtParts()
        }
    }
}

private struct StatementLook {
    let statement: Statement
    let space: FactSpace
    let analysis: PolicyAnalysis

    private var name: String { "the statement \(Wording.quoted(statement.name))" }

    private static let kept = "the policy is used all the same: no decision reads a statement"

    private func warn(_ key: String, _ words: String, _ hint: String) {
        analysis.problems.warn("\(name) \(words)", at: place(of: key), hint: "\(hint); \(Self.kept)")
    }

    /// Facts that exclude each other: nobody ever has them.
    func lookAtFacts() {
        for (key, tests) in written where isEmpty(tests) {
            let words = tests.map(TomlText.pair).joined(separator: " and ")
            warn(
                key, "never applies: in \"\(key)\", \(words) cannot be together",
                "no session ever has these facts")
        }
    }

    private var written: [(key: String, tests: [FactTest])] {
        let keys: [String] =
            if case .never(let players) = statement.assertion { players.map(\.part.rawValue) } else { ["when"] }
        return Array(zip(keys, statement.roles)) + (statement.by.map { [("by", $0)] } ?? [])
    }

    private func isEmpty(_ tests: [FactTest]) -> Bool { space.answer(tests) == .covered }

    func lookAtExcuses() {
        guard statement.roles.indices.contains(statement.subject) else { return }
        let subject = statement.roles[statement.subject]
        // It has been reported.
        if isEmpty(subject) { return }
        for excuse in statement.unless where isEmpty(subject + excuse.when) || excuse.by.map(isEmpty) == true {
            warn("unless", "has an excuse that never holds", "it changes nothing; take it out")
        }
        let alone = statement.unless.filter { $0.by == nil }.map(\.when)
        if !alone.isEmpty, space.answer(subject, by: alone) == .covered {
            warn("unless", "cannot be false: its excuses cover everybody it is about", "narrow \"unless\"")
        }
    }

    /// Longer than any lease, and no walk of days is ever complete.
    private static let longest = Duration.seconds(24 * 3600)

    func lookAtTimes() {
        switch statement.assertion {
        case .never, .always, .fair: return
        case .within(_, _, let time):
            if time > Self.longest {
                warn(
                    "within",
                    "says \"\(DurationText.write(time))\", which is longer than anything lasts that is walked",
                    "no lease is longer than \"\(DurationText.write(Bounds.lease.upperBound))\"")
            }
        case .atMost(let when, let most, let window):
            if most < window {
                lookAtWhoIsAlone(when, most, window)
            } else {
                warn(
                    "at-most",
                    "cannot be false: nobody holds a camera for longer than "
                        + "\"\(DurationText.write(most))\" within \"\(DurationText.write(window))\"",
                    "let \"at-most\" be shorter than \"in\"")
            }
        case .warned(let when, let least):
            let rules = analysis.policy.rankRules.filter { !isEmpty($0.when + when) }
            let grace = rules.map(\.grace).max() ?? .zero
            guard least > grace else { return }
            warn(
                "warned",
                "is broken whenever such a session loses its camera: it is told "
                    + "\"\(DurationText.write(grace))\" before at most",
                "no rule that it can match gives a longer \"grace\"")
        }
    }

    /// An app that is alone asks again when its lease has ended, so only rules that keep it out bound its holding.
    private func lookAtWhoIsAlone(_ when: [FactTest], _ most: Duration, _ window: Duration) {
        let policy = analysis.policy
        let bound = HoldingBound(policy, for: when)
        if let bound, bound.most(in: window) <= most { return }
        // A newcomer that is kept out never holds, and a holder is no newcomer.
        let keptOut =
            (policy.causeRules.filter(\.access.isEmpty).map(\.when) + policy.rankRules.filter(\.deny).map(\.when))
            .map { $0.filter { $0 != .bidIsNew(true) } }
        guard space.answer(when, by: statement.unless.map(\.when) + keptOut + [[.bidIsNew(true)]]) == .open else {
            return
        }
        let leases = policy.rankRules.filter { !isEmpty($0.when + when) }.compactMap(\.lease)
        let pause = leases.max().flatMap { HoldingBound.pause(after: $0, most: most, in: window) }
        let remedy = pause.map { "give a pause, \"\(DurationText.write($0))\" at least" }
        if let bound {
            warn(
                "at-most",
                "is broken by an app that is alone: with a lease of \"\(DurationText.write(bound.lease))\" and a pause of "
                    + "\"\(DurationText.write(bound.pause))\" it holds a camera for "
                    + "\"\(DurationText.write(bound.most(in: window)))\" within \"\(DurationText.write(window))\"",
                remedy ?? "a shorter lease keeps it")
        } else if leases.isEmpty {
            warn(
                "at-most", "is broken by an app that is alone: nothing ends its holding",
                "give a lease, and a pause after it")
        } else {
            warn(
                "at-most", "is broken by an app that is alone: a lease ends, and begins again at once",
                remedy ?? "a shorter lease, and a pause after it, keep it")
        }
    }

    func lookAtParts() {
        let policy = analysis.policy
        if statement.isAcrossCameras, !policy.linksCameras {
            warn(
                "across", "says nothing by \"across\": no camera excludes another",
                "there is neither a conflict nor a budget")
        }
        guard case .never(let players) = statement.assertion, policy.contention.sharing == .none,
            players.contains(where: { $0.part == .sharer })
        else { return }
        warn("sharer", "cannot be false: nobody watches beside the holder", "no camera is shared under this policy")
    }

    private func place(of key: String) -> Place {
        let root = analysis.root
        guard let table = root.table(statement.isNever ? "never" : "always", named: statement.name) else {
            return root.place
        }
        return table.entry(key)?.keyPlace ?? table.entry("name")?.node.place ?? table.place
    }
}
