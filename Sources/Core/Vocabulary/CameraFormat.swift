/// A format of a camera's frames. The names are AVCaptureDeviceFormat's.
public struct CameraFormat: Hashable, Sendable, Codable {
    /// `420v` (video range), `420f` (full range), or V4L2's name.
    public var pixelFormat: String
    /// Pixels of a streamed frame.
    public var width: Int
    public var height: Int
    /// Frames a second, both inclusive.
    public var minFrameRate: Double
    public var maxFrameRate: Double
    /// Greatest `videoZoomFactor`; at least 1.
    public var videoMaxZoomFactor: Double
    /// Up to this factor a zoom is a sensor crop and loses nothing; at least 1.
    public var videoZoomFactorUpscaleThreshold: Double
    /// Two pixels of the sensor make one of the stream.
    public var isBinned: Bool
    /// Horizontal, in degrees; 0: not known.
    public var fieldOfView: Double
    /// Further facts. A camera without any, as most of V4L2, has the usual values.
    public var optics: Optics
    /// Fields that a simulated camera's file marks as neither published nor measured. No decision depends on them.
    public var assumed: [FieldName]

    /// A field, by its name on the wire.
    public enum FieldName: String, Hashable, Sendable, Codable, CaseIterable {
        case pixelFormat, width, height, minFrameRate, maxFrameRate, videoMaxZoomFactor, videoZoomFactorUpscaleThreshold
        case isBinned, fieldOfView, highResolutionStillWidth, highResolutionStillHeight, autoFocusSystem, minISO, maxISO
        case minExposureDuration, maxExposureDuration, videoStabilizationModes, videoHDRSupported
    }

    /// The abilities of a format beside sizes, rates and zoom.
    public struct Optics: Hashable, Sendable, Codable {
        /// Pixels of a photo while `highResolutionStillImageOutputEnabled`; `nil`: the stream's.
        public var highResolutionStill: Size?
        public var autoFocusSystem = AutoFocusSystem.none
        /// The ISO 12232 sensitivities of `iso`; `nil`: not known.
        public var iso: Range?
        /// The seconds of `exposureDuration`; `nil`: not known.
        public var exposureDuration: Range?
        /// Beside `off`, in the order of how much they narrow the view. Only formats of 16:9 have any.
        public var videoStabilizationModes: [VideoStabilizationMode] = []
        public var isVideoHDRSupported = false

        public struct Size: Hashable, Sendable, Codable {
            public var width: Int
            public var height: Int

            public init(width: Int, height: Int) {
                self.width = width
                self.height = height
            }
        }

        /// Both inclusive.
        public struct Range: Hashable, Sendable, Codable {
            public var least: Double
            public var most: Double

            public init(least: Double, most: Double) {
                self.least = least
                self.most = most
            }
        }

        public init() {}

        /// The facts of every format.
        public static let usual = Optics()
    }

    /// The way a format finds its focus (AVCaptureAutoFocusSystem).
    public enum AutoFocusSystem: String, Hashable, Sendable, Codable, CaseIterable {
        /// The lens cannot focus.
        case none
        /// The lens scans through its range for the sharpest picture: `adjustingFocus` is true meanwhile.
        case contrast
        /// The sensor measures the focus, and the lens goes there.
        case phase
    }

    /// `preferredVideoStabilizationMode` beside `off` and `auto` (AVCaptureVideoStabilizationMode).
    public enum VideoStabilizationMode: String, Hashable, Sendable, Codable, CaseIterable { case standard, cinematic }

    package init(
        pixelFormat: String, width: Int, height: Int, minFrameRate: Double, maxFrameRate: Double,
        videoMaxZoomFactor: Double = 1, videoZoomFactorUpscaleThreshold: Double = 1, isBinned: Bool = false,
        fieldOfView: Double = 60, optics: Optics = .usual, assumed: [FieldName] = []
    ) {
        (self.pixelFormat, self.width) = (pixelFormat, width)
        (self.height, self.minFrameRate) = (height, minFrameRate)
        (self.maxFrameRate, self.videoMaxZoomFactor) = (maxFrameRate, videoMaxZoomFactor)
        (self.videoZoomFactorUpscaleThreshold, self.isBinned) = (videoZoomFactorUpscaleThreshold, isBinned)
        (self.fieldOfView, self.optics) = (fieldOfView, optics)
        self.assumed = assumed
    }

