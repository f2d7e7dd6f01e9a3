/// A white balance, automatic or set by hand, in time that is given from outside. The chart is lit by white light, so what
/// is right is no gain at all.
package struct WhiteBalance: Hashable, Sendable {
    package struct Gains: Hashable, Sendable {
        package var red: Double
        package var green: Double
        package var blue: Double

        package init(red: Double, green: Double, blue: Double) {
            self.red = red
            self.green = green
            self.blue = blue
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
    private var from = Gains.neutral
    private var began: Int64?
    private var mode: String?

    package init() {}

    package var isAdjusting: Bool { began != nil }

    /// The next grant finds it settled.
    package mutating func begin() { (mode, began, gains) = (nil, nil, .neutral) }

    /// As `FocusSystem.advance`.
    package mutating func advance(to now: Int64, _ order: Order) -> Bool {
        let before = mode
        mode = order.mode
        if order.mode == "locked" {
            began = nil
            gains = order.gains ?? gains
            return false
        }
        if before != order.mode, before != nil || order.mode == "auto" { (from, began) = (gains, now) }
        guard let began else { return false }
        let share = Double(now - began) / Double(ExposureProgram.adjustingTime)
        guard share >= 1 else {
            func between(_ a: Double) -> Double { a + (1 - a) * max(0, share) }
            gains = Gains(red: between(from.red), green: between(from.green), blue: between(from.blue))
            return false
        }
        gains = .neutral
        self.began = nil
        guard order.mode == "auto" else { return false }
        mode = "locked"
        return true
    }
}
