import Arbiter
public import ArbiterProtocol

/// Why what holds in worlds of a size need not hold in larger ones, under one policy.
///
/// docs/policy.md has the argument ("Why three clients and two cameras"): a decision compares bids by pairs, so that a
/// broken promise needs those who break it, the one whom they lose to, and two cameras that exclude each other. What a
/// policy can say that needs more is listed here, and a policy that says none of it is not expected to break in a larger
/// world what it keeps in a small one.
public struct SizeArgument: Sendable {
    /// What a policy says that needs more than the size has.
    public enum Gap: String, Sendable, CaseIterable {
        /// Whoever waits in a statement does so for somebody, who is one more.
        case statement
        /// The apps in front are counted, and may be others than those of whom a statement speaks.
        case foregroundApps = "foreground-apps"
        /// It takes more cameras than are walked to exceed the budget.
        case budget
        /// A camera excludes more others than are walked beside it, or is excluded by way of others.
        case cameras
    }

    private let policy: Policy
    private let clients: Int
    private let cameras: Int

    public init(_ policy: Policy, clients: Int, cameras: Int) {
        (self.policy, self.clients, self.cameras) = (policy, clients, cameras)
    }

    /// Of all statements and of what the policy says besides.
    public var gaps: [Gap] { unique(found.map(\.gap)) }

    /// In sentences without their ends.
    public var sentences: [String] { found.map(\.sentence) }

    private var found: [(gap: Gap, sentence: String)] {
        var found = wide.map { statement in
            (
                Gap.statement,
                "the statement “\(statement.name)” speaks of \(statement.parts.count) apps at once, and those that wait may do so for others"
            )
        }
        if PolicyReads([policy]).foregroundApps, clients < most + 2 {
            let sentence = "the apps in front are counted, and those that are may be others than those that are judged"
            found.append((.foregroundApps, sentence))
        }
        if needsMoreForBudget {
            found.append((.budget, "it takes more than \(cameras) cameras to exceed the budget"))
        } else if linked > cameras {
            found.append((.cameras, "\(linked) cameras exclude each other, and \(cameras) at a time are walked"))
        }
        return found
    }

    /// Apps that a statement speaks of, at the most. An invariant is about two: a holder, and whoever it took it from.
    private var most: Int { policy.statements.map(\.parts.count).max() ?? 1 }

    /// Statements whose parts take more sessions than a world has: each that waits or is interrupted may do so for one
    /// of its own, maybe of its own app, and whoever watches beside a holder needs one.
    private var wide: [Statement] {
        policy.statements.filter { statement in
            let parts = statement.parts
            let losing = parts.filter { $0 == .waiting || $0 == .interrupted }.count
            let hasHolder = parts.contains { [.holder, .running, .restricted, .recording].contains($0) }
            return parts.count + losing + (parts.contains(.sharer) && !hasHolder ? 1 : 0) > clients
        }
    }

    /// Cameras in the largest group of those that exclude each other, by conflict or by a budget, also by way of others.
    private var linked: Int {
        let named = PolicyReads([policy]).cameras
        var groups = named.map { [$0] }
        func isLinked(_ a: CameraID, _ b: CameraID) -> Bool {
            policy.conflict(a, b)
                || (policy.contention.budget != nil && policy.cost(a).dearest > 0 && policy.cost(b).dearest > 0)
        }
        for camera in named {
            let touching = groups.filter { group in group.contains { $0 == camera || isLinked($0, camera) } }
            groups.removeAll { touching.contains($0) }
            groups.append(touching.flatMap { $0 })
        }
        return groups.map(\.count).max() ?? 0
    }

    /// Whether more cameras than are walked exceed the budget together, and no fewer of them, while none excludes another.
    private var needsMoreForBudget: Bool {
        guard let budget = policy.contention.budget else { return false }
        let costly = PolicyReads([policy]).cameras.filter { policy.cost($0).dearest > 0 }.sorted {
            policy.cost($1).dearest < policy.cost($0).dearest
        }
        var steps = 0
        /// Cameras are taken from the most costly on, so that all of a set but the last, the cheapest, have to fit.
        func exceeds(_ held: [CameraID], _ sum: Int, from first: Int) -> Bool {
            steps += 1
            if steps > Self.stepsMax { return true }
            for index in costly.indices[first...] where !held.contains(where: { policy.conflict($0, costly[index]) }) {
                let more = sum + policy.cost(costly[index]).dearest
                if more > budget {
                    if held.count + 1 > cameras { return true }
                } else if exceeds(held + [costly[index]], more, from: index + 1) {
                    return true
                }
            }
            return false
        }
        return exceeds([], 0, from: 0)
    }

    /// Sets of the 64 cameras that a policy may have at most are more than can be tried; then it counts as one that needs
    /// more, which it most likely is.
    private static let stepsMax = 10_000
}