    /// States in traces of 0.1 have no optics, and nothing that is assumed.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        func read<Value: Decodable>(_ key: CodingKeys) throws -> Value { try members.decode(Value.self, forKey: key) }
        self.init(
            pixelFormat: try read(.pixelFormat), width: try read(.width), height: try read(.height),
            minFrameRate: try read(.minFrameRate), maxFrameRate: try read(.maxFrameRate),
            videoMaxZoomFactor: try read(.videoMaxZoomFactor),
            videoZoomFactorUpscaleThreshold: try read(.videoZoomFactorUpscaleThreshold),
            isBinned: try read(.isBinned), fieldOfView: try read(.fieldOfView),
            optics: try members.decodeIfPresent(Optics.self, forKey: .optics) ?? .usual,
            assumed: try members.decodeIfPresent([FieldName].self, forKey: .assumed) ?? [])
    }

    /// The format as `activeFormat` names it: `420v 1280x720`, with the highest frame rate where two would be alike
    /// (`420v 1280x720@60`), and `binned` where the sensor bins.
    public var name: String {
        "\(pixelFormat) \(width)x\(height)@\(maxFrameRate.shortDescription)\(isBinned ? " binned" : "")"
    }

    /// Apple's proportions of a film: 16 to 9, exactly or to a row (1366x768).
    public var isWidescreen: Bool { Self.isWidescreen(width, height) }
    package static func isWidescreen(_ width: Int, _ height: Int) -> Bool { abs(width * 9 - height * 16) <= 16 }

    /// As AVFoundation describes a format, in one line: `420f 1280x960, 2–60 fps, HRSI 2576x1932, fov 54.4, max zoom
    /// 60.00 (upscales @1.00), ISO 34–2176, SS 0.000013–0.5`. An asterisk follows an assumed value.
    public var referenceLine: String {
        func marked(_ text: String, _ field: FieldName) -> String { assumed.contains(field) ? text + "*" : text }
        var words = [
            marked(pixelFormat, .pixelFormat) + " " + marked("\(width)x\(height)", .width),
            marked("\(minFrameRate.shortDescription)–\(maxFrameRate.shortDescription) fps", .minFrameRate),
        ]
        if let still = optics.highResolutionStill {
            words.append(marked("HRSI \(still.width)x\(still.height)", .highResolutionStillWidth))
        }
        if fieldOfView > 0 { words.append(marked("fov \(fieldOfView.rounded(toDigits: 1))", .fieldOfView)) }
        if isBinned { words.append(marked("binned", .isBinned)) }
        let upscales = marked(
            "upscales @\(videoZoomFactorUpscaleThreshold.rounded(toDigits: 2))", .videoZoomFactorUpscaleThreshold)
        words.append(
            marked("max zoom \(videoMaxZoomFactor.rounded(toDigits: 2))", .videoMaxZoomFactor) + " (\(upscales))")
        if optics.autoFocusSystem != .none {
            words.append(marked("AF \(optics.autoFocusSystem.rawValue)", .autoFocusSystem))
        }
        if let iso = optics.iso {
            words.append(marked("ISO \(iso.least.shortDescription)–\(iso.most.shortDescription)", .minISO))
        }
        if let exposure = optics.exposureDuration {
            words.append(
                marked("SS \(exposure.least.plainDescription)–\(exposure.most.plainDescription)", .minExposureDuration))
        }
        if optics.isVideoHDRSupported { words.append(marked("HDR", .videoHDRSupported)) }
        if !optics.videoStabilizationModes.isEmpty {
            words.append(
                marked(optics.videoStabilizationModes.map(\.rawValue).joined(separator: "+"), .videoStabilizationModes))
        }
        return words.joined(separator: ", ")
    }
}

extension Double {
    /// Rounded to `digits` decimals, at most 6. A number beyond every camera's, which a recorder core may send all the
    /// same, is written as Swift writes it.
    fileprivate func rounded(toDigits digits: Int) -> String {
        guard magnitude < 1e12 else { return String(self) }
        let scale = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000][digits]
        let value = Int64((self * Double(scale)).rounded())
        let rest = String(value.magnitude % UInt64(scale))
        let zeros = String(repeating: "0", count: max(0, digits - rest.utf8.count))
        return "\(value < 0 ? "-" : "")\(value.magnitude / UInt64(scale))\(digits == 0 ? "" : ".\(zeros)\(rest)")"
    }

    /// Seconds as `1/240` where they are a rate's, else as a plain number.
    package var durationDescription: String {
        let rate = 1 / self
        let whole = rate.rounded()
        if self > 0, self < 1, rate.isFinite, whole >= 2, abs(rate - whole) <= whole * 1e-6 {
            return "1/\(whole.shortDescription)"
        }
        let text = shortDescription
        return self >= 1e-6 && text.holds("e-") ? plainDescription : text
    }

    /// Without an exponent where a millionth is fine enough: `0.000013`, where Swift writes `1.3e-05`. Reads back as
    /// the same number.
    package var plainDescription: String {
        var text = rounded(toDigits: 6)
        // The text has a point here, except where `rounded` leaves the number to Swift.
        while text.utf8.contains(UInt8(ascii: ".")), text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return Double(text) == self ? text : shortDescription
    }
}
