package import ArbiterProtocol
import Glibc
import PolicyFile

/// A lens that focuses, in time that is given from outside.
///
///     still ──told to focus, or something changed under continuousAuto──▶ moving ──time is over──▶ still
///       └──told where to be (locked)──▶ still, there
///
/// By contrast it scans: to and fro over the sharp place, and `isAdjusting` meanwhile. By phase it goes to the sharp place,
/// and is never adjusting (what AVFoundation shows of each). Once focused, the mode `auto` is `locked`.
package struct FocusSystem: Hashable, Sendable {
    package struct Order: Hashable, Sendable {
        package var system: CameraFormat.AutoFocusSystem
        /// `locked`, `auto` or `continuousAuto`.
        package var mode: String
        /// Where the lens shall be while it is locked; nil: where it is.
        package var lensPosition: Double?
        package var pointX, pointY: Double
        package var isSmooth: Bool
        /// Another view has to be focused anew.
        package var zoom: Double
        package var format: String

        package init(
            system: CameraFormat.AutoFocusSystem, mode: String = "continuousAuto", lensPosition: Double? = nil,
            pointX: Double = 0.5, pointY: Double = 0.5, isSmooth: Bool = false, zoom: Double = 1, format: String = ""
        ) {
            (self.system, self.mode, self.lensPosition) = (system, mode, lensPosition)
            (self.pointX, self.pointY, self.isSmooth, self.zoom) = (pointX, pointY, isSmooth, zoom)
            self.format = format
        }

        /// The chart leans: its top is farther away, so that another point has another sharp place.
        package var sharpPlace: Double { CameraModel.usualLensPosition + 0.2 * (0.5 - pointY) }

        /// In nanoseconds. A scan takes half a second, as a phone's does; a lens that knows where to go, some frames.
        var time: Int64 {
            switch system {
            case .none: 0
            case .contrast: isSmooth ? 1_000_000_000 : 500_000_000
            case .phase: isSmooth ? 600_000_000 : 200_000_000
            }
        }
    }

    private var movement: Adjustment<Double>?
    private var isScan = false
    private var order: Order?
    private var place = 1.0

    package init() {}

    /// 0 (near) to 1 (far), in the lens's own steps.
    package var lensPosition: Double { (place * 1024).rounded() / 1024 }
    package var isAdjusting: Bool { isScan && movement != nil }

    /// The next grant finds the lens where its mode would have it, and nothing of the last one's.
    package mutating func begin() { (movement, order) = (nil, nil) }

    /// Goes on to a moment, with what is ordered by then.
    /// - Parameter now: nanoseconds; never less than before.
    /// - Returns: true when the mode `auto` has ended: it is `locked` from now on, which the next order has to say.
    package mutating func advance(to now: Int64, _ next: Order) -> Bool {
        let before = order
        order = next
        if next.system == .none {
            movement = nil
            return false
        }
        if next.mode == "locked" {
            movement = nil
            place = next.lensPosition ?? (before == nil ? CameraModel.usualLensPosition : place)
            return false
        }
        guard let before else {
            // Nobody saw how it came there; `auto` was asked for, and is seen to be done.
            place = next.sharpPlace
            if next.mode == "auto" { move(next, at: now) }
            return false
        }
        if isReason(next, since: before) { move(next, at: now) }
        let way = isScan ? Self.scan(from:_:_:) : Self.way(from:_:_:)
        guard movement.advance(to: now, &place, between: way), next.mode == "auto" else { return false }
        order?.mode = "locked"
        return true
    }

    /// A focus that was asked for once does not follow what changes later.
    private func isReason(_ next: Order, since before: Order) -> Bool {
        if next.mode == "auto" { return before.mode != "auto" }
        var same = before
        same.isSmooth = next.isSmooth
        same.lensPosition = next.lensPosition
        return same != next
    }

    private mutating func move(_ order: Order, at now: Int64) {
        movement = Adjustment(from: place, to: order.sharpPlace, began: now, time: order.time)
        isScan = order.system == .contrast
    }

    private static func way(from begin: Double, _ end: Double, _ share: Double) -> Double {
        begin + (end - begin) * share
    }

    /// Past the sharp place, back before it, and to it: how else would it know that it is the sharpest?
    private static func scan(from place: Double, _ sharp: Double, _ share: Double) -> Double {
        let turns = [(0.0, place), (0.4, min(1, sharp + 0.2)), (0.8, max(0, sharp - 0.1)), (1.0, sharp)]
        for (begin, end) in zip(turns, turns.dropFirst()) where share <= end.0 {
            return way(from: begin.1, end.1, (share - begin.0) / (end.0 - begin.0))
        }
        return sharp
    }
}
