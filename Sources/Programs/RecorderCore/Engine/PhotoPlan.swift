package import ArbiterProtocol
import FrameStream
import Glibc

/// A photo's size under the settings in force, and how it is exposed, steadied and lit. A source draws it, or has a frame
/// that is it already. A pure value.
package struct PhotoPlan: Hashable, Sendable {
    package let width: Int
    package let height: Int
    package let metadata: PhotoMetadata
    /// Times the light of a frame, without the flash.
    package let light: Double
    /// `on`, `off` or `auto`; `nil` where the camera has no flash.
    package let flashMode: String?
    /// Degrees, across the picture at zoom 1; 0: not known.
    package private(set) var fieldOfView: Double

    /// From this exposure on a hand's shaking is seen: the reciprocal rule's shortest exposure for a phone's lens, which is one
    /// of about 30 mm on 35 mm film. Shorter ones are not stabilized, and a scene that needs a longer one is dark.
    package static let handShakeDuration = 1.0 / 30
    /// The part of each side of a larger still that video stabilization leaves: its margin is a tenth.
    package static let stabilizedShare = 0.9

    /// The exposure of the photo's frame; `nil` where the camera does not report it.
    package struct Exposure: Hashable, Sendable {
        package var duration, iso: Double?

        package init(duration: Double? = nil, iso: Double? = nil) { (self.duration, self.iso) = (duration, iso) }

        var light: Double { (duration ?? 1) * (iso ?? 1) }
    }

    /// - Parameter shot: of a bracket; `nil` for a single photo.
    /// - Parameter zoom: of the frame; on a ramp it is not yet the one in the settings.
    package init(
        _ settings: CaptureSettings, of camera: CameraCapabilities, zoom: Double, exposure: Exposure,
        shot: PhotoBracket.Shot? = nil
    ) {
        let format = settings.format
        (width, height) = Self.size(settings, of: format)
        fieldOfView = format.fieldOfView
        var taken = PhotoMetadata()
        taken.videoZoomFactor = zoom
        taken.orientation = settings.exifOrientation(of: camera.position).rawValue
        if case .number(let bias)? = settings.value(.exposureTargetBias) { taken.exposureTargetBias = bias }
        let exposed = Self.exposure(exposure, for: shot, bias: taken.exposureTargetBias ?? 0, format.optics)
        taken.exposureDuration = exposed.duration
        taken.iso = exposed.iso
        switch shot {
        case .exposureTargetBias(let bias)?: taken.exposureTargetBias = bias
        case .exposure?: taken.exposureTargetBias = nil
        case nil: break
        }
        let isLong = (exposed.duration ?? 0) >= Self.handShakeDuration * (1 - ConfigurationCheck.roundingShare)
        if case .text(let mode)? = settings.value(.flashMode) { flashMode = mode } else { flashMode = nil }
        // A bracket's exposures are its own; the flash would make them all the same.
        taken.flashFired = shot == nil && (flashMode == "on" || flashMode == "auto" && isLong)
        taken.stillImageStabilizationUsed =
            shot == nil && isLong && !taken.flashFired && settings.value(.stillImageStabilization) == .flag(true)
        // Outside a bracket the lens helps the other stabilization, and only in the format that has the whole sensor, which
        // is the one of preset photo (TN2409). In a bracket it has a key of its own.
        let isWhole = (format.width, format.height) == (camera.sensorWidth, camera.sensorHeight)
        let lens = settings.value(.lensStabilizationDuringBracket)
        taken.lensStabilizationUsed =
            shot == nil ? lens != nil && isWhole && taken.stillImageStabilizationUsed : lens == .flag(true) && isLong
        metadata = taken
        light = exposed.light / exposure.light
    }

    /// Whether photos are of the video's own size, and not larger stills.
    static func isOfFrame(_ settings: CaptureSettings) -> Bool {
        size(settings, of: settings.format) == (settings.format.width, settings.format.height)
    }

    /// A photo under these settings, but in another of the camera's formats.
    static func layout(_ settings: CaptureSettings, of format: CameraFormat) -> PictureLayout {
        let (width, height) = size(settings, of: format)
        return PictureLayout(width: width, height: height, pixelFormat: format.pixelFormat)
    }

    /// Only a part of the picture is shown: the lens seems longer where it is narrower.
    mutating func show(_ part: SensorWindow.Crop, of layout: PictureLayout) {
        guard part.width < layout.width, fieldOfView > 0 else { return }
        let tangent = tan(fieldOfView * .pi / 360) * Double(part.width) / Double(layout.width)
        fieldOfView = atan(tangent) * 360 / .pi
    }

    private static func size(_ settings: CaptureSettings, of format: CameraFormat) -> (Int, Int) {
        guard settings.value(.highResolutionStillImageOutputEnabled) == .flag(true),
            let still = format.optics.highResolutionStill
        else { return (format.width, format.height) }
        guard settings.activeVideoStabilizationMode != nil else { return (still.width, still.height) }
        // Chroma is subsampled by two: sides are even.
        func steadied(_ side: Int) -> Int { Int(Double(side) * stabilizedShare) & ~1 }
        return (steadied(still.width), steadied(still.height))
    }

    /// A bias is met by the exposure's length, and by the sensitivity where the format has no such length.
    private static func exposure(
        _ found: Exposure, for shot: PhotoBracket.Shot?, bias: Double, _ optics: CameraFormat.Optics
    ) -> Exposure {
        switch shot {
        case nil: return found
        case .exposure(let duration, let iso)?: return Exposure(duration: duration, iso: iso)
        case .exposureTargetBias(let wanted)?:
            guard let duration = found.duration, let iso = found.iso else { return found }
            let light = duration * iso * pow(2, wanted - bias)
            let length = inside(light / iso, optics.exposureDuration)
            return Exposure(duration: length, iso: inside(light / length, optics.iso))
        }
    }

    private static func inside(_ value: Double, _ range: CameraFormat.Optics.Range?) -> Double {
        range.map { min(max(value, $0.least), $0.most) } ?? value
    }
}
