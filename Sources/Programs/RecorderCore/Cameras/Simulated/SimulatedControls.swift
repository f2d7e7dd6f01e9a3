package import ArbiterProtocol
package import PolicyFile

/// The automatic behaviour of a simulated camera under its settings: it focuses, exposes, balances its white, and delivers its
/// pictures later. A value that goes on from frame to frame, in time that is given from outside.
package struct SimulatedControls: Sendable {
    private let hasLens: Bool
    private var focus = Automatic<FocusSettings>()
    private var exposure = Automatic<ExposureSettings>()
    private var whiteBalance = Automatic<WhiteBalanceSettings>()
    package var pipeline = FramePipeline()
    private var focusSettings = FocusSettings()
    private var exposureSettings = ExposureSettings()
    private var whiteBalanceSettings = WhiteBalanceSettings()
    private var ended = Configuration()
    /// Without the parts of the exposure and the white balance.
    private var video = PictureLook()
    package private(set) var viewLeft = 1.0

    package init(_ model: CameraModel) {
        hasLens = model.formats.contains { $0.format.optics.autoFocusSystem != .none }
    }

    /// A torch at its full level, against the light of a room: brighter by half. Where it is dark the torch would count for more,
    /// but no camera's file has a dark scene, so a torch that is `auto` stays off.
    package static let torchGain = 1.5

    /// The camera was started, or goes on for another grant.
    package mutating func begin() {
        focus.begin()
        exposure.begin()
        whiteBalance.begin()
        pipeline.begin()
        ended = Configuration()
    }

    package mutating func set(_ settings: CaptureSettings) {
        func word(_ key: ConfigurationKey, _ usual: String) -> String {
            if case .text(let word)? = settings.value(key) { word } else { usual }
        }
        func number(_ key: ConfigurationKey) -> Double? { settings.value(key)?.number }
        func point(_ key: ConfigurationKey) -> (x: Double, y: Double) {
            if case .point(let x, let y)? = settings.value(key) { (x, y) } else { (0.5, 0.5) }
        }
        focusSettings.mode = word(.focusMode, "continuousAuto")
        // A locked lens without a position stays where it is, whatever is usual.
        focusSettings.lensPosition = settings.controls[.lensPosition]?.number
        (focusSettings.pointX, focusSettings.pointY) = point(.focusPointOfInterest)
        focusSettings.isSmooth = settings.value(.smoothAutofocus) == .flag(true)

        let torch = word(.torchMode, "off") == "on" ? number(.torchLevel) ?? 1 : 0
        exposureSettings.mode = word(.exposureMode, "continuousAuto")
        (exposureSettings.duration, exposureSettings.iso) = (number(.exposureDuration), number(.iso))
        exposureSettings.bias = number(.exposureTargetBias) ?? 0
        (exposureSettings.pointX, exposureSettings.pointY) = point(.exposurePointOfInterest)
        exposureSettings.light = 1 + torch * (Self.torchGain - 1)

        whiteBalanceSettings = WhiteBalanceSettings(mode: word(.whiteBalanceMode, "continuousAuto"))
        if case .gains(let red, let green, let blue)? = settings.controls[.whiteBalanceGains] {
            whiteBalanceSettings.gains = SIMD3(red, green, blue)
        }
        video.isHDR = settings.isVideoHDREnabled
        video.isMirrored = settings.value(.videoMirrored) == .flag(true)
        pipeline.delay = FramePipeline.delay(of: settings.activeVideoStabilizationMode)
        viewLeft = FramePipeline.viewLeft(by: settings.activeVideoStabilizationMode)
    }

    package mutating func select(_ format: CameraFormat, zoom: Double, frameRate: Double) {
        focusSettings.system = format.optics.autoFocusSystem
        (focusSettings.format, focusSettings.zoom) = (format.name, zoom)
        exposureSettings.durations = format.optics.exposureDuration
        exposureSettings.isos = format.optics.iso
        if frameRate > 0 { exposureSettings.frameDuration = 1 / frameRate }
    }

    /// A frame is captured. Returns the capture time of the frame that is delivered now, if any.
    package mutating func capture(at now: Int64, interval: Int64) -> Int64? {
        if focus.advance(to: now, focusSettings) {
            (focusSettings.mode, focusSettings.lensPosition) = ("locked", nil)
            ended[.focusMode] = .text("locked")
        }
        if exposure.advance(to: now, exposureSettings) {
            exposureSettings.mode = "locked"
            ended[.exposureMode] = .text("locked")
        }
        if whiteBalance.advance(to: now, whiteBalanceSettings) {
            whiteBalanceSettings = WhiteBalanceSettings(mode: "locked")
            ended[.whiteBalanceMode] = .text("locked")
        }
        return pipeline.take(at: now, interval: interval)
    }

    package var look: PictureLook {
        var look = video
        (look.gain, look.gains) = (exposure.gain, whiteBalance.value)
        return look
    }

    /// The camera's state (`ConfigurationKey.isCameraState`), but for modes that ended.
    package var state: Configuration {
        var state = Configuration([
            .adjustingExposure: .flag(exposure.isAdjusting), .adjustingWhiteBalance: .flag(whiteBalance.isAdjusting),
        ])
        if hasLens {
            state[.adjustingFocus] = .flag(focus.isScanning)
            state[.lensPosition] = .number(focus.lensPosition)
        }
        if exposureSettings.durations != nil { state[.exposureDuration] = .number(exposure.value.duration) }
        if exposureSettings.isos != nil { state[.iso] = .number(exposure.value.iso) }
        return state
    }

    package mutating func takeEndedModes() -> Configuration {
        defer { ended = Configuration() }
        return ended
    }
}

