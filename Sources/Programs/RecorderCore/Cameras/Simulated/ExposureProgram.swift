package import ArbiterProtocol
import Glibc
import PolicyFile

/// An automatic exposure, and one that is set by hand, in time that is given from outside.
///
/// The scene is lit evenly: `ordinaryExposure` shows it as the chart is drawn. The program prefers `ordinaryDuration` and
/// changes the sensitivity, as phones do; where that ends, it changes the duration.
package struct ExposureProgram: Hashable, Sendable {
    package struct Order: Hashable, Sendable {
        /// `locked`, `auto`, `continuousAuto` or `custom`.
        package var mode: String
        package var duration: Double?
        package var iso: Double?
        /// Exposure values.
        package var bias: Double
        package var pointX, pointY: Double
        /// Times the light that there is without a lamp.
        package var light: Double
        package var durations, isos: CameraFormat.Optics.Range?
        /// Seconds from one frame to the next: no automatic exposure is longer.
        package var frameDuration: Double

        package init(
            mode: String = "continuousAuto", duration: Double? = nil, iso: Double? = nil, bias: Double = 0,
            pointX: Double = 0.5, pointY: Double = 0.5, light: Double = 1, durations: CameraFormat.Optics.Range? = nil,
            isos: CameraFormat.Optics.Range? = nil, frameDuration: Double = 1.0 / 30
        ) {
            (self.mode, self.duration, self.iso, self.bias) = (mode, duration, iso, bias)
            (self.pointX, self.pointY, self.light) = (pointX, pointY, light)
            (self.durations, self.isos, self.frameDuration) = (durations, isos, frameDuration)
        }
    }

    package struct Exposure: Hashable, Sendable {
        /// Seconds.
        package var duration: Double
        package var iso: Double

        fileprivate var product: Double { duration * iso }
    }

    /// Seconds: short enough for a hand that holds the camera.
    package static let ordinaryDuration = 1.0 / 60
    /// An office's light, about. Every camera's range has it.
    static let ordinaryISO = CameraModel.usualISO
    static let ordinaryExposure = ordinaryDuration * ordinaryISO
    /// In nanoseconds; a phone takes about as long for a change that is not great.
    package static let adjustingTime: Int64 = 250_000_000

    package private(set) var exposure = Exposure(duration: ordinaryDuration, iso: ordinaryISO)
    private var adjustment: Adjustment<Exposure>?
    private var order: Order?

    package init() {}
    package var isAdjusting: Bool { adjustment != nil }

    /// Times the light that shows the scene as it is drawn.
    package var gain: Double { exposure.product * (order?.light ?? 1) / Self.ordinaryExposure }

    package mutating func begin() { (adjustment, order) = (nil, nil) }

    /// As `FocusSystem.advance`.
    package mutating func advance(to now: Int64, _ next: Order) -> Bool {
        let before = order
        order = next
        switch next.mode {
        case "custom":
            adjustment = nil
            exposure.duration = next.duration ?? exposure.duration
            exposure.iso = next.iso ?? exposure.iso
            return false
        case "locked":
            adjustment = nil
            if before == nil { exposure = Self.right(for: next) }
            return false
        default: break
        }
        guard let before else {
            exposure = Self.right(for: next)
            if next.mode == "auto" { adjust(next, at: now) }
            return false
        }
        if isReason(next, since: before) { adjust(next, at: now) }
        guard adjustment.advance(to: now, &exposure, between: Self.exposure(between:_:_:)), next.mode == "auto" else {
            return false
        }
        order?.mode = "locked"
        return true
    }

    private func isReason(_ next: Order, since before: Order) -> Bool {
        if next.mode == "auto" { return before.mode != "auto" }
        var same = before
        (same.duration, same.iso) = (next.duration, next.iso)
        (same.durations, same.isos, same.frameDuration) = (next.durations, next.isos, next.frameDuration)
        // Another format is a reason only where it cannot have the same exposure.
        return same != next || Self.right(for: next) != Self.right(for: before)
    }

    private mutating func adjust(_ order: Order, at now: Int64) {
        adjustment = Adjustment(from: exposure, to: Self.right(for: order), began: now, time: Self.adjustingTime)
    }

    /// Evenly in exposure values, as an eye sees it.
    private static func exposure(between a: Exposure, _ b: Exposure, _ share: Double) -> Exposure {
        Exposure(duration: a.duration * pow(b.duration / a.duration, share), iso: a.iso * pow(b.iso / a.iso, share))
    }

    /// What shows the scene as it is drawn, and the bias beyond that, as near as the format comes to it.
    package static func right(for order: Order) -> Exposure {
        let product = ordinaryExposure * exp2(order.bias) / order.light
        let shortest = order.durations?.least ?? 0
        let longest = max(shortest, min(order.durations?.most ?? order.frameDuration, order.frameDuration))
        var duration = min(max(ordinaryDuration, shortest), longest)
        var iso = product / duration
        if let isos = order.isos, iso < isos.least || iso > isos.most {
            iso = min(max(iso, isos.least), isos.most)
            duration = min(max(product / iso, shortest), longest)
        }
        return Exposure(duration: duration, iso: iso)
    }
}

/// What a simulated camera changes by itself, on its way from one value to another, in time that is given from outside.
struct Adjustment<Value: Hashable & Sendable>: Hashable, Sendable {
    let from, to: Value
    /// Both in nanoseconds.
    let began: Int64
    let time: Int64

    /// From 0; from 1 on it is over.
    fileprivate func share(at now: Int64) -> Double { time > 0 ? max(0, Double(now - began) / Double(time)) : 1 }
}

extension Optional {
    /// Moves a value to where it is at this moment, and is nil once it is there.
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
