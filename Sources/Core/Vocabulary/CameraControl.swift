/// A setting of a camera beside format, rate and zoom, with its allowed values.
public struct CameraControl: Hashable, Sendable, Codable {
    public var key: ConfigurationKey
    public var takes: Takes
    /// The value at the beginning of every grant.
    public var usual: ConfigurationValue

    public enum Takes: Hashable, Sendable, Codable {
        case flag
        /// One of these words.
        case words([String])
        /// Inclusive; a value between two steps is rounded to the nearer one. The step is above 0.
        case range(least: Double, most: Double, step: Double)
        /// Both numbers from 0 to 1.
        case point
        /// Three numbers, each from 1 to this.
        case gains(most: Double)
    }

    public init(_ key: ConfigurationKey, _ takes: Takes, usual: ConfigurationValue) {
        (self.key, self.takes, self.usual) = (key, takes, usual)
    }

    /// The allowed values for a sentence: `0 to 255`, `locked or continuousAuto`, `true or false`.
    public var sentence: String {
        switch takes {
        case .flag: "true or false"
        case .words(let words): words.joined(separator: " or ")
        case .range(let least, let most, _): "\(least.plainDescription) to \(most.plainDescription)"
        case .point: "two numbers from 0 to 1"
        case .gains(let most): "three numbers from 1 to \(most.shortDescription)"
        }
    }

    public func takes(_ value: ConfigurationValue) -> Bool {
        switch (takes, value) {
        case (.flag, .flag): true
        case (.words(let words), .text(let word)): words.contains(word)
        case (.range(let least, let most, _), .number(let number)): number >= least && number <= most
        case (.point, .point): value.numbers.allSatisfy { $0 >= 0 && $0 <= 1 }
        case (.gains(let most), .gains): value.numbers.allSatisfy { $0 >= 1 && $0 <= most }
        case (.flag, _), (.words, _), (.range, _), (.point, _), (.gains, _): false
        }
    }

    /// The nearest allowed value, for a camera that came back with other abilities; where none is near, the usual one.
    public func nearest(_ value: ConfigurationValue) -> ConfigurationValue {
        if takes(value) { return value }
        if case .range(let least, let most, _) = takes, case .number(let number) = value {
            return .number(min(max(number, least), most))
        }
        if case .gains(let most) = takes, case .gains(let red, let green, let blue) = value {
            return .gains(red: min(red, most), green: min(green, most), blue: min(blue, most))
        }
        return usual
    }
}

extension CameraCapabilities {
    public func control(_ key: ConfigurationKey) -> CameraControl? { controls.first { $0.key == key } }
}
