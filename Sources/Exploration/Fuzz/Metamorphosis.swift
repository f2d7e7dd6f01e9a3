public import Arbiter
import ArbiterProtocol
import EventTable
public import Scenario

/// Events that change nothing, and of which nobody hears therefore, wherever they are put into a story.
public struct Metamorphosis: Sendable {
    /// The rule of the contract, as a sentence.
    public let rule: String
    /// The events that change nothing in a state; each is tried by itself.
    let events: @Sendable (Stage) -> [Event]
    /// Whether the contract has somebody hear of such an event all the same.
    let isExcused: @Sendable (Stage.Step) -> Bool

    package init(
        rule: String, events: @escaping @Sendable (Stage) -> [Event],
        isExcused: @escaping @Sendable (Stage.Step) -> Bool
    ) {
        (self.rule, self.events, self.isExcused) = (rule, events, isExcused)
    }

    public static let all: [Metamorphosis] = [.samePolicy, .nothingNew]

    /// A load stops sessions without a right, and those that the policy denies by what holds now (semantics.md §6).
    public static let samePolicy = Metamorphosis(
        rule: "loading the policy that is in force changes nothing",
        events: { [.policyLoaded($0.arbiter.policy)] },
        isExcused: { step in
            step.effects.contains {
                if case .notify(_, _, _, .sessionStopped(.deniedByPolicy, _)) = $0 { true } else { false }
            }
        })
}

/// Puts the events of metamorphoses behind every line of a story, each into a copy: there must be no effect, and the state
/// must be as it was.
public struct MetamorphosisJudge: FuzzJudge {
    private let metamorphoses: [Metamorphosis]
    public private(set) var comparisons = 0

    public init(_ metamorphoses: [Metamorphosis] = Metamorphosis.all) { self.metamorphoses = metamorphoses }

    public var judgedAll: Bool { true }

    public mutating func begin(_ policy: Policy) { comparisons = 0 }

    public mutating func judge(_ step: Stage.Step) -> String? { nil }

    public mutating func rest(_ stage: Stage) -> String? {
        // What is due at this very moment happens with any event.
        if stage.nextMoment.map({ $0 <= stage.now }) == true { return nil }
        // As of now: what is left of a deadline is part of a state.
        var now = stage
        now.checksEverything = false
        now.perform(.event(.timePassed))
        let before = now.arbiter.fingerprint()
        // Where only starts are decided, a session waits by the rule of the start that it lost to, and by
        // `re-decide: open` once it is looked at again.
        let keepsState = stage.arbiter.policy.contention.reDecide == .facts
        for metamorphosis in metamorphoses {
            for event in metamorphosis.events(stage) {
                var copy = stage
                copy.checksEverything = false
                copy.perform(.event(event))
                comparisons += 1
                guard let step = copy.takeSteps().first, !metamorphosis.isExcused(step) else { continue }
                let sentence = "\(metamorphosis.rule), and \(event.kind.rawValue)"
                if let effect = step.effects.first { return "\(sentence) leads to \(Self.name(effect))" }
                if keepsState, copy.arbiter.fingerprint() != before {
                    return "\(sentence) leaves another state"
                }
            }
        }
        return nil
    }

    private static func name(_ effect: Effect) -> String {
        if case .notify(_, _, _, let notice) = effect { notice.wireName } else { effect.kind.rawValue }
    }
}
