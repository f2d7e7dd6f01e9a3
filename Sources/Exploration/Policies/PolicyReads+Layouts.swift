import Arbiter
import ArbiterProtocol

/// Layouts that no policy tells apart. A small world needs one of each class: put an app into the other one, and every
/// rule answers the same.
extension PolicyReads {
    var layouts: [Presence.Layout] {
        Presence.Layout.allCases.reduce(into: []) { chosen, layout in
            if !chosen.contains(where: { areAlike($0, layout) }) { chosen.append(layout) }
        }
    }

    /// Exchanging the two leaves every list of rules as it was, except the names of rules and the order of
    /// neighbours that never match together.
    private func areAlike(_ a: Presence.Layout, _ b: Presence.Layout) -> Bool {
        func other(_ layout: Presence.Layout) -> Presence.Layout { layout == a ? b : layout == b ? a : layout }
        return policies.allSatisfy { policy in
            let causes = policy.causeRules.map {
                Clause(for: "\($0.cause.rawValue) \($0.access.rawValue) \(namesCount ? $0.name : "")", $0.when)
            }
            let ranks = policy.rankRules.map { rule in
                var plain = rule
                if !namesCount { plain.name = "" }
                plain.when = []
                return Clause(for: "\(plain)", rule.when)
            }
            let statements = policy.statements.flatMap { statement in
                statement.conjunctions.enumerated().map { Clause(for: "\(statement.name) \($0.offset)", $0.element) }
            }
            return [causes, ranks, statements].allSatisfy { clauses in
                Clause.sorted(clauses) == Clause.sorted(clauses.map { $0.exchanging(other) })
            }
        }
    }

    /// What a rule answers, and when.
    private struct Clause: Equatable {
        let answer: String
        let layout: Presence.Layout?
        let rest: [FactTest]

        init(for answer: String, _ when: [FactTest]) {
            self.answer = answer
            layout = when.lazy.compactMap { if case .layout(let layout) = $0 { layout } else { nil } }.first
            rest = when.filter { if case .layout = $0 { false } else { true } }
        }

        private init(_ clause: Clause, layout: Presence.Layout?) {
            answer = clause.answer
            self.layout = layout
            rest = clause.rest
        }

        func exchanging(_ other: (Presence.Layout) -> Presence.Layout) -> Clause {
            Clause(self, layout: layout.map(other))
        }

        /// Neighbours of different layouts never match together, so their order means nothing: it is made one.
        static func sorted(_ clauses: [Clause]) -> [Clause] {
            var clauses = clauses
            for end in clauses.indices {
                for index in stride(from: end, to: 0, by: -1) {
                    guard let first = clauses[index - 1].layout, let second = clauses[index].layout,
                        second.rawValue < first.rawValue
                    else { break }
                    clauses.swapAt(index - 1, index)
                }
            }
            return clauses
        }
    }
}
