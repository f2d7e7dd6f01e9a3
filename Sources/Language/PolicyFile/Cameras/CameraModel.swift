public import ArbiterProtocol

/// A simulated camera of a file (`docs/simulated-cameras.md`).
public struct CameraModel: Hashable, Sendable {
    /// For `--camera simulated:ID`: the file's name without its ending.
    public let id: String
    public let name: String
    public let position: CameraPosition
    /// Pixels of the sensor.
    public let sensorWidth: Int
    public let sensorHeight: Int
    public let lights: Lights
    /// The lens moves while stills are exposed.
    public let hasLensStabilization: Bool
    /// A still may be made of several exposures.
    public let hasStillImageStabilization: Bool
    /// Focus of video can move slowly.
    public let hasSmoothAutofocus: Bool
    /// In the order of the file, which is Apple's.
    public let formats: [Format]
    /// The default's place in `formats`.
    public let defaultFormatIndex: Int
    /// Keys of the file's top that nobody published.
    public let assumed: [String]

    public struct Lights: Hashable, Sendable {
        public var flash: Bool
        public var torch: Bool
        /// How many times the flash multiplies the light; above 1.
        public var flashGain: Double
    }

    public struct Format: Hashable, Sendable {
        public var format: CameraFormat
        /// Pixels of the sensor across the picture at zoom 1.
        public var readWidth: Int
        /// Keys that nobody published.
        public var assumed: [String]

        /// Sensor pixels along each side of one pixel of the raster that the picture is scaled from.
        public var divisor: Int {
            let wanted = format.videoZoomFactorUpscaleThreshold * Double(format.width)
            return max(1, Int((Double(readWidth) / wanted).rounded()))
        }
    }

    /// The metadata object in every simulated camera's pictures: the square that moves over the chart.
    public static let markerType = "marker"

    public var capabilities: CameraCapabilities {
        CameraCapabilities(
            name: name, position: position, sensorWidth: sensorWidth, sensorHeight: sensorHeight,
            formats: formats.map(\.format), controls: controls, defaultFormatIndex: defaultFormatIndex,
            availableMetadataObjectTypes: [Self.markerType])
    }
}

/// The controls of a simulated camera, which follow from the file's lens and lamps.
extension CameraModel {
    /// The usual lens makes the chart sharp in its middle, and the usual ISO shows it as drawn at 1/60 s.
    package static let usualLensPosition = 0.75
    package static let usualISO = 100.0
    private static let middle = ConfigurationValue.point(x: 0.5, y: 0.5)
    private static let modes = ["locked", "auto", "continuousAuto"]
    /// A lens has a thousand places, about as many as a phone's.
    private static let lensStep = 1.0 / 1024
    /// Exposure values either way (AVCaptureDevice's minExposureTargetBias and maxExposureTargetBias on these phones).
    private static let biasMost = 8.0
    /// AVCaptureDevice's maxWhiteBalanceGain on these phones.
    private static let gainMost = 4.0

    var controls: [CameraControl] {
        let optics = formats.map(\.format.optics)
        let canFocus = optics.contains { $0.autoFocusSystem != .none }
        let hasHDR = optics.contains(where: \.isVideoHDRSupported)
        let hasLargerStills = formats.contains { entry in
            entry.format.optics.highResolutionStill.map { $0.width > entry.format.width } ?? false
        }
        let stabilization = CameraFormat.VideoStabilizationMode.allCases.filter { mode in
            optics.contains { $0.videoStabilizationModes.contains(mode) }
        }
        let exposure = ranges(optics)
        // As the sensor lies: a front camera's faces the other way.
        let orientation = VideoOrientation.native(of: position)
        let list =
            [
                mode(.focusMode, Self.modes, "continuousAuto", if: canFocus),
                CameraControl(.focusPointOfInterest, .point, usual: Self.middle).given(canFocus),
                number(.lensPosition, 0, 1, Self.lensStep, Self.usualLensPosition, if: canFocus),
                flag(.smoothAutofocus, if: canFocus && hasSmoothAutofocus),
                mode(.exposureMode, Self.modes + (exposure.isEmpty ? [] : ["custom"]), "continuousAuto"),
                CameraControl(.exposurePointOfInterest, .point, usual: Self.middle),
                number(.exposureTargetBias, -Self.biasMost, Self.biasMost, 0.1, 0),
                mode(.whiteBalanceMode, Self.modes, "continuousAuto"),
                CameraControl(
                    .whiteBalanceGains, .gains(most: Self.gainMost), usual: .gains(red: 1, green: 1, blue: 1)),
                flag(.automaticallyAdjustsVideoHDREnabled, true, if: hasHDR), flag(.videoHDREnabled, if: hasHDR),
                mode(
                    .preferredVideoStabilizationMode, ["off"] + stabilization.map(\.rawValue) + ["auto"], "off",
                    if: !stabilization.isEmpty),
                mode(.torchMode, ["off", "on", "auto"], "off", if: lights.torch),
                number(.torchLevel, 0, 1, 0.01, 1, if: lights.torch),
                mode(.flashMode, ["off", "on", "auto"], "off", if: lights.flash),
                flag(.highResolutionStillImageOutputEnabled, if: hasLargerStills),
                flag(.stillImageStabilization, true, if: hasStillImageStabilization),
                flag(.lensStabilizationDuringBracket, if: hasLensStabilization),
                mode(.videoOrientation, VideoOrientation.allCases.map(\.rawValue), orientation.rawValue),
                flag(.videoMirrored),
            ].compactMap(\.self) + exposure
        return ConfigurationKey.allCases.compactMap { key in list.first { $0.key == key } }
    }

    /// Exposure by hand takes the ranges of all formats.
    private func ranges(_ optics: [CameraFormat.Optics]) -> [CameraControl] {
        let (durations, sensitivities) = (optics.compactMap(\.exposureDuration), optics.compactMap(\.iso))
        guard let shortest = durations.map(\.least).min(), let longest = durations.map(\.most).max(),
            let least = sensitivities.map(\.least).min(), let most = sensitivities.map(\.most).max()
        else { return [] }
        return [
            number(.exposureDuration, shortest, longest, 0.000001, min(max(1.0 / 60, shortest), longest)),
            number(.iso, least, most, 1, min(max(Self.usualISO, least), most)),
        ].compactMap(\.self)
    }

    private func flag(_ key: ConfigurationKey, _ usual: Bool = false, if isThere: Bool = true) -> CameraControl? {
        CameraControl(key, .flag, usual: .flag(usual)).given(isThere)
    }

    private func mode(
        _ key: ConfigurationKey, _ words: [String], _ usual: String, if isThere: Bool = true
    ) -> CameraControl? { CameraControl(key, .words(words), usual: .text(usual)).given(isThere) }

    private func number(
        _ key: ConfigurationKey, _ least: Double, _ most: Double, _ step: Double, _ usual: Double,
        if isThere: Bool = true
    ) -> CameraControl? {
        CameraControl(key, .range(least: least, most: most, step: step), usual: .number(usual)).given(isThere)
    }
}

extension CameraControl {
    fileprivate func given(_ isThere: Bool) -> CameraControl? { isThere ? self : nil }
}
