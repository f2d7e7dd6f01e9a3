import Glibc

/// A zoom on its way: it grows or shrinks exponentially, so that every moment looks equally fast.
package struct ZoomRamp: Hashable {
    var from: Double
    var to: Double
    /// Doublings a second, above 0.
    var rate: Double
    /// Nanoseconds of CLOCK_MONOTONIC.
    var began: Int64

    package init(from: Double, to: Double, rate: Double, began: Int64) {
        self.from = from
        self.to = to
        self.rate = rate
        self.began = began
    }

    /// The factor at a time, and whether the ramp has arrived.
    package func factor(at now: Int64) -> (factor: Double, hasArrived: Bool) {
        let seconds = Double(max(0, now - began)) / 1e9
        let grown = from * exp2((to >= from ? rate : -rate) * seconds)
        let hasArrived = to >= from ? grown >= to : grown <= to
        return (hasArrived ? to : grown, hasArrived)
    }
}
