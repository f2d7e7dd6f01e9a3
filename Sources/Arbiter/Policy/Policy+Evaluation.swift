package import Vocabulary

extension Policy {
    /// The rule and access of one live cause.
    struct LiveCause: Hashable {
        var cause: Cause
        var access: Access
        var rule: String
    }

    /// Every cause's first matching rule, in file order.
    package func answers(_ facts: Facts) -> [CauseRule] {
        var answers: [CauseRule] = []
        forEachAnswer(facts) { answers.append(causeRules[$0]) }
        return answers
    }

    /// The places of the rules that answer. Rules are read where they lie: every look at a camera asks all of them.
    @inline(__always)
    private func forEachAnswer(_ facts: Facts, _ body: (Int) -> Void) {
        var answered = CauseSet()
        for index in causeRules.indices where !answered.contains(causeRules[index].cause) {
            guard causeRules[index].when.allSatisfy({ $0.holds(for: facts) }) else { continue }
            answered.insert(causeRules[index].cause)
            body(index)
        }
    }

    /// What the answers limit. A rule that leaves everything is an exemption: it answers for its cause, and the
    /// cause is not live.
    func liveCauses(_ facts: Facts) -> [LiveCause] {
        var live: [LiveCause] = []
        forEachAnswer(facts) { index in
            let access = causeRules[index].access
            guard access != .all else { return }
            live.append(LiveCause(cause: causeRules[index].cause, access: access, rule: causeRules[index].name))
        }
        return live
    }

    /// The first matching rank rule, or the weakest rank where none matches.
    package func rank(_ facts: Facts) -> RankRule {
        for index in rankRules.indices where rankRules[index].when.allSatisfy({ $0.holds(for: facts) }) {
            return rankRules[index]
        }
        return RankRule(name: Self.defaultRankRule, rank: ranks.count - 1)
    }

    /// The default is a rule with a name too.
    static let defaultRankRule = "no rank rule matches: the weakest rank"

    /// Either side listing the other is enough.
    package func conflict(_ a: CameraID, _ b: CameraID) -> Bool {
        cameras.contains {
            ($0.camera == a && $0.conflicts.contains(b)) || ($0.camera == b && $0.conflicts.contains(a))
        }
    }

    package func cost(_ camera: CameraID) -> Int {
        cameras.first { $0.camera == camera }?.cost ?? 0
    }

    /// Whether a decision on one camera can touch another at all.
    package var linksCameras: Bool {
        contention.budget != nil || cameras.contains { !$0.conflicts.isEmpty }
    }

    /// In force when no valid policy could be read: first come, and nobody is interrupted by another app.
    public static let firstCome = Policy(
        name: "first-come",
        summary: "Built in: the first app keeps the camera, and nobody is interrupted.",
        contention: Contention(order: [], tie: .holder, sameApp: .newest))
}

extension [Policy.LiveCause] {
    /// What these causes leave together.
    var access: Access { reduce(.all) { $0.intersection($1.access) } }
}
