/// The one check of a session's configuration on a camera, shared by the broker, the recorder core and the scenarios.
/// Pure: equal results for equal input.
package struct ConfigurationCheck {
    package let capabilities: CameraCapabilities

    package init(capabilities: CameraCapabilities) { self.capabilities = capabilities }

    /// Doublings a second, 0 excluded. From 1x to 60x within a frame: faster is a jump.
    package static let rampRateMax = 100.0
    /// The greatest distance between a frame duration and its rate's: the rest of a division.
    package static let roundingShare = 1e-6

    /// - Returns: `nil` where the camera lacks the format or the preset; every other value is the nearest that it has.
    package func settings(_ wanted: Configuration) -> CaptureSettings? {
        guard let choice = choice(wanted) else { return nil }
        let format = choice.format
        let (shortest, longest) = durations(wanted, choice)
        var asked = Configuration()
        var usual = Configuration()
        for control in capabilities.controls where overrulingMode(of: control.key, in: wanted) == nil {
            if let value = wanted[control.key] {
                asked[control.key] = control.nearest(value)
            } else {
                usual[control.key] = control.usual
            }
        }
        exposeInside(format, longest, &asked)
        exposeInside(format, longest, &usual)
        var zoom = 1.0
        if case .number(let factor)? = wanted[.videoZoomFactor], factor >= 1, factor <= format.videoMaxZoomFactor {
            zoom = factor
        }
        let preferred = asked[.preferredVideoStabilizationMode] ?? usual[.preferredVideoStabilizationMode]
        return CaptureSettings(
            wanted: wanted, sessionPreset: Self.preset(wanted) ?? .inputPriority, format: format,
            minFrameDuration: shortest, maxFrameDuration: longest, videoZoomFactor: zoom, controls: asked,
            usualControls: usual, isVideoHDREnabled: isVideoHDREnabled(wanted, format),
            activeVideoStabilizationMode: stabilization(preferred, format))
    }

    /// Sensitivity and exposure as near as the format allows; no frame is exposed for longer than it lasts.
    private func exposeInside(_ format: CameraFormat, _ longest: Double, _ controls: inout Configuration) {
        if case .number(let seconds)? = controls[.exposureDuration] {
            controls[.exposureDuration] = .number(
                format.optics.exposureDuration.map { min(max(seconds, $0.least), $0.most, longest) } ?? seconds)
        }
        if case .number(let iso)? = controls[.iso], let range = format.optics.iso {
            controls[.iso] = .number(min(max(iso, range.least), range.most))
        }
    }

    /// The format of a preset or a name, or the camera's own.
    package func choice(_ wanted: Configuration) -> FormatChoice? {
        if let preset = Self.preset(wanted), preset != .inputPriority { return choice(preset) }
        return format(wanted[.activeFormat]).map { FormatChoice($0) }
    }

    /// The format of a name: its full name, or its pixel format and size, of which the first counts.
    package func format(_ value: ConfigurationValue?) -> CameraFormat? {
        guard let value else { return capabilities.defaultFormat }
        guard case .text(let name) = value else { return nil }
        return capabilities.formats.first { $0.name == name }
            ?? capabilities.formats.first { "\($0.pixelFormat) \($0.width)x\($0.height)" == name }
    }

    static func preset(_ configuration: Configuration) -> SessionPreset? {
        guard case .text(let word)? = configuration[.sessionPreset] else { return nil }
        return SessionPreset(rawValue: word)
    }

    /// The format, and frames a second at most, which decide the load on a bus.
    /// - Returns: `nil` where the camera lacks the format or the preset.
    package func formatAndRate(_ wanted: Configuration) -> (format: CameraFormat, frameRate: Double)? {
        guard let choice = choice(wanted) else { return nil }
        return (choice.format, 1 / durations(wanted, choice).shortest)
    }

    /// The wanted durations inside the choice's; both the shortest without a wish.
    private func durations(_ wanted: Configuration, _ choice: FormatChoice) -> (shortest: Double, longest: Double) {
        let least = 1 / choice.frameRates.upperBound
        let most = 1 / choice.frameRates.lowerBound
        func inside(_ value: Double) -> Double { min(max(value, least), most) }
        if case .number(let rate)? = wanted[.frameRate], rate > 0 { return (inside(1 / rate), inside(1 / rate)) }
        var shortest = least
        if case .number(let seconds)? = wanted[.activeVideoMinFrameDuration] { shortest = inside(seconds) }
        guard case .number(let seconds)? = wanted[.activeVideoMaxFrameDuration] else { return (shortest, shortest) }
        let longest = inside(seconds)
        // A lone longest duration below the usual shortest one becomes both.
        return wanted[.activeVideoMinFrameDuration] == nil
            ? (min(shortest, longest), longest) : (shortest, max(shortest, longest))
    }

    /// On a camera whose formats do not list HDR, as V4L2's, the control alone counts.
    private func isVideoHDREnabled(_ wanted: Configuration, _ format: CameraFormat) -> Bool {
        guard let control = capabilities.control(.videoHDREnabled) else { return false }
        if let mode = overrulingMode(of: .videoHDREnabled, in: wanted), mode.inForce == .flag(true) {
            let isChosenByPreset = (Self.preset(wanted) ?? .inputPriority) != .inputPriority
            return isChosenByPreset && format.optics.isVideoHDRSupported
        }
        return (wanted[.videoHDREnabled] ?? control.usual) == .flag(true)
            && (format.optics.isVideoHDRSupported || !formatsSayHDR)
    }

    var formatsSayHDR: Bool { capabilities.formats.contains(where: \.optics.isVideoHDRSupported) }
    var formatsSayStabilization: Bool { capabilities.formats.contains { !$0.optics.videoStabilizationModes.isEmpty } }

    /// `auto` is the strongest stabilization of the format.
    private func stabilization(
        _ preferred: ConfigurationValue?, _ format: CameraFormat
    ) -> CameraFormat.VideoStabilizationMode? {
        guard case .text(let word)? = preferred else { return nil }
        let modes = format.optics.videoStabilizationModes
        if word == "auto" { return modes.contains(.cinematic) ? .cinematic : modes.first }
        guard let mode = CameraFormat.VideoStabilizationMode(rawValue: word) else { return nil }
        return modes.contains(mode) || !formatsSayStabilization ? mode : nil
    }

    /// The mode that overrules a key's value in a configuration, and its value; `nil` when none does.
    package func overrulingMode(
        of key: ConfigurationKey, in configuration: Configuration
    ) -> (control: CameraControl, inForce: ConfigurationValue, manual: [ConfigurationValue])? {
        for mode in key.modes {
            guard let control = capabilities.control(mode.key) else { continue }
            let inForce = configuration[mode.key] ?? control.usual
            return mode.manual.contains(inForce) ? nil : (control, inForce, mode.manual)
        }
        return nil
    }
}

