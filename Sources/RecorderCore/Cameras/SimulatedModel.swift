public import ArbiterProtocol

/// A simulated camera's facts, from Apple's published notes on the iPhone 5 to 6s cameras, so that policies
/// and apps can be tried against cameras of known abilities.
///
/// Sizes, frame rates, binning and zoom limits are the published ones. Where none was
/// published, thresholds follow from the sensor's width and zoom ends at a region 16 pixels high.
public struct SimulatedModel: Hashable, Sendable {
    /// What `--camera simulated:ID` takes.
    public let id: String
    let name: String
    let position: CameraPosition
    package let sensorWidth: Int
    package let sensorHeight: Int
    package let formats: [Format]

    package struct Format: Hashable, Sendable {
        package var format: CameraFormat
        /// Sensor pixels across the picture at zoom 1.
        package var readWidth: Int

        /// - Parameters:
        ///   - smallest: rows of the picture's height at the greatest zoom.
        ///   - threshold: as published; nil where it follows from `readWidth`.
        init(
            _ width: Int, _ height: Int, _ rates: ClosedRange<Double>, reads readWidth: Int, binned: Bool = false,
            threshold: Double? = nil, smallest: Double = 16, view: Double, pixelFormat: String = "420v"
        ) {
            self.readWidth = readWidth
            let derived = Double(readWidth) / Double(binned ? 2 : 1) / Double(width)
            format = CameraFormat(
                pixelFormat: pixelFormat, width: width, height: height, minFrameRate: rates.lowerBound,
                maxFrameRate: rates.upperBound, videoMaxZoomFactor: Double(height) / smallest,
                // Four digits, as Apple's lists have; a format never promises less than zoom 1.
                videoZoomFactorUpscaleThreshold: threshold ?? max(1, (derived * 10_000).rounded(.down) / 10_000),
                isBinned: binned, fieldOfView: view)
        }

        /// Sensor pixels that make one of the raster the picture is scaled from, along each side.
        var divisor: Int {
            let wanted = format.videoZoomFactorUpscaleThreshold * Double(format.width)
            return max(1, Int((Double(readWidth) / wanted).rounded()))
        }
    }

    public static func named(_ id: String) -> SimulatedModel? { all.first { $0.id == id } }

    public var capabilities: CameraCapabilities {
        CameraCapabilities(
            name: name, position: position, sensorWidth: sensorWidth, sensorHeight: sensorHeight,
            formats: formats.map(\.format))
    }
}

extension SimulatedModel {
    public static let all: [SimulatedModel] = [
        iPhone5Back,
        iPhone6Back("iphone6-back", "iPhone 6 back camera"),
        iPhone6Front("iphone6-front", "iPhone 6 front camera"),
        iPhone6Back("iphone6plus-back", "iPhone 6 Plus back camera"),
        iPhone6Front("iphone6plus-front", "iPhone 6 Plus front camera"),
        iPhone6sBack("iphone6s-back", "iPhone 6s back camera"),
        iPhone6sFront("iphone6s-front", "iPhone 6s front camera"),
        iPhone6sBack("iphone6splus-back", "iPhone 6s Plus back camera"),
        iPhone6sFront("iphone6splus-front", "iPhone 6s Plus front camera"),
    ]

    // The first format is the default. It is 720p30 everywhere: every machine keeps up with it.

    private static let iPhone5Back = SimulatedModel(
        id: "iphone5-back", name: "iPhone 5 back camera", position: .back, sensorWidth: 3264, sensorHeight: 2448,
        formats: [
            Format(1280, 720, 2...30, reads: 2793, threshold: 2.18, smallest: 10, view: 56.7),
            Format(1280, 720, 2...60, reads: 2688, binned: true, threshold: 1.05, smallest: 10, view: 51.9),
            // 2793 of 3264 pixels: the full width would give 1.7.
            Format(1920, 1080, 2...30, reads: 2793, threshold: 1.4545, smallest: 10, view: 56.7),
            Format(640, 480, 2...30, reads: 3264, binned: true, threshold: 2.55, smallest: 10, view: 61.4),
            Format(192, 144, 2...30, reads: 3264, binned: true, threshold: 8.5, smallest: 10, view: 61.4),
            Format(3264, 2448, 2...20, reads: 3264, smallest: 10, view: 61.4, pixelFormat: "420f"),
        ])

