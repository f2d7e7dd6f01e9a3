import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario

extension PolicyDifference {
    /// One kind of difference, shown by the shortest way to it.
    public struct Difference: Sendable {
        public var kind: DifferenceKind
        /// Steps that came to it.
        public var situations: Int
        public var witness: Witness
        /// The apps that have, or are told, something else.
        public var apps: [String]
        /// The rules behind what they have, under the first policy and under the second; empty where no rule speaks.
        public var rules: [[String]]
        /// The witness as two whole scenarios with their policies in them: each comes out as written. Nil: with the recorders
        /// that scenarios have by themselves, the difference does not show.
        public var scenarios: [String]?
    }
}

extension PairSearch {
    /// A path lived under both policies, up to its last step.
    private struct Lived {
        var inputs: [(event: Event, moment: Moment)] = []
        var before: [ExploredState]
        var after: [ExploredState]
        var events: [Event] = []
        var news: [[Effect]] = [[], []]
    }

    private func live(_ example: DifferenceExample, _ policies: [Policy]) -> Lived {
        let states = policies.map { world.beginning($0) }
        var lived = Lived(before: states, after: states)
        for choice in ways.path(to: example.parent) + [example.choice] {
            lived.before = lived.after
            world.forEachJointChoice(lived.before[0], lived.before[1]) { candidate, events, now in
                guard candidate == choice else { return true }
                lived.inputs += events.map { ($0, now) }
                lived.events = events
                for which in lived.after.indices { lived.news[which] = lived.after[which].live(events, at: now) }
                return false
            }
        }
        return lived
    }

    func witness(_ example: DifferenceExample, _ policies: [Policy]) -> PolicyDifference.Witness {
        witness(live(example, policies), example, policies)
    }

    private func witness(
        _ lived: Lived, _ example: DifferenceExample, _ policies: [Policy]
    ) -> PolicyDifference.Witness {
        let story = Story(world, policyLine: "", policies: "")
        if let told = story.contrast(lived.inputs, policies) {
            return PolicyDifference.Witness(length: example.depth, inputs: told.common, outcomes: told.ends)
        }
        let writer = ScenarioWriter(names: world.names)
        let outcomes = lived.news.map { effects in effects.compactMap { writer.notice($0) } }
        let lines = story.inputLines(lived.inputs, policies[0])
        return PolicyDifference.Witness(length: example.depth, inputs: lines, outcomes: outcomes)
    }

    func difference(
        _ kind: DifferenceKind, _ example: DifferenceExample, _ policies: [Policy], _ situations: Int
    ) -> PolicyDifference.Difference {
        let lived = live(example, policies)
        let verdict = DifferenceVerdict(
            before: lived.before[0], (lived.after[0], lived.after[1]), news: (lived.news[0], lived.news[1]),
            lived.events)
        let apps = unique(verdict.sessions.compactMap { lived.after[0].arbiter.status(of: $0)?.app.name })
        let rules = lived.after.indices.map { which in
            unique(
                verdict.sessions.compactMap {
                    Self.rule(behind: $0, lived.after[which], lived.news[which], lived.events)
                })
        }
        let titles = policies.indices.map { which in
            let because =
                rules[which].isEmpty ? "" : ", because \(rules[which].map { "“\($0)”" }.joined(separator: ", "))"
            let whose = ["the first policy", "the second policy"][which]
            return
                "\(kind.rawValue) (\(kind.direction.rawValue)): \(apps.joined(separator: ", ")) under \(whose)\(because)."
        }
        let story = Story(world, policyLine: "", policies: "")
        return PolicyDifference.Difference(
            kind: kind, situations: situations, witness: witness(lived, example, policies), apps: apps, rules: rules,
            scenarios: story.scenarios(lived.inputs, policies, titles: titles))
    }

    /// By which rule a session has what it has.
    private static func rule(
        behind session: SessionID, _ state: ExploredState, _ news: [Effect], _ events: [Event]
    ) -> String? {
        if Outcomes.asker(events) == session {
            for case .refused(let refusal) in news where !refusal.rule.isEmpty { return refusal.rule }
        }
        for case .notify(_, session, _, let event) in news.reversed() {
            if let rule = event.rule, !rule.isEmpty { return rule }
        }
        if let rule = state.arbiter.status(of: session)?.rule { return rule }
        return state.arbiter.overview().cameras.first { $0.holder == session }?.rule
    }
}

extension Story {
    /// A path as one scenario for each policy, with that policy in it and what it leads to there; nil where they come to
    /// the same.
    func scenarios(
        _ events: [(event: Event, moment: Moment)], _ policies: [Policy], titles: [String]
    ) -> [String]? {
        for isWhole in [false, true] {
            let body = lines(events, policies[0], isManual: false, isWhole: isWhole)
            let told = zip(policies, titles).compactMap { policy, title -> (head: [String], text: String)? in
                let head = ["# \(title)", "", Scenario.policyLine("policy", policy)]
                let text = (head + body).joined(separator: "\n") + "\n"
                guard let scenario = try? Scenario.parse(text, file: "witness", policies: ".") else { return nil }
                var stage = Stage(Arbiter(policy: scenario.world.policy))
                return (head, scenario.run(on: &stage).rewritten)
            }
            guard told.count == policies.count else { return nil }
            let bodies = told.map { $0.text.dropFirst($0.head.joined(separator: "\n").count) }
            if bodies[0] != bodies[1] { return told.map(\.text) }
        }
        return nil
    }
}