extension ConfigurationCheck {
    /// A sentence with the key, the value and the allowed values; `nil`: no problem.
    /// - Parameter configuration: in force, or wanted.
    package func problem(of bracket: PhotoBracket, in configuration: Configuration) -> String? {
        guard let format = choice(configuration)?.format else { return nil }
        // A camera without exposure times cannot be set for a single frame.
        guard let durations = format.optics.exposureDuration, let isos = format.optics.iso else {
            return
                "\(capabilities.name) takes no bracket: \(format.name) does not say how long it exposes, nor at which ISO."
        }
        for shot in bracket.shots {
            switch shot {
            case .exposureTargetBias(let bias):
                guard let control = capabilities.control(.exposureTargetBias) else {
                    return
                        "exposureTargetBiases has \(bias.shortDescription); \(capabilities.name) cannot set exposureTargetBias."
                }
                guard control.takes(.number(bias)) else {
                    return
                        "exposureTargetBiases has \(bias.shortDescription); \(capabilities.name) takes \(control.sentence)."
                }
            case .exposure(let duration, let iso):
                guard Self.isInside(duration, durations.least, durations.most) else {
                    return
                        "exposureDurations has \(duration.durationDescription); activeFormat \(format.name) takes \(durations.least.durationDescription) to \(durations.most.durationDescription) s."
                }
                guard Self.isInside(iso, isos.least, isos.most) else {
                    return
                        "isos has \(iso.shortDescription); activeFormat \(format.name) takes \(isos.least.shortDescription) to \(isos.most.shortDescription)."
                }
            }
        }
        return nil
    }
}
