/// What a simulated camera changes by itself, on its way from one value to another, in time that is given from outside.
struct Adjustment<Value: Hashable & Sendable>: Hashable, Sendable {
    let from: Value
    let to: Value
    /// Both in nanoseconds.
    let began: Int64
    let time: Int64

    /// From 0; from 1 on it is over.
    fileprivate func share(at now: Int64) -> Double {
        time > 0 ? max(0, Double(now - began) / Double(time)) : 1
    }
}

extension Optional {
    /// Moves a value to where it is at this moment, and is nil once it is there.
    /// - Parameter between: where it is after a share of the way, from 0 and below 1.
    /// - Returns: true when it has just arrived.
    mutating func advance<Value>(
        to now: Int64, _ value: inout Value, between: (Value, Value, _ share: Double) -> Value
    ) -> Bool where Wrapped == Adjustment<Value> {
        guard let adjustment = self else { return false }
        let share = adjustment.share(at: now)
        guard share >= 1 else {
            value = between(adjustment.from, adjustment.to, share)
            return false
        }
        value = adjustment.to
        self = nil
        return true
    }
}
