package import Arbiter
public import Vocabulary

/// As the core notes it, which has not the words yet.
package typealias CoreVerdict = Verdict

/// Why a decision fell as it did.
public struct Explanation: Sendable {
    public var decision: DecisionID
    public var at: Moment
    public var event: Event
    public var verdicts: [Verdict]
    /// The presence source that had left, and whose words ended with this decision.
    public var silenced: PresenceSource?

    public struct Verdict: Sendable {
        public var session: SessionID
        /// Whose session it was; nil where nobody looked.
        public var app: AppID?
        package var outcome: CoreVerdict.Outcome
        public var rule: String
        /// What the rule read, as a policy file writes it.
        public var read: [Fact]
        public var opponent: AppID?
        /// The smallest changes that would have changed the verdict: each of these sets would have, and no smaller one.
        /// Empty: none of those that were tried.
        public var changedBy: [[Alteration]] = []
        /// Apps that hold or want a camera which it wanted: it would have been given its own, had this one alone not asked.
        public var stops: [AppID] = []
        /// How far the search for them came; nil: nobody searched, because the verdict did not outlast its own step.
        public var searched: Searched?

        /// What the core noted, without any search.
        /// - Parameter policy: the one in force after the step.
        package init(_ verdict: CoreVerdict, under policy: Policy) {
            session = verdict.session
            outcome = verdict.outcome
            rule = verdict.text
            read = FactReading.rights(verdict) + (verdict.facts.map { FactReading.read($0, policy) } ?? [])
            opponent = verdict.against
        }

        /// How a session stands at a moment, whatever decided it.
        init(
            of session: SessionID, app: AppID, _ outcome: CoreVerdict.Outcome, rule: String, _ facts: Facts,
            opponent: AppID?,
            under policy: Policy
        ) {
            (self.session, self.app, self.outcome, self.rule) = (session, app, outcome, rule)
            self.opponent = opponent
            read = FactReading.read(facts, policy)
        }
    }

    public struct Fact: Hashable, Sendable {
        public var key: String
        public var value: String
    }

    /// One fact with another value.
    public struct Alteration: Hashable, Sendable {
        /// Whose fact it is.
        public var of: Subject
        /// The fact's name in a policy file, or the cause that a machine's fact is.
        public var key: String
        public var from: String
        public var to: String

        public enum Subject: Hashable, Sendable {
            /// The verdict's own session, its app or its client.
            case session
            case app(AppID)
            case machine
        }
    }

    /// How far the search for the smallest change went.
    public enum Searched: Hashable, Sendable {
        /// Every change of at most so many facts was tried.
        case upTo(facts: Int)
        /// The search ended at its bound, after so many attempts.
        case first(attempts: Int)
    }
}

extension CoreVerdict.Outcome {
    package var description: String {
        switch self {
        case .granted: "granted"
        case .interrupted(let causes): "interrupted: \(causes.ordered.map(\.wireName).joined(separator: ", "))"
        case .restricted(let access): "restricted to \(access.names.joined(separator: ", "))"
        case .warned(let left): "warned: it has to make way in \(TimeText.write(left))"
        case .stopped(let reason): "stopped: \(reason.rawValue)"
        case .refused: "refused"
        }
    }
}

extension [Explanation.Alteration] {
    /// `focused = true (is false) and notes's presence = "background" (is "foreground")`: the session's own facts
    /// without an owner.
    public var words: String {
        map { alteration in
            let whose =
                switch alteration.of {
                case .session: ""
                case .app(let app): "\(app.name)'s "
                case .machine: "the machine's "
                }
            return "\(whose)\(alteration.key) = \(alteration.to) (is \(alteration.from))"
        }
        .joined(separator: " and ")
    }
}

extension Explanation.Searched {
    public var words: String {
        switch self {
        case .upTo(let facts): facts == 1 ? "every change of one fact" : "every change of up to \(facts) facts"
        case .first(let attempts): "the first \(attempts) changes, the smallest first"
        }
    }
}
