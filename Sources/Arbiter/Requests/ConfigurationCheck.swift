import Vocabulary

/// What a camera's capabilities say about a configuration.
struct ConfigurationCheck {
    let capabilities: CameraCapabilities

    /// Why a batch cannot be taken as a whole, naming the key, the value and what is allowed; nil when it can.
    ///
    /// The batch is read over what is configured already: a zoom is checked against the format that will be
    /// in force, whichever of the two names it. A later format with less zoom is the batch's problem too.
    func problem(_ batch: Configuration, over current: Configuration) -> String? {
        var whole = current
        whole.merge(batch)
        for (key, value) in batch.ordered {
            if let problem = wrongType(key, value) { return problem }
        }
        if let problem = capabilities.controlProblem(batch, over: current) { return problem }
        guard let format = format(whole[.activeFormat]) else {
            return
                "activeFormat \"\(whole[.activeFormat]?.description ?? "")\" is not one of \(capabilities.name): \(formatNames)."
        }
        if case .number(let rate)? = whole[.frameRate], rate < format.minFrameRate || rate > format.maxFrameRate {
            return
                "frameRate \(rate.shortDescription) is outside \(format.minFrameRate.shortDescription)–\(format.maxFrameRate.shortDescription), the range of \(format.name)."
        }
        if case .number(let zoom)? = whole[.videoZoomFactor], zoom < 1 || zoom > format.videoMaxZoomFactor {
            return
                "videoZoomFactor \(zoom.shortDescription) is outside 1–\(format.videoMaxZoomFactor.shortDescription), the range of \(format.name)."
        }
        if case .number(let rate)? = batch[.videoZoomRampRate] {
            if rate <= 0 || rate > Self.rampRateMax {
                return
                    "videoZoomRampRate \(rate.shortDescription) is outside 0–\(Self.rampRateMax.shortDescription) doublings a second (0 excluded)."
            }
            if batch[.videoZoomFactor] == nil {
                return "videoZoomRampRate needs videoZoomFactor, its goal, in the same batch."
            }
        }
        return nil
    }

    /// From 1x to 60x within a frame: faster is a jump.
    static let rampRateMax = 100.0

    private var formatNames: String { capabilities.formats.map(\.name).joined(separator: ", ") }

    private func wrongType(_ key: ConfigurationKey, _ value: ConfigurationValue) -> String? {
        switch (key, value) {
        case (.camera, .text), (.activeFormat, .text), (.usesAudio, .flag): nil
        case (.frameRate, .number(let n)), (.videoZoomFactor, .number(let n)), (.videoZoomRampRate, .number(let n)):
            n.isFinite ? nil : "\(key.rawValue) must be a finite number."
        case (.whenBusy, .text(let text)), (.sharingMode, .text(let text)):
            key.allowedWords?.contains(text) == false
                ? "\(key.rawValue) \"\(text)\" is not one of \(key.allowedWords?.map { "\"\($0)\"" }.joined(separator: ", ") ?? "")."
                : nil
        case (.camera, _), (.activeFormat, _), (.whenBusy, _), (.sharingMode, _):
            "\(key.rawValue) takes a text, not \(value.description)."
        case (.usesAudio, _): "usesAudio takes true or false, not \"\(value.description)\"."
        case (.frameRate, _), (.videoZoomFactor, _), (.videoZoomRampRate, _):
            "\(key.rawValue) takes a number, not \"\(value.description)\"."
        // The camera's list of controls says what each takes.
        default: nil
        }
    }

    /// The format a name stands for: its full name, or its pixel format and size, of which the first counts.
    func format(_ value: ConfigurationValue?) -> CameraFormat? {
        guard let value else { return capabilities.defaultFormat }
        guard case .text(let name) = value else { return nil }
        return capabilities.formats.first { $0.name == name }
            ?? capabilities.formats.first { "\($0.pixelFormat) \($0.width)x\($0.height)" == name }
    }

    /// The values with which the format that a batch names begins.
    func defaults(_ batch: Configuration) -> Configuration {
        guard let format = format(batch[.activeFormat]) else { return Configuration() }
        return Configuration([
            .activeFormat: .text(format.name), .frameRate: .number(format.maxFrameRate), .videoZoomFactor: .number(1),
        ])
    }

    /// The nearest configuration this camera can do; nil when it lacks the format itself.
    func nearest(_ configuration: Configuration) -> Configuration? {
        guard let format = format(configuration[.activeFormat]) else { return nil }
        var fitted = configuration
        // A ramp is over once its session was interrupted: it resumes at its goal.
        fitted[.videoZoomRampRate] = nil
        fitted[.whenBusy] = nil
        fitted[.sharingMode] = nil
        if case .number(let rate)? = configuration[.frameRate] {
            fitted[.frameRate] = .number(min(max(rate, format.minFrameRate), format.maxFrameRate))
        }
        if case .number(let zoom)? = configuration[.videoZoomFactor] {
            fitted[.videoZoomFactor] = .number(min(max(zoom, 1), format.videoMaxZoomFactor))
        }
        for (key, value) in configuration.ordered where key.isControl {
            fitted[key] = capabilities.control(key)?.nearest(value)
        }
        // A value from before its mode was made automatic again means nothing until that is undone.
        for (key, _) in fitted.ordered where capabilities.overrulingMode(of: key, in: fitted) != nil {
            fitted[key] = nil
        }
        return fitted
    }
}
