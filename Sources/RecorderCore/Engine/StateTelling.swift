package import ArbiterProtocol

/// When what a camera says of itself is told: only what is not as it was told last, at most ten times a second. What comes
/// sooner waits, the newest counts, and so the last state is always told.
package struct StateTelling: Hashable, Sendable {
    /// In nanoseconds.
    package static let pause: Int64 = 100_000_000

    private var told = Configuration()
    private var latest = Configuration()
    private var toldAt: Int64?

    package init() {}

    /// An answer has said what is in force, whole.
    package mutating func answered(_ inForce: Configuration) {
        told = inForce.keeping(\.isCameraState)
        latest = told
    }

    /// What is so now.
    package mutating func note(_ state: Configuration) { latest.merge(state) }

    /// Whether anything may be told at this moment: until then what is so need not be known.
    package func isDue(at now: Int64) -> Bool { toldAt.map { now - $0 >= Self.pause } ?? true }

    /// What is to be told at this moment; nil: nothing, or not yet.
    package mutating func take(at now: Int64) -> Configuration? {
        guard isDue(at: now) else { return nil }
        let changed = latest.changes(since: told)
        guard !changed.isEmpty else { return nil }
        told = latest
        toldAt = now
        return changed
    }
}
