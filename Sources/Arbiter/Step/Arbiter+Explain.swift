public import ArbiterProtocol

/// Why a decision fell as it did.
public struct Explanation: Sendable {
    public var decision: DecisionID
    public var at: Moment
    public var event: Event
    public var verdicts: [Verdict]

    public struct Verdict: Sendable {
        public var session: SessionID
        public var outcome: Outcome
        public var rule: String
        /// What the rule read, as a policy file writes it.
        public var read: [Fact]
        public var opponent: AppID?
        /// Each of these alone would have turned the verdict; the smallest change first. Empty: no single fact would.
        public var turnedBy: [Turn]
    }

    public enum Outcome: Hashable, Sendable {
        case granted
        case interrupted(CauseSet)
        case restricted(Access)
        case stopped(StopReason)
        case refused

        public var description: String {
            switch self {
            case .granted: "granted"
            case .interrupted(let causes): "interrupted: \(causes.ordered.map(\.wireName).joined(separator: ", "))"
            case .restricted(let access): "restricted to \(access.names.joined(separator: ", "))"
            case .stopped(let reason): "stopped: \(reason.rawValue)"
            case .refused: "refused"
            }
        }
    }

    public struct Fact: Hashable, Sendable {
        public var key: String
        public var value: String
    }

    /// One fact, of the session or of the machine, with another value.
    public struct Turn: Hashable, Sendable {
        /// Whose fact it is.
        public var of: Subject
        public var key: String
        public var from: String
        public var to: String
        /// The test that would hold then; nil for facts of the machine.
        public var test: FactTest?
        public enum Subject: Hashable, Sendable { case session, machine }
    }
}

extension Arbiter {
    /// Nil: no such decision, or older than the last `1,024` that said something.
    ///
    /// The flips are found by asking the policy again with one fact changed: the same functions that decided.
    public func explain(_ id: DecisionID) -> Explanation? {
        (id == 0 ? ledger.decisions.latest : ledger.decisions.find(id)).map(explain)
    }

    private func explain(_ record: DecisionRecord) -> Explanation {
        Explanation(
            decision: record.id, at: record.at, event: record.event,
            verdicts: record.verdicts.map { explain($0, record.policy) })
    }

    private func explain(_ verdict: Verdict, _ policy: Policy) -> Explanation.Verdict {
        var explained = Explanation.Verdict(
            session: verdict.session, outcome: verdict.outcome, rule: verdict.rule, read: [],
            opponent: verdict.against,
            turnedBy: [])
        guard let facts = verdict.facts else { return explained }
        let tests = policy.testsRead
        explained.read = FactFlip.read(tests, facts, policy)
        switch verdict.outcome {
        case .interrupted, .refused, .restricted: explained.turnedBy = turnsOfLoss(verdict, facts, policy)
        case .granted: explained.turnedBy = turnsOfGrant(verdict, facts, policy)
        case .stopped: break
        }
        return explained
    }

    private func turnsOfLoss(_ verdict: Verdict, _ facts: Facts, _ policy: Policy) -> [Explanation.Turn] {
        guard verdict.builtIn.isEmpty else {
            // A fact of the machine hides whatever the policy says; only if it is the only one does it turn alone.
            guard verdict.builtIn.count == 1, !access(facts, policy).isEmpty else { return [] }
            return [
                Explanation.Turn(
                    of: .machine, key: verdict.builtIn[0].wireName, from: "stands", to: "ended", test: nil)
            ]
        }
        let before = access(facts, policy)
        return FactFlip.flips(of: facts, policy).compactMap { flip in
            let changed = flip.applied(to: facts, policy)
            let turns: Bool
            if case .restricted = verdict.outcome {
                turns = access(changed, policy) != before
            } else if let standing = verdict.standing {
                // It lost to somebody: it must win against everybody in its way, and still be allowed to run.
                // Where nobody is named, a budget or a reservation was in its way, and no fact of its own counts.
                turns =
                    !verdict.opponents.isEmpty && !access(changed, policy).isEmpty
                    && verdict.opponents.allSatisfy { beats(changed, facts, standing, $0, policy) }
            } else if verdict.outcome == .refused {
                turns = policy.rank(facts).deny && !policy.rank(changed).deny
            } else {
                turns = !access(changed, policy).isEmpty
            }
            return turns ? flip.turn(of: .session, from: facts) : nil
        }
    }

    private func turnsOfGrant(_ verdict: Verdict, _ facts: Facts, _ policy: Policy) -> [Explanation.Turn] {
        FactFlip.flips(of: facts, policy).compactMap { flip in
            let changed = flip.applied(to: facts, policy)
            var turns = access(changed, policy).isEmpty
            if let standing = verdict.standing {
                turns = turns || verdict.opponents.contains { loses(changed, facts, standing, to: $0, policy) }
            }
            return turns ? flip.turn(of: .session, from: facts) : nil
        }
    }

    private func beats(
        _ changed: Facts, _ facts: Facts, _ standing: Standing, _ opponent: Verdict.Opponent, _ policy: Policy
    ) -> Bool {
        policy.compare(
            (changed, standing.changed(to: changed, from: facts, policy)), (opponent.facts, opponent.standing)
        )
        .winner == .first
    }

    private func loses(
        _ changed: Facts, _ facts: Facts, _ standing: Standing, to opponent: Verdict.Opponent, _ policy: Policy
    ) -> Bool {
        policy.compare(
            (changed, standing.changed(to: changed, from: facts, policy)), (opponent.facts, opponent.standing)
        )
        .winner == .second
    }

    private func access(_ facts: Facts, _ policy: Policy) -> Access {
        policy.liveCauses(facts).access
    }
}

extension Standing {
    /// The same claim under other facts. A rank that the client gave up stays given up.
    fileprivate func changed(to changed: Facts, from facts: Facts, _ policy: Policy) -> Standing {
        var other = self
        let asRanked = policy.rank(changed)
        let wasLowered = rank.rank > policy.rank(facts).rank
        other.rank = wasLowered && asRanked.rank < rank.rank ? rank : asRanked
        return other
    }
}
