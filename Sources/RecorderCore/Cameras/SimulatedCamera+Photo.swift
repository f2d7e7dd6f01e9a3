import ArbiterProtocol
import CameraFile
package import CaptureModel
import FrameStream
import Glibc

/// Photos that are larger than a frame, or lit otherwise: drawn from the sensor anew, in the view and at the zoom of the frame.
extension SimulatedCamera {
    /// Where neither an app nor the camera says what it exposes with, as a bright room needs.
    static let usualExposureDuration = 1.0 / 60

    package func exposure(_ settings: CaptureSettings) -> PhotoPlan.Exposure {
        func number(_ key: ConfigurationKey) -> Double? {
            if case .number(let number)? = controls[key] ?? settings.value(key) { number } else { nil }
        }
        return PhotoPlan.Exposure(
            duration: number(.exposureDuration) ?? Self.usualExposureDuration,
            iso: number(.iso) ?? settings.format.optics.iso?.least)
    }

    package func photo(_ plan: PhotoPlan, zoom: Double) -> DrawnPhoto? {
        guard let entry else { return nil }
        let format = entry.format
        let light = plan.light * (plan.metadata.flashFired ? model.lights.flashGain : 1)
        let isLarger = plan.width != format.width || plan.height != format.height
        guard isLarger || light != 1 else { return nil }
        // A larger photo is made of every pixel that the sensor has there.
        let divisor = isLarger ? 1 : entry.divisor
        guard let raster = rasters[divisor] else { return nil }
        let layout = PictureLayout(width: plan.width, height: plan.height, pixelFormat: format.pixelFormat)
        let crop = Self.crop(raster, of: entry, divisor: divisor, layout, zoom)
        return DrawnPhoto(layout) { (memory) throws(MediaFault) in
            try Self.gray(
                raster, crop, with: Scaler(), into: memory.baseAddress, stride: layout.stride, width: layout.width,
                height: layout.height)
            Self.light(UnsafeMutableRawBufferPointer(rebasing: memory.prefix(layout.lumaBytes)), light)
            // The chart has no colour.
            for place in layout.lumaBytes..<layout.bytes { memory[place] = 128 }
        }
    }

    /// Video's luma stands for the light's power of 1/2.2 (ITU-R BT.709, as displays show it); what is lighter than white stays
    /// white.
    private static func light(_ luma: UnsafeMutableRawBufferPointer, _ light: Double) {
        guard light != 1 else { return }
        // The chart is drawn in video range.
        let (black, white) = (16.0, 235.0)
        let gain = pow(light, 1 / 2.2)
        let levels = (0...255).map { level in
            UInt8(min(white, max(black, black + (Double(level) - black) * gain)).rounded())
        }
        for place in luma.indices { luma[place] = levels[Int(luma[place])] }
    }
}
