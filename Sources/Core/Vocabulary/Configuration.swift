/// A key that a session can configure. The words are AVFoundation's, where it has one.
public enum ConfigurationKey: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
    /// The session's camera, by identity. A camera switch inside a session is a configuration.
    case camera
    /// The purpose of the session, as one of `SessionPreset`'s words: the camera's format follows from it.
    case sessionPreset
    /// A format by its name, such as `420v 1280x720`. Ends a preset.
    case activeFormat
    /// Frames a second, inside the format's range: both frame durations at once.
    case frameRate
    /// Seconds, at least, from one frame to the next: `1/30`.
    case activeVideoMinFrameDuration
    /// Seconds, at most: a long exposure slows the camera down to here.
    case activeVideoMaxFrameDuration
    /// 1.0 up to the format's `videoMaxZoomFactor`.
    case videoZoomFactor
    /// Doublings a second of a ramp to `videoZoomFactor` in the same batch; absent: at once.
    case videoZoomRampRate
    /// Ends a ramp at its present zoom: true, alone or beside anything but a zoom.
    case cancelVideoZoomRamp
    /// Whether the session records sound.
    case usesAudio
    /// The fate of `usesAudio` while another app has the microphone: `refuse` or `interrupt`.
    case whenBusy
    /// Where a policy shares cameras: `exclusiveControl` (the default) wants to configure and record, and
    /// `sharedReadOnly` only to watch beside the holder. The words are those of Windows' MediaCaptureSharingMode.
    case sharingMode
    /// The kind of capture: `photo` (the default) or `video`. While another app beside it keeps it from recording, a
    /// session that takes video shows a black preview.
    case captureMode

    // Controls: a camera lists them among its capabilities. A camera that lacks one refuses it by name.
    /// `locked`, `auto` (once, then locked) or `continuousAuto`.
    case focusMode
    /// The point that is to be sharp while the camera focuses, from (0, 0) at the top left of the sensor to (1, 1).
    case focusPointOfInterest
    /// 0 (near) to 1 (far), while `focusMode` is `locked`.
    case lensPosition
    /// Whether video's focus moves slowly (AVCaptureDevice's smoothAutoFocusEnabled).
    case smoothAutofocus
    /// `locked`, `auto` (once, then locked), `continuousAuto` or `custom`.
    case exposureMode
    /// The point that is to be exposed well, as `focusPointOfInterest`.
    case exposurePointOfInterest
    /// Seconds, while `exposureMode` is `custom`.
    case exposureDuration
    /// Exposure values to add to the automatic exposure.
    case exposureTargetBias
    /// `custom` or `continuousAuto`.
    case isoMode
    /// ISO 12232 sensitivity, while `isoMode` is `custom`, or `exposureMode` where there is no such mode.
    case iso
    /// `locked` or `continuousAuto`.
    case gainMode
    /// In the device's own steps, while `gainMode` is `locked`.
    case gain
    /// `locked`, `auto` (once, then locked) or `continuousAuto`.
    case whiteBalanceMode
    /// Kelvin, while `whiteBalanceMode` is `locked`.
    case whiteBalanceTemperature
    /// Red, green and blue from 1 up (deviceWhiteBalanceGains), while `whiteBalanceMode` is `locked`.
    case whiteBalanceGains
    /// Whether the camera chooses `videoHDREnabled`: it does so under a preset.
    case automaticallyAdjustsVideoHDREnabled
    /// While `automaticallyAdjustsVideoHDREnabled` is false, where there is such a key.
    case videoHDREnabled
    /// `off`, `standard`, `cinematic`, or `auto`: cinematic where the format has it.
    case preferredVideoStabilizationMode
    /// `off`, `on` or `auto` (when it is dark); never together with the flash.
    case torchMode
    /// 0 to 1, while `torchMode` is `on`.
    case torchLevel
    /// `off`, `on` or `auto`: whether photos are lit. Never together with the torch.
    case flashMode
    /// Photos of the format's high-resolution size instead of the stream's.
    case highResolutionStillImageOutputEnabled
    /// Photos are made of several exposures where that makes them steadier.
    case stillImageStabilization
    /// The lens is moved against shaking while a bracket is taken.
    case lensStabilizationDuringBracket
    /// `portrait`, `portraitUpsideDown`, `landscapeRight` or `landscapeLeft`: the side of the device that is up.
    case videoOrientation
    /// Left and right exchanged.
    case videoMirrored
    /// Top and bottom exchanged.
    case videoFlipped
    /// In the device's own steps, as the four below.
    case brightness
    case contrast
    case saturation
    case hue
    case sharpness

    // Reported by the camera alone.
    /// The result of `preferredVideoStabilizationMode` in the format that is in force.
    case activeVideoStabilizationMode
    /// Whether the lens scans for the focus: only where the format focuses by contrast.
    case adjustingFocus
    case adjustingExposure
    case adjustingWhiteBalance
    /// Rebuilds of the pipeline in this grant while it ran: each time frames are left out.
    case pipelineRebuilds

    public static func < (a: ConfigurationKey, b: ConfigurationKey) -> Bool { a.rawValue < b.rawValue }
}

/// A configured value. Numbers are finite; text is at most 256 bytes.
public enum ConfigurationValue: Hashable, Sendable {
    case text(String)
    case number(Double)
    case flag(Bool)
    /// From (0, 0) at the top left of the sensor to (1, 1).
    case point(x: Double, y: Double)
    /// The factor of each colour, from 1.
    case gains(red: Double, green: Double, blue: Double)

