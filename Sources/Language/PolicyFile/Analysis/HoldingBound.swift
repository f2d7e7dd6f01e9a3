package import Vocabulary

/// How long leases and pauses let one app hold one camera, by arithmetic over the rules alone.
///
/// A lease ends after `lease` of holding, however often it was interrupted, and begins anew once the app was away for
/// `pause` at least. So of holds that are `pause` apart, each is `lease` long at most.
package struct HoldingBound: Sendable {
    package let lease: Duration
    package let pause: Duration

    /// - Parameter when: the facts of a statement about holding.
    /// - Returns: `nil` where the rules alone do not bound it: a rule that such a session may match has no lease or no
    ///   pause, or another lease; another camera may hold up or share this one.
    package init?(_ policy: Policy, for when: [FactTest]) {
        guard !policy.linksCameras, policy.contention.sharing == .none else { return nil }
        let space = FactSpace(policy, besides: when)
        // Names never change while an app holds its camera; all other facts may, and with them the rule.
        let lasting = when.filter(\.isOfNames)
        guard space.answer(lasting, by: policy.rankRules.map(\.when)) == .covered else { return nil }
        let granting = policy.rankRules.enumerated().filter { place, rule in
            let earlier = policy.rankRules[..<place].map(\.when)
            return !rule.deny && space.answer(rule.when + lasting, by: earlier) != .covered
        }.map(\.element)
        guard let lease = granting.first?.lease, granting.allSatisfy({ $0.lease == lease && $0.pause > .zero }),
            let pause = granting.map(\.pause).min()
        else { return nil }
        (self.lease, self.pause) = (lease, pause)
    }

    /// The longest holding in any time as long as the window.
    package func most(in window: Duration) -> Duration {
        let cycle = (lease + pause).wholeNanoseconds
        let (whole, rest) = window.wholeNanoseconds.quotientAndRemainder(dividingBy: cycle)
        return .nanoseconds(whole * lease.wholeNanoseconds + min(rest, lease.wholeNanoseconds))
    }

    /// The shortest pause, in whole seconds, with which an app holds its camera no longer than `most` in the window; `nil`:
    /// none does.
    package static func pause(after lease: Duration, most: Duration, in window: Duration) -> Duration? {
        guard lease <= most, most < window else { return nil }
        // As many whole leases as `most` has, each with its pause, leave no more of the window than the rest of `most`.
        let leases = most.wholeNanoseconds / lease.wholeNanoseconds
        let seconds = Double((window - most).wholeNanoseconds) / Double(leases) / 1e9
        let pause = Duration.seconds(Int64(seconds.rounded(.up)))
        return Bounds.pause.contains(pause) ? pause : nil
    }
}

extension Policy {
    /// Statements that leases and pauses settle: by their places, those that cannot be broken.
    package var statementsKeptByLeases: [Int] {
        statements.indices.filter { place in
            guard case .atMost(let when, let most, let window) = statements[place].assertion else { return false }
            return HoldingBound(self, for: when).map { $0.most(in: window) <= most } ?? false
        }
    }
}

extension FactTest {
    /// It reads a fact that never changes while a session has its camera.
    package var isOfNames: Bool {
        switch self {
        case .app, .claimedApp, .user, .camera: true
        default: false
        }
    }
}
