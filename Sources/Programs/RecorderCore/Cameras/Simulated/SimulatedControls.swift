package import ArbiterProtocol
package import PolicyFile

/// What a simulated camera does by itself with what it was told: focuses, exposes, balances its white, and delivers its
/// pictures later. A value that goes on from frame to frame, in time that is given from outside.
package struct SimulatedControls: Hashable, Sendable {
    private let hasLens: Bool
    package private(set) var focus = FocusSystem()
    package private(set) var exposure = ExposureProgram()
    package private(set) var whiteBalance = WhiteBalance()
    package var pipeline = FramePipeline()
    private var focusOrder = FocusSystem.Order(system: .none)
    private var exposureOrder = ExposureProgram.Order()
    private var whiteBalanceOrder = WhiteBalance.Order()
    private var ended = Configuration()
    /// How the pictures look, but for the exposure's and the white balance's part.
    private var video = PictureLook()
    package private(set) var viewLeft = 1.0

    package init(_ model: CameraModel) {
        hasLens = model.formats.contains { $0.format.optics.autoFocusSystem != .none }
    }

    /// A torch at its full level, against the light of a room: brighter than what is there by half. Where it is dark the
    /// torch would count for more, but no camera's file has a dark scene, so a torch that is `auto` stays off.
    package static let torchGain = 1.5

    /// Nothing of what was before counts: the camera was started, or goes on for another grant.
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
        let interest = (focus: point(.focusPointOfInterest), exposure: point(.exposurePointOfInterest))
        focusOrder.mode = word(.focusMode, "continuousAuto")
        // Of a lens that is locked and not told where, only its own place counts.
        focusOrder.lensPosition = settings.controls[.lensPosition]?.number
        (focusOrder.pointX, focusOrder.pointY) = interest.focus
        focusOrder.isSmooth = settings.value(.smoothAutofocus) == .flag(true)
        let torch = word(.torchMode, "off") == "on" ? number(.torchLevel) ?? 1 : 0
        exposureOrder = ExposureProgram.Order(
            mode: word(.exposureMode, "continuousAuto"), duration: number(.exposureDuration), iso: number(.iso),
            bias: number(.exposureTargetBias) ?? 0, pointX: interest.exposure.x, pointY: interest.exposure.y,
            light: 1 + torch * (Self.torchGain - 1), durations: exposureOrder.durations, isos: exposureOrder.isos,
            frameDuration: exposureOrder.frameDuration)
        whiteBalanceOrder = WhiteBalance.Order(mode: word(.whiteBalanceMode, "continuousAuto"))
        if case .gains(let red, let green, let blue)? = settings.controls[.whiteBalanceGains] {
            whiteBalanceOrder.gains = WhiteBalance.Gains(red: red, green: green, blue: blue)
        }
        video.isHDR = settings.isVideoHDREnabled
        video.isMirrored = settings.value(.videoMirrored) == .flag(true)
        pipeline.delay = FramePipeline.delay(of: settings.activeVideoStabilizationMode)
        viewLeft = FramePipeline.viewLeft(by: settings.activeVideoStabilizationMode)
    }

    package mutating func select(_ format: CameraFormat, zoom: Double, frameRate: Double) {
        focusOrder.system = format.optics.autoFocusSystem
        focusOrder.format = format.name
        focusOrder.zoom = zoom
        exposureOrder.durations = format.optics.exposureDuration
        exposureOrder.isos = format.optics.iso
        exposureOrder.frameDuration = frameRate > 0 ? 1 / frameRate : exposureOrder.frameDuration
    }

    /// A frame is captured. Returns when the one that is delivered now was captured; nil: none is.
    package mutating func capture(at now: Int64, interval: Int64) -> Int64? {
        if focus.advance(to: now, focusOrder) {
            focusOrder.mode = "locked"
            focusOrder.lensPosition = nil
            ended[.focusMode] = .text("locked")
        }
        if exposure.advance(to: now, exposureOrder) {
            exposureOrder.mode = "locked"
            ended[.exposureMode] = .text("locked")
        }
        if whiteBalance.advance(to: now, whiteBalanceOrder) {
            whiteBalanceOrder = WhiteBalance.Order(mode: "locked")
            ended[.whiteBalanceMode] = .text("locked")
        }
        return pipeline.take(at: now, interval: interval)
    }

    package var look: PictureLook {
        var look = video
        look.gain = exposure.gain
        look.gains = whiteBalance.gains
        return look
    }

    /// What it says of itself (`ConfigurationKey.isCameraState`), but for modes that ended.
    package var state: Configuration {
        var state = Configuration([
            .adjustingExposure: .flag(exposure.isAdjusting), .adjustingWhiteBalance: .flag(whiteBalance.isAdjusting),
        ])
        if hasLens {
            state[.adjustingFocus] = .flag(focus.isAdjusting)
            state[.lensPosition] = .number(focus.lensPosition)
        }
        if exposureOrder.durations != nil { state[.exposureDuration] = .number(exposure.exposure.duration) }
        if exposureOrder.isos != nil { state[.iso] = .number(exposure.exposure.iso) }
        return state
    }

    package mutating func takeEndedModes() -> Configuration {
        defer { ended = Configuration() }
        return ended
    }
}
