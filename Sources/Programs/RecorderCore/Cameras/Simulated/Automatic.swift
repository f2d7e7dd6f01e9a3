package import ArbiterProtocol
import Glibc
import PolicyFile

/// Settings of a control that a simulated camera adjusts by itself, or that is set by hand.
package protocol AutomaticSettings: Hashable, Sendable {
    associatedtype Value: Hashable, Sendable

    static var initial: Value { get }
    /// `locked`, `auto` or `continuousAuto`; for an exposure also `custom`.
    var mode: String { get set }
    /// The value at which an automatic adjustment ends.
    var target: Value { get }
    var time: Int64 { get }
    /// The value in a mode without adjustment; `nil` in `auto` and `continuousAuto`.
    /// - Parameter isFirst: of a grant, to which the present value of the grant before it means nothing.
    func manual(_ present: Value, isFirst: Bool) -> Value?
    func isReason(since before: Self) -> Bool
    /// - Parameter share: from 0 to 1.
    func between(_ from: Value, _ to: Value, _ share: Double) -> Value
}

/// A control of a simulated camera, in time that is given from outside.
///
///     still ──auto, or a change under continuousAuto──▶ adjusting ──time is over──▶ still, at the target
///       └──locked or custom──▶ still, at the value set by hand
///
/// Once an adjustment under `auto` is over, the mode is `locked`.
package struct Automatic<Settings: AutomaticSettings>: Hashable, Sendable {
    private struct Adjustment: Hashable, Sendable {
        let from, to: Settings.Value
        let began: Int64
        let settings: Settings
    }

    package private(set) var value = Settings.initial
    private var settings: Settings?
    private var adjustment: Adjustment?

    package init() {}
    package var isAdjusting: Bool { adjustment != nil }

    /// Nothing of the last grant's counts for the next one.
    package mutating func begin() { (adjustment, settings) = (nil, nil) }

    /// Goes on to a moment, with the settings of that moment.
    /// - Parameter now: nanoseconds; never less than before.
    /// - Returns: true when the mode `auto` has ended: the next settings must have the mode `locked`.
    package mutating func advance(to now: Int64, _ next: Settings) -> Bool {
        let before = settings
        settings = next
        if let manual = next.manual(value, isFirst: before == nil) {
            (value, adjustment) = (manual, nil)
            return false
        }
        // A grant begins adjusted, since nobody saw how; an adjustment that was asked for is seen.
        if before == nil { value = next.target }
        let isAuto = next.mode == "auto"
        if isAuto ? before?.mode != "auto" : before.map(next.isReason) ?? false {
            adjustment = Adjustment(from: value, to: next.target, began: now, settings: next)
        }
        guard let adjustment else { return false }
        let share = Double(now - adjustment.began) / Double(adjustment.settings.time)
        guard share >= 1 else {
            value = adjustment.settings.between(adjustment.from, adjustment.to, max(0, share))
            return false
        }
        (value, self.adjustment) = (adjustment.to, nil)
        if isAuto { settings?.mode = "locked" }
        return isAuto
    }
}

/// A lens that focuses. By contrast it scans, to and fro over the sharp place. By phase it goes to the sharp place, and counts
/// as not adjusting (as AVFoundation reports of each).
package struct FocusSettings: AutomaticSettings {
    package var system: CameraFormat.AutoFocusSystem = .none
    package var mode = "continuousAuto"
    /// Where a locked lens is; `nil` where it stays.
    package var lensPosition: Double?
    package var pointX = 0.5, pointY = 0.5
    package var isSmooth = false
    /// Another view has to be focused anew.
    package var zoom = 1.0
    package var format = ""

    package init() {}
    package static let initial = 1.0

    /// The chart leans: its top is farther away, so that another point has another sharp place.
    package var target: Double { CameraModel.usualLensPosition + 0.2 * (0.5 - pointY) }

    /// A scan takes half a second, as a phone's does; a lens that has a target from the beginning, some frames.
    package var time: Int64 {
        switch system {
        case .none: 0
        case .contrast: isSmooth ? 1_000_000_000 : 500_000_000
        case .phase: isSmooth ? 600_000_000 : 200_000_000
        }
    }

    package func manual(_ present: Double, isFirst: Bool) -> Double? {
        if system == .none { return present }
        guard mode == "locked" else { return nil }
        return lensPosition ?? (isFirst ? CameraModel.usualLensPosition : present)
    }

    package func isReason(since before: Self) -> Bool {
        var same = before
        (same.isSmooth, same.lensPosition) = (isSmooth, lensPosition)
        return same != self
    }

    /// A scan goes past the sharp place, back before it, and to it: only so is it known to be the sharpest.
    package func between(_ from: Double, _ to: Double, _ share: Double) -> Double {
        guard system == .contrast else { return from + (to - from) * share }
        let turns = [(0.0, from), (0.4, min(1, to + 0.2)), (0.8, max(0, to - 0.1)), (1.0, to)]
        for (begin, end) in zip(turns, turns.dropFirst()) where share <= end.0 {
            return begin.1 + (end.1 - begin.1) * (share - begin.0) / (end.0 - begin.0)
        }
        return to
    }
}

