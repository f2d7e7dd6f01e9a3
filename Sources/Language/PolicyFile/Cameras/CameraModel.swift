public import ArbiterProtocol

/// A simulated camera, as a file describes it (`docs/simulated-cameras.md`): what it can do, and what of it nobody published.
public struct CameraModel: Hashable, Sendable {
    /// What `--camera simulated:ID` takes: the file's name without its ending.
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
    /// The place of the format that a session has when it asks for none.
    public let defaultFormatIndex: Int
    /// Keys of the file's top that nobody published.
    public let assumed: [String]

    public struct Lights: Hashable, Sendable {
        public var flash: Bool
        public var torch: Bool
        /// How many times the light that the flash gives beside what is there; above 1.
        public var flashGain: Double
    }

    public struct Format: Hashable, Sendable {
        public var format: CameraFormat
        /// Pixels of the sensor across the picture at zoom 1.
        public var readWidth: Int
        /// Keys that nobody published.
        public var assumed: [String]

        /// Sensor pixels that make one of the raster the picture is scaled from, along each side.
        public var divisor: Int {
            let wanted = format.videoZoomFactorUpscaleThreshold * Double(format.width)
            return max(1, Int((Double(readWidth) / wanted).rounded()))
        }
    }

    /// What every simulated camera finds in its pictures: the square that moves over the chart.
    public static let markerType = "marker"

    public var capabilities: CameraCapabilities {
        CameraCapabilities(
            name: name, position: position, sensorWidth: sensorWidth, sensorHeight: sensorHeight,
            formats: formats.map(\.format), controls: controls, defaultFormatIndex: defaultFormatIndex,
            availableMetadataObjectTypes: [Self.markerType])
    }
}

/// What can be set on a simulated camera beside format, rate and zoom: it follows from what the file says of lens and lamps.
extension CameraModel {
    var controls: [CameraControl] {
        var list = focus
        list += exposure
        list += whiteBalance
        list += video
        list += lamps
        list += stills
        list.append(
            CameraControl(
                .videoOrientation, .words(VideoOrientation.allCases.map(\.rawValue)),
                // As the sensor lies: a front camera's faces the other way.
                usual: .text(VideoOrientation.native(of: position).rawValue)))
        list.append(CameraControl(.videoMirrored, .flag, usual: .flag(false)))
        return ConfigurationKey.allCases.compactMap { key in list.first { $0.key == key } }
    }

    /// Where the chart is sharp in its middle, and what shows it as it is drawn at 1/60 s: a camera begins so.
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

    private var focus: [CameraControl] {
        guard formats.contains(where: { $0.format.optics.autoFocusSystem != .none }) else { return [] }
        var list = [
            CameraControl(.focusMode, .words(Self.modes), usual: .text("continuousAuto")),
            CameraControl(.focusPointOfInterest, .point, usual: Self.middle),
            CameraControl(
                .lensPosition, .range(least: 0, most: 1, step: Self.lensStep), usual: .number(Self.usualLensPosition)),
        ]
        if hasSmoothAutofocus { list.append(CameraControl(.smoothAutofocus, .flag, usual: .flag(false))) }
        return list
    }

    private var exposure: [CameraControl] {
        var list = [
            CameraControl(.exposurePointOfInterest, .point, usual: Self.middle),
            CameraControl(
                .exposureTargetBias, .range(least: -Self.biasMost, most: Self.biasMost, step: 0.1), usual: .number(0)),
        ]
        let durations = formats.compactMap(\.format.optics.exposureDuration)
        let sensitivities = formats.compactMap(\.format.optics.iso)
        guard let shortest = durations.map(\.least).min(), let longest = durations.map(\.most).max(),
            let least = sensitivities.map(\.least).min(), let most = sensitivities.map(\.most).max()
        else { return [CameraControl(.exposureMode, .words(Self.modes), usual: .text("continuousAuto"))] + list }
        list += [
            CameraControl(.exposureMode, .words(Self.modes + ["custom"]), usual: .text("continuousAuto")),
            CameraControl(
                .exposureDuration, .range(least: shortest, most: longest, step: 0.000001),
                usual: .number(min(max(1.0 / 60, shortest), longest))),
            CameraControl(
                .iso, .range(least: least, most: most, step: 1), usual: .number(min(max(Self.usualISO, least), most))),
        ]
        return list
    }

    private var whiteBalance: [CameraControl] {
        [
            CameraControl(.whiteBalanceMode, .words(Self.modes), usual: .text("continuousAuto")),
            CameraControl(.whiteBalanceGains, .gains(most: Self.gainMost), usual: .gains(red: 1, green: 1, blue: 1)),
        ]
    }

    private var video: [CameraControl] {
        var list: [CameraControl] = []
        if formats.contains(where: \.format.optics.isVideoHDRSupported) {
            list = [
                CameraControl(.automaticallyAdjustsVideoHDREnabled, .flag, usual: .flag(true)),
                CameraControl(.videoHDREnabled, .flag, usual: .flag(false)),
            ]
        }
        let modes = CameraFormat.VideoStabilizationMode.allCases.filter { mode in
            formats.contains { $0.format.optics.videoStabilizationModes.contains(mode) }
        }
        if !modes.isEmpty {
            list.append(
                CameraControl(
                    .preferredVideoStabilizationMode, .words(["off"] + modes.map(\.rawValue) + ["auto"]),
                    usual: .text("off")))
        }
        return list
    }

    private var lamps: [CameraControl] {
        var list: [CameraControl] = []
        if lights.torch {
            list += [
                CameraControl(.torchMode, .words(["off", "on", "auto"]), usual: .text("off")),
                CameraControl(.torchLevel, .range(least: 0, most: 1, step: 0.01), usual: .number(1)),
            ]
        }
        if lights.flash { list.append(CameraControl(.flashMode, .words(["off", "on", "auto"]), usual: .text("off"))) }
        return list
    }

    private var stills: [CameraControl] {
        var list: [CameraControl] = []
        let hasLarger = formats.contains { entry in
            entry.format.optics.highResolutionStill.map { $0.width > entry.format.width } ?? false
        }
        if hasLarger { list.append(CameraControl(.highResolutionStillImageOutputEnabled, .flag, usual: .flag(false))) }
        if hasStillImageStabilization {
            list.append(CameraControl(.stillImageStabilization, .flag, usual: .flag(true)))
        }
        if hasLensStabilization {
            list.append(CameraControl(.lensStabilizationDuringBracket, .flag, usual: .flag(false)))
        }
        return list
    }
}
