import ArbiterProtocol

/// A zoom that is under way at a simulated recorder core.
///
/// Half a doubling at a time is exact enough for a simulation, and needs no logarithm.
struct SimulatedRamp: Hashable, Sendable {
    let from: Double
    let to: Double
    let began: Moment
    /// Nanoseconds of half a doubling.
    private let half: Int64

    init(from: Double, to: Double, rate: Double, began: Moment) {
        self.from = from
        self.to = to
        self.began = began
        half = Int64(5e8 / rate)
    }

    private static let halvesMax = 64
    private static let halfDoubling = 1.4142135623730951

    private var halves: Int64 {
        var halves: Int64 = 0
        var reached = min(from, to)
        while reached < max(from, to), halves < Self.halvesMax {
            reached *= Self.halfDoubling
            halves += 1
        }
        return halves
    }

    var ends: Moment { began + .milliseconds((halves * half + 500_000) / 1_000_000) }

    func zoom(at now: Moment) -> Double {
        let gone = min(halves, max(0, (now - began).wholeNanoseconds / max(1, half)))
        let times = Double(1 << (gone / 2)) * (gone % 2 == 0 ? 1 : Self.halfDoubling)
        return from < to ? min(from * times, to) : max(from / times, to)
    }
}