extension Automatic where Settings == FocusSettings {
    /// 0 (near) to 1 (far), in the lens's own steps.
    package var lensPosition: Double { (value * 1024).rounded() / 1024 }
    package var isScanning: Bool { adjustment?.settings.system == .contrast }
}

/// The scene is lit evenly: `ordinary` shows it as the chart is drawn. The program prefers `ordinary.duration` and changes the
/// sensitivity, as phones do; where that ends, it changes the duration.
package struct ExposureSettings: AutomaticSettings {
    package struct Exposure: Hashable, Sendable {
        /// Seconds.
        package var duration: Double
        package var iso: Double

        fileprivate var product: Double { duration * iso }
    }

    /// Short enough for a hand that holds the camera; an office's light, about. Every camera's range has it.
    package static let ordinary = Exposure(duration: 1.0 / 60, iso: CameraModel.usualISO)
    package static var initial: Exposure { ordinary }

    package var mode = "continuousAuto"
    package var duration, iso: Double?
    /// Exposure values.
    package var bias = 0.0
    package var pointX = 0.5, pointY = 0.5
    /// Times the light that there is without a lamp.
    package var light = 1.0
    package var durations, isos: CameraFormat.Optics.Range?
    /// Seconds from one frame to the next: no automatic exposure is longer.
    package var frameDuration = 1.0 / 30

    package init() {}

    /// The exposure that shows the scene as it is drawn, and the bias beyond that, as near as the format comes to it.
    package var target: Exposure {
        let product = Self.ordinary.product * exp2(bias) / light
        let shortest = durations?.least ?? 0
        let longest = max(shortest, min(durations?.most ?? frameDuration, frameDuration))
        var found = Exposure(duration: min(max(Self.ordinary.duration, shortest), longest), iso: 0)
        found.iso = product / found.duration
        if let isos, found.iso < isos.least || found.iso > isos.most {
            found.iso = min(max(found.iso, isos.least), isos.most)
            found.duration = min(max(product / found.iso, shortest), longest)
        }
        return found
    }

    /// A phone takes about as long for a change that is not great.
    package var time: Int64 { 250_000_000 }

    package func manual(_ present: Exposure, isFirst: Bool) -> Exposure? {
        switch mode {
        case "custom": Exposure(duration: duration ?? present.duration, iso: iso ?? present.iso)
        case "locked": isFirst ? target : present
        default: nil
        }
    }

    /// Another format is a reason only where it cannot have the same exposure.
    package func isReason(since before: Self) -> Bool {
        var same = before
        (same.duration, same.iso, same.durations, same.isos) = (duration, iso, durations, isos)
        same.frameDuration = frameDuration
        return same != self || target != before.target
    }

    /// Evenly in exposure values, as an eye sees it.
    package func between(_ from: Exposure, _ to: Exposure, _ share: Double) -> Exposure {
        Exposure(
            duration: from.duration * pow(to.duration / from.duration, share),
            iso: from.iso * pow(to.iso / from.iso, share))
    }
}

extension Automatic where Settings == ExposureSettings {
    /// Times the light that shows the scene as it is drawn.
    package var gain: Double { value.product * (settings?.light ?? 1) / ExposureSettings.ordinary.product }
}

/// The chart is lit by white light, so the right white balance is no gain at all.
package struct WhiteBalanceSettings: AutomaticSettings {
    /// Red, green and blue.
    package typealias Gains = SIMD3<Double>

    package var mode: String
    /// Set by hand, while it is locked; `nil` where they stay.
    package var gains: Gains?

    package init(mode: String = "continuousAuto", gains: Gains? = nil) { (self.mode, self.gains) = (mode, gains) }

    package static var initial: Gains { .one }
    package var target: Gains { .one }
    package var time: Int64 { 250_000_000 }
    package func isReason(since before: Self) -> Bool { mode != before.mode }

    package func manual(_ present: Gains, isFirst: Bool) -> Gains? {
        mode == "locked" ? gains ?? (isFirst ? .one : present) : nil
    }

    package func between(_ from: Gains, _ to: Gains, _ share: Double) -> Gains { from + (to - from) * share }
}
