import Arbiter
import ArbiterProtocol
public import PolicyFile

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
    public var neverVaried: [String] { WalkLimits([policy], worlds, scope).neverVaried }

    /// Keys that the policy says and that no walk reads: a verdict says nothing of what they do.
    public var keysNotWalked: [PolicyKey] { WalkLimits([policy], worlds, scope).keysNotWalked }
}

extension PolicyDifference {
    /// What is the same in all worlds, in words, although it could be otherwise on a machine.
    public var neverVaried: [String] { WalkLimits(policies, worlds, scope).neverVaried }

    /// Keys by which the two differ and that no walk reads: what they change no comparison sees.
    public var keysNotCompared: [PolicyKey] { WalkLimits(policies, worlds, scope).keysNotCompared }
}
