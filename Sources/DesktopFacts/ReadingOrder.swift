/// When a desktop that is read piece by piece has to be read again.
///
/// A reading takes as long as the X server takes to answer, and shows windows as they were at some moment of it. So a change
/// during one is not in it for certain: it is read again as soon as this one is complete, without a further event, which
/// might never come.
public struct ReadingOrder: Hashable, Sendable {
    /// Something changed while a reading was under way.
    private var isStale = false

    public init() {}

    /// A reading was due.
    /// - Parameter begun: false: one was under way already.
    public mutating func wasDue(begun: Bool) { if !begun { isStale = true } }

    /// Whether a reading is due after what was heard.
    /// - Parameters:
    ///   - changed: something that a reading depends on.
    ///   - complete: the reading that was under way is.
    public mutating func isDue(changed: Bool, complete: Bool) -> Bool {
        guard changed || isStale && complete else { return false }
        isStale = false
        return true
    }
}
