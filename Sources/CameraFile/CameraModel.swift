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

        public init(flash: Bool, torch: Bool, flashGain: Double) {
            self.flash = flash
            self.torch = torch
            self.flashGain = flashGain
        }
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
