package import Arbiter
public import Vocabulary

/// As the core notes it, without words.
package typealias CoreVerdict = Verdict

/// Why a decision was made.
public struct Explanation: Sendable {
    public var decision: DecisionID
    public var at: Moment
    public var event: Event
    public var verdicts: [Verdict]
    /// The presence source that had left, and whose words ended with this decision.
    public var silenced: PresenceSource?

    public struct Verdict: Sendable {
        public var session: SessionID
        /// `nil` where nobody looked.
        public var app: AppID?
        package var outcome: CoreVerdict.Outcome
        public var rule: String
        /// The facts that the rule read.
        public var read: [Fact]
        public var opponent: AppID?
        /// The smallest sets of changes that each would have changed the verdict; empty where none was found.
        public var changedBy: [[Alteration]] = []
        /// Apps each of which alone kept the session from its camera.
        public var stops: [AppID] = []
        /// How far the search came; `nil` where the verdict did not outlast its own step, so that nobody searched.
        public var searched: Searched?

        /// Without a search.
        /// - Parameter policy: the policy in force after the step.
        package init(_ verdict: CoreVerdict, under policy: Policy) {
            (session, outcome, rule) = (verdict.session, verdict.outcome, verdict.text)
            (read, opponent) = (
                verdict.rightsRead + (verdict.facts.map { policy.facts(readFrom: $0) } ?? []), verdict.against
            )
        }

        /// How a session stands at a moment, whatever decided it.
        init(
            of session: SessionID, app: AppID, _ outcome: CoreVerdict.Outcome, rule: String, _ facts: Facts,
            opponent: AppID?, under policy: Policy
        ) {
            (self.session, self.app, self.outcome, self.rule) = (session, app, outcome, rule)
            (read, self.opponent) = (policy.facts(readFrom: facts), opponent)
        }
    }

    /// As a policy file writes it.
    public struct Fact: Hashable, Sendable {
        public var key: String
        public var value: String
    }

    /// One fact with another value.
    public struct Alteration: Hashable, Sendable {
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
    /// `focused = true (is false) and notes's presence = "background" (is "foreground")`
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

// MARK: The facts that were read

extension CoreVerdict {
    /// The facts behind the right to a camera, where it was asked: no rule of a file reads these.
    fileprivate var rightsRead: [Explanation.Fact] {
        switch rule.law {
        case .saidNo, .deniedInStore: return [Explanation.Fact(key: "answer", value: "\"deny\"")]
        case .asks, .notAnswered, .nobodyToAsk: return [Explanation.Fact(key: "answer", value: "none")]
        default: break
        }
        guard let right else { return [] }
        var read = [Explanation.Fact(key: "right", value: "\"\(right.rawValue)\"")]
        if let seat { read.append(Explanation.Fact(key: "seat", value: "\"\(seat.name)\"")) }
        if let user = facts?.user { read.append(Explanation.Fact(key: "user", value: "\(user)")) }
        return read
    }
}

extension Facts {
    /// The value of a fact as a policy file writes it.
    func written(_ key: String) -> String {
        let tests: [FactTest] =
            [
                app.map { .app($0) }, claimedApp.map { .claimedApp($0) }, .user(user), .loginSession(loginSession),
                .foreground(presence.isForeground), presence.layout.map { .layout($0) }, .focused(isFocused),
                .foregroundApps(foregroundApps), .client(client), .multitasking(multitasking), .camera(camera),
                .position(position), .usesAudio(usesAudio), .microphoneTaken(microphoneTaken),
                .pressure(atLeast: pressure), .mode(mode), .recording(isRecording), .bidIsNew(bidIsNew),
                .operatorChosen(operatorChosen),
            ].compactMap(\.self) + attributes.map { .attribute($0.name, $0.value) }
        return tests.lazy.map(\.written).first { $0.key == key }?.value ?? "none"
    }
}

/// A policy's rules read for explanations, measures and files. Decisions ask `CompiledPolicy`.
extension Policy {
    /// Each fact that the policy reads once, in file order.
    fileprivate func facts(readFrom facts: Facts) -> [Explanation.Fact] {
        var read: [Explanation.Fact] = []
        for key in testsRead.map(\.written.key) where !read.contains(where: { $0.key == key }) {
            read.append(Explanation.Fact(key: key, value: facts.written(key)))
        }
        return read
    }

    /// Every test of every rule and of the order list, in file order.
    var testsRead: [FactTest] {
        causeRules.flatMap(\.when) + rankRules.flatMap(\.when)
            + contention.order.compactMap { key in
                switch key {
                case .focused: .focused(true)
                case .foreground: .foreground(true)
                case .recording: .recording(true)
                case .operatorChosen: .operatorChosen(true)
                case .attribute(let name):
                    attributes.first { $0.name == name }.map { .attribute(name, $0.values[0]) }
                case .newest, .oldest: nil
                }
            }
    }

    /// Every cause's first matching rule, in file order.
    package func answers(_ facts: Facts) -> [CauseRule] {
        var answered = CauseSet()
        return causeRules.filter { rule in
            guard !answered.contains(rule.cause), rule.when.allSatisfy({ $0.holds(for: facts) }) else { return false }
            answered.insert(rule.cause)
            return true
        }
    }

    /// The first matching rank rule, or the weakest rank where none matches.
    package func rank(_ facts: Facts) -> RankRule {
        for index in rankRules.indices where rankRules[index].when.allSatisfy({ $0.holds(for: facts) }) {
            return rankRules[index]
        }
        return RankRule(name: Law.weakestRank.text, rank: ranks.count - 1)
    }
}

extension FactTest {
    package var appName: String? {
        switch self {
        case .app(let name), .claimedApp(let name): name
        default: nil
        }
    }
}
