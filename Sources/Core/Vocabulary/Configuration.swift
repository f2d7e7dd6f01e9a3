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
