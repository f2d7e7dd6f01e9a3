import Arbiter
import Scenario

/// Holds fingerprints against the slow truth: two states have one fingerprint when they are equal, and only then.
///
/// A property that a fingerprint forgets would let a walk take two states for one, and miss what only the second
/// leads to; nothing else would show it.
struct FingerprintCheck {
    private var fingerprints: [Whole: Fingerprint] = [:]
    private var known: Set<Fingerprint> = []

    private struct Whole: Hashable {
        var arbiter: String
        var checker: TraceChecker
        var duties: RecorderDuties
    }

    /// What is wrong with a state's fingerprint, as a sentence.
    mutating func problem(_ state: ExploredState, _ fingerprint: Fingerprint) -> String? {
        let whole = Whole(arbiter: StateText(state.arbiter.state).text, checker: state.checker, duties: state.duties)
        if let before = fingerprints[whole] {
            return before == fingerprint ? nil : "a state has two fingerprints"
        }
        fingerprints[whole] = fingerprint
        return known.insert(fingerprint).inserted ? nil : "two states that differ have one fingerprint"
    }
}
