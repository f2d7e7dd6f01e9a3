import Arbiter
import ArbiterProtocol

/// What a verdict has to say besides what was walked.
extension PolicyWalk {
    /// Statements that speak of an app or a camera which no rule and no table knows: most likely they mean another one.
    public var strangers: [String] {
        let rules = policy.causeRules.flatMap(\.when) + policy.rankRules.flatMap(\.when)
        let apps = rules.compactMap(\.appName)
        let cameras =
            rules.compactMap { if case .camera(let camera) = $0 { camera } else { nil } }
            + policy.cameras.flatMap { [$0.camera] + $0.conflicts }
        return policy.statements.flatMap { statement in
            unique(statement.testsRead).compactMap { test in
                if let app = test.appName, !apps.contains(app) {
                    return "the statement “\(statement.name)” speaks of the app “\(app)”, which no rule knows"
                }
                if case .camera(let camera) = test, !cameras.contains(camera) {
                    return
                        "the statement “\(statement.name)” speaks of the camera “\(camera.name)”, which no rule knows"
                }
                return nil
            }
        }
    }

    /// What is wrong with the statements themselves, as sentences.
    public func problems(_ report: Report) -> [String] {
        // What was not walked to its end says nothing about what never happens.
        guard report.isComplete, report.casts == report.castsInAll else { return strangers }
        return strangers
            + zip(policy.statements, report.applied).filter { $0.1 == 0 }.map { statement, _ in
                "the statement “\(statement.name)” applied in no state: no session that it speaks of ever asks to run, "
                    + "or they never meet on one camera"
            }
    }

    /// What is the same in all worlds, in words, although it could be otherwise on a machine.
    public var neverVaried: [String] { WorldLimits([policy], scope).neverVaried }
}

extension PolicyDifference {
    /// What is the same in all worlds, in words, although it could be otherwise on a machine.
    public var neverVaried: [String] { WorldLimits(policies, scope).neverVaried }
}

/// What small worlds leave out.
private struct WorldLimits {
    private let reads: PolicyReads
    private let scope: WalkScope

    init(_ policies: [Policy], _ scope: WalkScope) {
        reads = PolicyReads(policies)
        self.scope = scope
    }

    var neverVaried: [String] {
        var found: [String] = []
        if !scope.machineEvents {
            found += [
                "reloads", "sleep", "the privacy switch", "configurations", "unplugged cameras", "vanishing clients",
                "late recorders",
            ]
        } else if reads.policies.count > 1 {
            found += ["reloads", "late recorders"]
        }
        if scope.machineEvents { found.append("two of the machine's and the configuration's changes at once") }
        found.append("more than two sessions of a client")
        if reads.users.count == 1 { found.append("other users") }
        if !reads.sources.isEmpty { found.append("presence sources that leave") }
        if reads.policies.contains(where: { $0.ranks.count > 2 }) { found.append("lowering to a rank between") }
        if reads.policies.contains(where: { !$0.attributes.isEmpty }) { found.append("lowering an attribute") }
        if !reads.modes.isEmpty { found.append("modes set by hand (the calendar says each)") }
        return found + ["sensitive content", "faults of devices and recorders", "programs outside the broker"]
    }
}

extension FactTest {
    /// The app it names, if it names one.
    fileprivate var appName: String? {
        switch self {
        case .app(let name), .claimedApp(let name): name
        default: nil
        }
    }
}
