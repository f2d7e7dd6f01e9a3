import Arbiter
public import ArbiterProtocol

/// Why a policy's promises that hold in worlds of a size need not hold in larger ones.
///
/// docs/policy.md has the argument ("Why three clients and two cameras"): decisions compare bids by pairs, so that a violation needs
/// the apps that break a promise, an app that they lose to, and two cameras that exclude each other. A policy without any of these
/// gaps is not expected to break in a larger world what it keeps in a small one.
public struct SizeArgument: Sendable {
    public enum Gap: String, Sendable, CaseIterable {
        /// An app that waits in a statement waits for another app.
        case statement
        /// The apps in front are counted, and may be other apps than those of a statement.
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

    public var gaps: [Gap] { unique(found.map(\.gap)) }

    /// Without their ends.
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

    /// The most apps of a statement. An invariant is about two.
    private var most: Int { policy.statements.map(\.parts.count).max() ?? 1 }

    /// Statements whose parts take more sessions than a world has: each part that waits or is interrupted may do so for another
    /// session, and each that watches beside a holder needs one.
    private var wide: [Statement] {
        policy.statements.filter { statement in
            let parts = statement.parts
            let losing = parts.filter { $0 == .waiting || $0 == .interrupted }.count
            let hasHolder = parts.contains { [.holder, .running, .restricted, .recording].contains($0) }
            return parts.count + losing + (parts.contains(.sharer) && !hasHolder ? 1 : 0) > clients
        }
    }

    /// The size of the largest group of cameras that exclude each other, also by way of others.
    private var linked: Int {
        let named = PolicyReads([policy]).cameras
        var groups = named.map { [$0] }
        for camera in named {
            let touching = groups.filter { group in group.contains { $0 == camera || policy.links($0, camera) } }
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
        /// Cameras are taken from the dearest on, so that all of a set but the cheapest have to fit.
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

    /// The sets of a policy's 64 cameras at most are more than can be tried; then it counts as a policy that needs more.
    private static let stepsMax = 10_000
}
