import CMedia
import FrameStream

/// Zooms by the device's zoom control, else by reading a smaller part of the sensor. The recorder core magnifies by the rest of
/// a factor.
final class VideoZoom {
    private let device: any VideoDevice
    private let control: camarb_video_control?
    /// The part that is read at zoom 1; `nil` where the device cannot crop.
    private let usual: camarb_video_rectangle?
    /// The device let itself be cropped while it streams, as far as is known.
    private var cropsNow = true
    private var isWhole = true
    /// The device did not take the last factor, and still has an earlier one.
    private(set) var isLeftOver = false

    struct Range: Hashable {
        var byControl = 1.0
        /// The pixels that the sensor has across, where a part of them can be read.
        var sensorWidth: Int?
    }
    let range: Range

    init(_ device: any VideoDevice) {
        self.device = device
        let found = device.control(camarb_cid_zoom_absolute)?.usable
        // A range from 0 has no ratio that a factor could stand for.
        control = found.flatMap { $0.least > 0 && $0.most > $0.least ? $0 : nil }
        usual = control == nil ? device.usualCrop().flatMap { Self.isPart($0) ? $0 : nil } : nil
        range = Range(
            byControl: control.map { Double($0.most) / Double($0.least) } ?? 1, sensorWidth: usual.map { Int($0.width) }
        )
    }

    /// Of a sensor that there is: its halves and middles are numbers, and it has room for a smaller part.
    private static func isPart(_ rectangle: camarb_video_rectangle) -> Bool {
        let side = Int32(PictureLayout.sideMax)
        return (2...UInt32(side)).contains(rectangle.width) && (2...UInt32(side)).contains(rectangle.height)
            && (-side...side).contains(rectangle.x) && (-side...side).contains(rectangle.y)
    }

    /// A new stream: a crop that was refused while the last one ran may work now.
    func begin() { cropsNow = true }

    /// - Returns: the factor that is left for the recorder core to magnify by, from 1.
    func set(_ factor: Double) -> Double {
        if let control {
            let reached = min(factor, range.byControl)
            let steps = ((reached - 1) * Double(control.least) / Double(control.step)).rounded()
            let value = min(control.most, control.least + Int64(steps) * control.step)
            isLeftOver = (try? device.set(control.id, to: value)) == nil
            return isLeftOver ? factor : max(1, factor / (Double(value) / Double(control.least)))
        }
        isLeftOver = !isWhole
        guard let usual, cropsNow else { return factor }
        var wanted = usual
        wanted.width = max(2, UInt32((Double(usual.width) / factor).rounded()))
        wanted.height = max(2, UInt32((Double(usual.height) / factor).rounded()))
        wanted.x = usual.x + Int32(usual.width - wanted.width) / 2
        wanted.y = usual.y + Int32(usual.height - wanted.height) / 2
        guard let real = try? device.set(crop: wanted) else {
            // Most cannot while they stream.
            cropsNow = false
            return factor
        }
        isWhole = real.width == usual.width && real.height == usual.height
        isLeftOver = false
        // A device reads no less than it can magnify to the format.
        return real.width > 0 ? max(1, factor / (Double(usual.width) / Double(real.width))) : factor
    }

    func reset() {
        if let control { try? device.set(control.id, to: control.least) }
        if let usual, (try? device.set(crop: usual)) != nil { isWhole = true }
    }
}
