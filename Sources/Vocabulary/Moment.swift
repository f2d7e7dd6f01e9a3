/// A point on the broker's clock: nanoseconds since an origin of the caller's choice.
///
/// The clock never goes back and stands still while the machine sleeps (`CLOCK_MONOTONIC`), so
/// graces and leases pause with it.
public struct Moment: Hashable, Sendable, Comparable, BitwiseCopyable {
    public let nanoseconds: Int64
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static let zero = Moment(nanoseconds: 0)
    /// Farther away than any deadline: 292 years.
    public static let distantFuture = Moment(nanoseconds: .max)

    public static func < (a: Moment, b: Moment) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Saturates instead of overflowing: a deadline that far away is never met anyway.
    public static func + (moment: Moment, duration: Duration) -> Moment {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return Moment(nanoseconds: overflow ? .max : sum)
    }

    public static func - (later: Moment, earlier: Moment) -> Duration {
        .nanoseconds(later.nanoseconds &- earlier.nanoseconds)
    }
}

extension Duration {
    /// The duration in nanoseconds, saturated at about ±292 years.
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        return product &+ attoseconds / 1_000_000_000
    }
}
