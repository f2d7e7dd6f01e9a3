/// A white balance, automatic or set by hand, in time that is given from outside. The chart is lit by white light, so what
/// is right is no gain at all.
package struct WhiteBalance: Hashable, Sendable {
    package struct Gains: Hashable, Sendable {
        package var red, green, blue: Double

        package init(red: Double, green: Double, blue: Double) {
            (self.red, self.green, self.blue) = (red, green, blue)
        }

        package static let neutral = Gains(red: 1, green: 1, blue: 1)
    }

    /// `locked`, `auto` or `continuousAuto`, and while it is locked what was set by hand; nil: what is.
    package struct Order: Hashable, Sendable {
        package var mode: String
        package var gains: Gains?

        package init(mode: String = "continuousAuto", gains: Gains? = nil) {
            self.mode = mode
            self.gains = gains
        }
    }

    package private(set) var gains = Gains.neutral
    private var adjustment: Adjustment<Gains>?
    private var mode: String?

    package init() {}
    package var isAdjusting: Bool { adjustment != nil }

    package mutating func begin() { (mode, adjustment, gains) = (nil, nil, .neutral) }

    /// As `FocusSystem.advance`.
    package mutating func advance(to now: Int64, _ order: Order) -> Bool {
        let before = mode
        mode = order.mode
        if order.mode == "locked" {
            adjustment = nil
            gains = order.gains ?? gains
            return false
        }
        if before != order.mode, before != nil || order.mode == "auto" {
            adjustment = Adjustment(from: gains, to: .neutral, began: now, time: ExposureProgram.adjustingTime)
        }
        guard adjustment.advance(to: now, &gains, between: Self.gains(between:_:_:)), order.mode == "auto" else {
            return false
        }
        mode = "locked"
        return true
    }

    private static func gains(between a: Gains, _ b: Gains, _ share: Double) -> Gains {
        func between(_ a: Double, _ b: Double) -> Double { a + (b - a) * share }
        return Gains(red: between(a.red, b.red), green: between(a.green, b.green), blue: between(a.blue, b.blue))
    }
}
