/// One thing that can be set on a camera beside format, rate and zoom, and what it takes.
public struct CameraControl: Hashable, Sendable, Codable {
    public var key: ConfigurationKey
    public var takes: Takes
    /// What it is where no app has set it. A camera begins every grant with this.
    public var usual: ConfigurationValue

    public enum Takes: Hashable, Sendable, Codable {
        case flag
        /// One of these words.
        case words([String])
        /// Inclusive; a value between two steps is rounded to the nearer one. The step is above 0.
        case range(least: Double, most: Double, step: Double)
    }

    public init(_ key: ConfigurationKey, _ takes: Takes, usual: ConfigurationValue) {
        self.key = key
        self.takes = takes
        self.usual = usual
    }

    /// What a sentence says about it: `0 to 255`, `locked or continuousAuto`, `true or false`.
    public var allowed: String {
        switch takes {
        case .flag: "true or false"
        case .words(let words): words.joined(separator: " or ")
        case .range(let least, let most, _): "\(least.shortDescription) to \(most.shortDescription)"
        }
    }

    /// Whether it takes a value.
    public func takes(_ value: ConfigurationValue) -> Bool {
        switch (takes, value) {
        case (.flag, .flag): true
        case (.words(let words), .text(let word)): words.contains(word)
        case (.range(let least, let most, _), .number(let number)): number >= least && number <= most
        case (.flag, _), (.words, _), (.range, _): false
        }
    }

    /// The nearest value that it takes, for a camera that came back with other abilities.
    public func nearest(_ value: ConfigurationValue) -> ConfigurationValue {
        if takes(value) { return value }
        if case .range(let least, let most, _) = takes, case .number(let number) = value {
            return .number(min(max(number, least), most))
        }
        return usual
    }
}

extension CameraCapabilities {
    public func control(_ key: ConfigurationKey) -> CameraControl? { controls.first { $0.key == key } }

    /// The mode that overrules a key's value in a configuration, and what it is; nil when none does.
    public func overrulingMode(
        of key: ConfigurationKey, in configuration: Configuration
    ) -> (control: CameraControl, inForce: ConfigurationValue)? {
        guard let mode = key.mode, let control = control(mode.key) else { return nil }
        let inForce = configuration[mode.key] ?? control.usual
        if case .text(let word) = inForce, mode.manual.contains(word) { return nil }
        return (control, inForce)
    }

    /// What is wrong with a batch of control settings, as a sentence that names key, value and what is allowed; nil
    /// when it can be taken as a whole.
    ///
    /// - Parameter current: what is configured already, which the batch is read over: a value that only counts in a
    ///   manual mode needs that mode, whichever of the two names it.
    public func controlProblem(_ batch: Configuration, over current: Configuration) -> String? {
        var whole = current
        whole.merge(batch)
        for (key, value) in batch.ordered where key.isControl {
            guard let control = control(key) else {
                let known = controls.map(\.key.rawValue).sorted()
                return "\(key.rawValue) is \(value.description); \(name) cannot set it"
                    + (known.isEmpty ? "." : ", but \(known.joined(separator: ", ")).")
            }
            guard control.takes(value) else {
                return "\(key.rawValue) is \(value.description); \(name) takes \(control.allowed)."
            }
            guard let mode = overrulingMode(of: key, in: whole), let manual = key.mode?.manual else { continue }
            let words = manual.filter { mode.control.takes(.text($0)) }
            return
                "\(key.rawValue) is \(value.description) while \(mode.control.key.rawValue) is \(mode.inForce.description); set \(mode.control.key.rawValue) to \(words.joined(separator: " or ")) with it."
        }
        if whole[.torchMode] == .text("on"), whole[.flashMode] == .text("on") {
            return "torchMode and flashMode are both on; only one of them can be."
        }
        return nil
    }
}

extension ConfigurationKey {
    /// Set on the camera itself, where its capabilities list it: every camera has others.
    public var isControl: Bool {
        switch self {
        case .camera, .activeFormat, .frameRate, .videoZoomFactor, .videoZoomRampRate, .usesAudio, .whenBusy,
            .sharingMode:
            false
        case .focusMode, .lensPosition, .exposureMode, .exposureDuration, .exposureTargetBias, .isoMode, .iso,
            .gainMode,
            .gain, .whiteBalanceMode, .whiteBalanceTemperature, .videoHDREnabled, .preferredVideoStabilizationMode,
            .torchMode, .torchLevel, .flashMode, .videoMirrored, .videoFlipped, .brightness, .contrast, .saturation,
            .hue, .sharpness:
            true
        }
    }

    /// The key whose automatic modes would overrule a value of this one, and the modes that do not.
    public var mode: (key: ConfigurationKey, manual: [String])? {
        switch self {
        case .lensPosition: (.focusMode, ["locked"])
        case .exposureDuration: (.exposureMode, ["custom", "locked"])
        case .iso: (.isoMode, ["custom"])
        case .gain: (.gainMode, ["locked"])
        case .whiteBalanceTemperature: (.whiteBalanceMode, ["locked"])
        case .torchLevel: (.torchMode, ["on"])
        default: nil
        }
    }
}
