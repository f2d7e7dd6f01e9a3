import ArbiterProtocol
import CameraFile
package import CaptureModel
import FrameStream

/// Photos that are larger than a frame, or lit otherwise: drawn from the sensor anew, in the view and at the zoom of the frame.
extension SimulatedCamera {
    package func exposure(_ settings: CaptureSettings) -> PhotoPlan.Exposure {
        func number(_ key: ConfigurationKey) -> Double? { (state[key] ?? settings.value(key))?.number }
        return PhotoPlan.Exposure(
            duration: number(.exposureDuration) ?? ExposureProgram.ordinaryDuration,
            iso: number(.iso) ?? settings.format.optics.iso?.least)
    }

    package func photo(_ plan: PhotoPlan, zoom: Double) -> DrawnPhoto? {
        guard let entry else { return nil }
        let format = entry.format
        let light = plan.light * (plan.metadata.flashFired ? model.lights.flashGain : 1)
        var look = look
        look.gain *= light
        let isLarger = plan.width != format.width || plan.height != format.height
        guard isLarger || light != 1 else { return nil }
        // A larger photo is made of every pixel that the sensor has there.
        let divisor = isLarger ? 1 : entry.divisor
        let layout = PictureLayout(width: plan.width, height: plan.height, pixelFormat: format.pixelFormat)
        guard let raster = rasters[Reading(divisor: divisor, isFullRange: layout.isFullRange)] else { return nil }
        let crop = Self.crop(raster, of: entry, divisor: divisor, layout, zoom / behaviour.viewLeft)
        let lit = look
        let marker = marker(in: crop, of: raster)
        return DrawnPhoto(layout) { (memory) throws(MediaFault) in
            try Self.gray(
                raster, crop, with: Scaler(), into: memory.baseAddress, stride: layout.stride, width: layout.width,
                height: layout.height)
            // The chart has no colour.
            for place in layout.lumaBytes..<layout.bytes { memory[place] = 128 }
            if !lit.isPlain { lit.apply(to: memory, layout) }
            if let marker { Self.draw(marker, lit, into: memory, layout) }
        }
    }
}
