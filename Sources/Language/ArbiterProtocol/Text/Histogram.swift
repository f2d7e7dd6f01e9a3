/// How many durations took at most each of a few bounds.
public struct Histogram: Hashable, Sendable {
    /// Upper bounds in seconds, growing. A duration above all of them counts in the sum and in the number alone.
    public let bounds: [Double]
    /// For each bound the durations that no lower bound has, and at the end those above all bounds.
    private var counts: [UInt64]
    /// In seconds.
    public private(set) var sum = 0.0

    /// From a millisecond to ten seconds: a handover takes milliseconds, and killed recorders take seconds.
    public static let handovers = Histogram([0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10])
    /// From ten milliseconds to an hour: a session often waits for a person.
    public static let waits = Histogram([0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600])

    public init(_ bounds: [Double]) {
        precondition(zip(bounds, bounds.dropFirst()).allSatisfy { $0 < $1 }, "The bounds of a histogram grow.")
        self.bounds = bounds
        counts = Array(repeating: 0, count: bounds.count + 1)
    }

    /// A negative duration counts as zero: a moment that was noted late must not make the sum shrink.
    public mutating func note(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        let value = max(0, Double(seconds) + Double(attoseconds) / 1e18)
        counts[bounds.firstIndex { value <= $0 } ?? bounds.count] += 1
        sum += value
    }

    public var count: UInt64 { counts.reduce(0, +) }

    /// For each bound how many took at most that long.
    public var cumulative: [(bound: Double, count: UInt64)] {
        var total: UInt64 = 0
        return zip(bounds, counts).map { bound, count in
            total += count
            return (bound, total)
        }
    }

    /// Adds a histogram of the same bounds.
    public mutating func add(_ other: Histogram) {
        precondition(bounds == other.bounds, "Histograms with other bounds cannot be added.")
        for index in counts.indices { counts[index] += other.counts[index] }
        sum += other.sum
    }
}