    private static func iPhone6Back(_ id: String, _ name: String) -> SimulatedModel {
        SimulatedModel(
            id: id, name: name, position: .back, sensorWidth: 3264, sensorHeight: 2448,
            formats: [
                Format(1280, 720, 2...30, reads: 3264, view: 58.0),
                Format(1280, 720, 2...60, reads: 3264, view: 58.0),
                Format(1280, 720, 5...240, reads: 2560, binned: true, view: 45.5),
                Format(960, 540, 2...30, reads: 3264, view: 58.0),
                Format(1920, 1080, 2...30, reads: 3264, view: 58.0),
                Format(1920, 1080, 2...60, reads: 3264, view: 58.0),
                Format(640, 480, 2...60, reads: 3264, binned: true, view: 58.0),
                Format(192, 144, 2...60, reads: 3264, binned: true, view: 58.0),
                Format(3264, 2448, 2...30, reads: 3264, view: 58.0, pixelFormat: "420f"),
            ])
    }

    private static func iPhone6Front(_ id: String, _ name: String) -> SimulatedModel {
        SimulatedModel(
            id: id, name: name, position: .front, sensorWidth: 1280, sensorHeight: 960,
            formats: [
                Format(1280, 720, 2...30, reads: 1280, view: 54.4),
                Format(1280, 960, 2...60, reads: 1280, view: 54.4, pixelFormat: "420f"),
                Format(640, 480, 2...60, reads: 1280, view: 54.4),
                Format(192, 144, 2...60, reads: 1280, view: 54.4),
            ])
    }

    private static func iPhone6sBack(_ id: String, _ name: String) -> SimulatedModel {
        SimulatedModel(
            id: id, name: name, position: .back, sensorWidth: 4032, sensorHeight: 3024,
            formats: [
                Format(1280, 720, 2...30, reads: 4032, view: 58.1),
                Format(1280, 720, 2...60, reads: 4032, view: 58.1),
                Format(1280, 720, 6...240, reads: 2560, binned: true, view: 38.0),
                Format(1920, 1080, 2...30, reads: 4032, view: 58.1),
                Format(1920, 1080, 2...60, reads: 4032, view: 58.1),
                Format(1920, 1080, 3...120, reads: 3840, binned: true, view: 55.6),
                Format(3840, 2160, 2...30, reads: 3840, view: 55.6),
                Format(640, 480, 2...60, reads: 4032, binned: true, view: 58.1),
                Format(192, 144, 2...60, reads: 4032, binned: true, view: 58.1),
                Format(2592, 1936, 2...30, reads: 4032, view: 58.1, pixelFormat: "420f"),
                Format(3264, 2448, 2...30, reads: 4032, view: 58.1, pixelFormat: "420f"),
                Format(4032, 3024, 2...30, reads: 4032, view: 58.1, pixelFormat: "420f"),
            ])
    }

    private static func iPhone6sFront(_ id: String, _ name: String) -> SimulatedModel {
        SimulatedModel(
            id: id, name: name, position: .front, sensorWidth: 2576, sensorHeight: 1932,
            formats: [
                Format(1280, 720, 2...30, reads: 2576, threshold: 1, view: 54.4),
                Format(1280, 960, 2...60, reads: 2576, threshold: 1, view: 54.4, pixelFormat: "420f"),
                Format(640, 480, 2...60, reads: 2576, threshold: 2, view: 54.4),
                Format(192, 144, 2...60, reads: 2576, threshold: 6.7, view: 54.4),
            ])
    }
}
