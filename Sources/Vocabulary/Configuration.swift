/// A key a session can configure. The words are AVFoundation's, where it has one.
public enum ConfigurationKey: String, Hashable, Sendable, CaseIterable, Comparable {
    /// The session's camera, by identity. A camera switch inside a session is a configuration.
    case camera
    /// A format by its name, such as `420v 1280x720`.
    case activeFormat
    /// Frames a second, inside the format's range.
    case frameRate
    /// 1.0 up to the format's `videoMaxZoomFactor`.
    case videoZoomFactor
    /// Doublings a second of a ramp to `videoZoomFactor` in the same batch; absent: at once.
    case videoZoomRampRate
    /// Whether the session records sound.
    case usesAudio
    /// What happens to `usesAudio` while another app has the microphone: `refuse` or `interrupt`.
    case whenBusy
    /// Where a policy shares cameras: `exclusiveControl` (the default) wants to configure and record, and
    /// `sharedReadOnly` only to watch beside whoever does. The words are those of Windows' MediaCaptureSharingMode.
    case sharingMode

    // Controls: what a camera lists among its capabilities. A camera that lacks one refuses it by name.
    /// `locked`, `auto` (once, then locked) or `continuousAuto`.
    case focusMode
    /// 0 (near) to 1 (far), while `focusMode` is `locked`.
    case lensPosition
    /// `locked`, `custom` or `continuousAuto`.
    case exposureMode
    /// Seconds, while `exposureMode` is `custom` or `locked`.
    case exposureDuration
    /// Exposure values to add to what the automatic exposure finds.
    case exposureTargetBias
    /// `custom` or `continuousAuto`.
    case isoMode
    /// ISO 12232 sensitivity, while `isoMode` is `custom`.
    case iso
    /// `locked` or `continuousAuto`.
    case gainMode
    /// In the device's own steps, while `gainMode` is `locked`.
    case gain
    /// `locked` or `continuousAuto`.
    case whiteBalanceMode
    /// Kelvin, while `whiteBalanceMode` is `locked`.
    case whiteBalanceTemperature
    case videoHDREnabled
    /// `off` or `standard`.
    case preferredVideoStabilizationMode
    /// `off` or `on`; never together with the flash.
    case torchMode
    /// 0 to 1, while `torchMode` is `on`.
    case torchLevel
    /// `off` or `on`: whether photos are lit. Never together with the torch.
    case flashMode
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

    public static func < (a: ConfigurationKey, b: ConfigurationKey) -> Bool { a.rawValue < b.rawValue }
}

/// A configured value. Numbers are finite; text is at most 256 bytes.
public enum ConfigurationValue: Hashable, Sendable {
    case text(String)
    case number(Double)
    case flag(Bool)

    public var description: String {
        switch self {
        case .text(let text): text
        case .number(let number): number.shortDescription
        case .flag(let flag): flag ? "true" : "false"
        }
    }
}

extension Double {
    /// `2` for 2.0, `1.4545` for 1.4545: as a person writes it.
    public var shortDescription: String {
        if let whole = Int64(exactly: self) { return String(whole) }
        return String(self)
    }
}

/// A batch of settings, or a camera's whole configuration. Reads in the order of its keys.
public struct Configuration: Hashable, Sendable {
    /// Sorted by key: there are fewer than ten, and usually none or one.
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
            let place = settings.firstIndex { $0.key >= key } ?? settings.count
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

    /// A later batch over an earlier one: the later value of each key counts.
    public mutating func merge(_ later: Configuration) {
        for setting in later.settings { self[setting.key] = setting.value }
    }
}
