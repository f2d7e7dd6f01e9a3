package import Vocabulary

// A policy asked in words: for whoever explains, measures or writes policies. Decisions ask `CompiledPolicy`.

extension Policy {
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

    /// Either side listing the other is enough.
    package func conflict(_ a: CameraID, _ b: CameraID) -> Bool {
        cameras.contains {
            ($0.camera == a && $0.conflicts.contains(b)) || ($0.camera == b && $0.conflicts.contains(a))
        }
    }

    package func cost(_ camera: CameraID) -> CameraCost {
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