    public var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): number.shortDescription
        case .flag(let flag): flag ? "true" : "false"
        case .point, .gains: numbers.map(\.shortDescription).joined(separator: ",")
        }
    }

    /// The value for a person: a frame's time as `1/30`, and no digits behind the fourth.
    public func words(for key: ConfigurationKey) -> String {
        switch (self, key) {
        case (.number(let seconds), .exposureDuration), (.number(let seconds), .activeVideoMinFrameDuration),
            (.number(let seconds), .activeVideoMaxFrameDuration):
            seconds.durationDescription
        case (.number, _), (.point, _), (.gains, _):
            (number.map { [$0] } ?? numbers).map(\.roundedDescription).joined(separator: ",")
        case (.text, _), (.flag, _): description
        }
    }

    /// `nil` for every value but a number.
    public var number: Double? { if case .number(let number) = self { number } else { nil } }

    /// The numbers of a point or of gains, in their order; else empty.
    public var numbers: [Double] {
        switch self {
        case .point(let x, let y): [x, y]
        case .gains(let red, let green, let blue): [red, green, blue]
        case .text, .number, .flag: []
        }
    }

    /// A point of two numbers, gains of three, `nil` of any other count.
    public init?(numbers: [Double], of kind: ConfigurationKey.Kind) {
        switch (kind, numbers.count) {
        case (.point, 2): self = .point(x: numbers[0], y: numbers[1])
        case (.gains, 3): self = .gains(red: numbers[0], green: numbers[1], blue: numbers[2])
        default: return nil
        }
    }
}

extension Double {
    /// A number, or a fraction such as `1/30`, as frame durations are written.
    public init?(asPeopleWrite text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: self.init(text)
        case 2:
            guard let over = Double(parts[0]), let under = Double(parts[1]), under != 0 else { return nil }
            self = over / under
        default: return nil
        }
    }

    /// `2` for 2.0, `1.4545` for 1.4545.
    public var shortDescription: String {
        if let whole = Int64(exactly: self) { return String(whole) }
        return String(self)
    }

    /// The same with at most four decimals, unless that would be 0.
    package var roundedDescription: String {
        let rounded = (self * 10_000).rounded() / 10_000
        return rounded == 0 || !rounded.isFinite ? shortDescription : rounded.shortDescription
    }
}

/// A batch of settings, or a camera's whole configuration. Reads in the order of its keys.
public struct Configuration: Hashable, Sendable {
    /// Sorted by key: a request has usually none or one, a configuration in force some thirty.
    private var settings: [Setting] = []

    private struct Setting: Hashable, Sendable {
        var key: ConfigurationKey
        var value: ConfigurationValue
    }

    public init(_ values: [ConfigurationKey: ConfigurationValue] = [:]) {
        for (key, value) in values { self[key] = value }
    }

    public subscript(key: ConfigurationKey) -> ConfigurationValue? {
        get {
            for setting in settings where setting.key == key { return setting.value }
            return nil
        }
        set {
            // Text and messages have their keys in order: then no search is needed.
            let isLast = settings.last.map { $0.key < key } ?? true
            let place = isLast ? settings.count : settings.firstIndex { $0.key >= key } ?? settings.count
            let isThere = place < settings.count && settings[place].key == key
            switch (newValue, isThere) {
            case (let value?, true): settings[place].value = value
            case (let value?, false): settings.insert(Setting(key: key, value: value), at: place)
            case (nil, true): settings.remove(at: place)
            case (nil, false): break
            }
        }
    }

    public var isEmpty: Bool { settings.isEmpty }
    public var count: Int { settings.count }

    /// The settings, ordered by key.
    public var ordered: [(key: ConfigurationKey, value: ConfigurationValue)] { settings.map { ($0.key, $0.value) } }

    /// The settings that differ from an earlier configuration's, or are new.
    public func changes(since earlier: Configuration) -> Configuration {
        var changes = Configuration()
        changes.settings = settings.filter { earlier[$0.key] != $0.value }
        return changes
    }

    /// A later batch over an earlier one, as its session means it: a preset takes the place of a format, and a format
    /// that of a preset; either ends the earlier frame durations, and `frameRate` is both of them. (Further effects
    /// depend on the camera: `ConfigurationCheck.merged`.)
    package mutating func take(_ later: Configuration) {
        let presetChanges = later[.sessionPreset] != nil && later[.sessionPreset] != .text("inputPriority")
        if later[.activeFormat] != nil || presetChanges {
            for key in [
                ConfigurationKey.sessionPreset, .activeFormat, .frameRate, .activeVideoMinFrameDuration,
                .activeVideoMaxFrameDuration,
            ] { self[key] = nil }
        }
        if later[.frameRate] != nil {
            self[.activeVideoMinFrameDuration] = nil
            self[.activeVideoMaxFrameDuration] = nil
        } else if later[.activeVideoMinFrameDuration] != nil || later[.activeVideoMaxFrameDuration] != nil,
            case .number(let rate)? = self[.frameRate], rate > 0
        {
            self[.frameRate] = nil
            self[.activeVideoMinFrameDuration] = .number(1 / rate)
            self[.activeVideoMaxFrameDuration] = .number(1 / rate)
        }
        merge(later)
    }

    /// The settings whose keys fulfil the condition.
    public func keeping(_ isMeant: (ConfigurationKey) -> Bool) -> Configuration {
        var kept = Configuration()
        kept.settings = settings.filter { isMeant($0.key) }
        return kept
    }

    /// A later batch over an earlier one: the later value of each key counts.
    public mutating func merge(_ later: Configuration) {
        for setting in later.settings { self[setting.key] = setting.value }
    }
}