/// The pipeline between a sensor and the pictures that a camera delivers.
///
/// Stabilization looks ahead: a picture is delivered when those after it are known. It keeps the time at which it was
/// captured; after a start, none comes until enough have been captured. A pipeline that is rebuilt has lost its frames, and
/// leaves out some more.
package struct FramePipeline: Hashable, Sendable {
    /// Frames that are captured and not delivered yet, the oldest first: at most the longest delay, and one.
    private var captured: [Int64] = []
    private var leftOut = 0
    /// Frames by which a picture is delivered later than captured.
    package var delay = 0

    package init() {}

    /// Frames that a rebuilt pipeline leaves out: a tenth of a second at 30 a second, about as long as a phone's preview stands
    /// still. Seen at once in a recording, and short enough for tests.
    package static let rebuildFrames = 3
    /// No stabilization looks farther ahead than this, in nanoseconds: with few frames a second the first picture would come
    /// after the broker has given the camera up.
    package static let delayMax: Int64 = 500_000_000

    /// Frames that a stabilization looks ahead. Cinematic has to know how the camera is moved in the next half a second
    /// at 30 a second; standard evens out only the shaking between two frames. Nobody published Apple's figures.
    package static func delay(of mode: CameraFormat.VideoStabilizationMode?) -> Int {
        switch mode {
        case .cinematic: 15
        case .standard: 1
        case nil: 0
        }
    }

    /// The part of the view that is seen: a stabilization needs a margin to move the picture in. Apple's stills with
    /// stabilization may be 10 percent smaller; the lighter mode needs half of that.
    package static func viewLeft(by mode: CameraFormat.VideoStabilizationMode?) -> Double {
        switch mode {
        case .cinematic: 0.90
        case .standard: 0.95
        case nil: 1
        }
    }

    package mutating func begin() { (captured, leftOut) = ([], 0) }
    package mutating func rebuild() { (captured, leftOut) = ([], Self.rebuildFrames) }

    /// A frame is captured. Returns the capture time of the frame that is delivered now, if any.
    /// - Parameter interval: nanoseconds from one frame to the next.
    package mutating func take(at now: Int64, interval: Int64) -> Int64? {
        if leftOut > 0 {
            leftOut -= 1
            return nil
        }
        let delay = interval > 0 ? min(delay, Int(Self.delayMax / interval)) : delay
        captured.append(now)
        guard captured.count > delay else { return nil }
        // A delay that has become shorter passes over frames that nobody would see in time.
        captured.removeFirst(captured.count - delay - 1)
        return captured.removeFirst()
    }
}
