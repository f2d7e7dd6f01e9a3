extension ConfigurationCheck {
    /// The reason why a batch is refused as a whole, as a sentence with the key, the value and the allowed values;
    /// `nil`: none.
    ///
    /// The batch is read over the present configuration: a zoom is checked against the format that will be in force,
    /// whichever of the two names it. A key outside the batch is never its problem: it gets the new format's nearest
    /// value, as in `settings`.
    /// - Parameter isRecording: the format of a running recording cannot change.
    package func problem(_ batch: Configuration, over current: Configuration, isRecording: Bool = false) -> String? {
        for (key, value) in batch.ordered {
            if let problem = wrongType(key, value) ?? contradiction(key, value, in: batch) { return problem }
        }
        let whole = merged(batch, into: current)
        if let problem = controlProblem(batch, whole) { return problem }
        guard let choice = choice(whole) else { return choiceProblem(whole) }
        if isRecording, let running = self.choice(current)?.format, running != choice.format {
            let key: ConfigurationKey = batch[.activeFormat] == nil ? .sessionPreset : .activeFormat
            return
                "\(key.rawValue) is \(batch[key]?.description ?? "set") while a recording of \(running.name) runs; stop the recording first."
        }
        return rateProblem(batch, whole, choice) ?? zoomProblem(batch, choice.format)
            ?? formatProblem(batch, whole, choice.format) ?? lightProblem(batch, whole)
    }

    /// The reason why a configuration cannot have come of accepted batches, one after the other, as an earlier broker
    /// took them: it has one thing in two ways, or the camera has no format for it. Other problems of a batch do not
    /// count here: a zoom that a later format does not reach, or a value that a mode overrules since, is no news to the
    /// client.
    package func problem(takenBefore whole: Configuration) -> String? {
        for (key, value) in whole.ordered {
            if let problem = wrongType(key, value) ?? contradiction(key, value, in: whole) { return problem }
        }
        return choice(whole) == nil ? choiceProblem(whole) : lightProblem(whole, whole)
    }

    private func wrongType(_ key: ConfigurationKey, _ value: ConfigurationValue) -> String? {
        if key.isReadOnly { return "\(key.rawValue) is said by the camera; it cannot be set." }
        switch (key.kind, value) {
        case (.text, .text(let text)):
            return key.allowedWords?.contains(text) == false
                ? "\(key.rawValue) \"\(text)\" is not one of \(key.allowedWords?.map { "\"\($0)\"" }.joined(separator: ", ") ?? "")."
                : nil
        case (.number, .number(let number)), (.level, .number(let number)), (.count, .number(let number)):
            return number.isFinite ? nil : "\(key.rawValue) must be a finite number."
        case (.flag, .flag): return nil
        case (.point, .point), (.gains, .gains):
            return value.numbers.allSatisfy(\.isFinite) ? nil : "\(key.rawValue) must be finite numbers."
        // The camera's list of controls has the allowed values.
        case _ where key.isControl: return nil
        case (.text, _): return "\(key.rawValue) takes a text, not \(value.description)."
        case (.number, _), (.level, _), (.count, _):
            return "\(key.rawValue) takes a number, not \"\(value.description)\"."
        case (.flag, _): return "\(key.rawValue) takes true or false, not \"\(value.description)\"."
        case (.point, _), (.gains, _): return "\(key.rawValue) takes \(key.kind.sentence)."
        }
    }

    /// Two keys of a batch that contradict each other.
    private func contradiction(
        _ key: ConfigurationKey, _ value: ConfigurationValue, in batch: Configuration
    ) -> String? {
        switch key {
        case .sessionPreset where batch[.activeFormat] != nil && value != .text(SessionPreset.inputPriority.rawValue):
            return
                "sessionPreset is \(value.description) beside an activeFormat; a preset chooses the format, so give one of the two."
        case .frameRate where batch[.activeVideoMinFrameDuration] != nil || batch[.activeVideoMaxFrameDuration] != nil:
            let other: ConfigurationKey =
                batch[.activeVideoMinFrameDuration] != nil
                ? .activeVideoMinFrameDuration : .activeVideoMaxFrameDuration
            return
                "frameRate is \(value.description) beside \(other.rawValue); frameRate sets both frame durations, so give it or them."
        case .videoZoomRampRate where batch[.videoZoomFactor] == nil:
            return "videoZoomRampRate needs videoZoomFactor, its goal, in the same batch."
        case .cancelVideoZoomRamp where value == .flag(true) && batch[.videoZoomFactor] != nil:
            return
                "cancelVideoZoomRamp is true beside a videoZoomFactor; it stays where the zoom is, so give one of the two."
        default: return nil
        }
    }

    private func choiceProblem(_ whole: Configuration) -> String {
        if let preset = Self.preset(whole), preset != .inputPriority {
            let known = sessionPresets.map(\.rawValue).joined(separator: ", ")
            return "sessionPreset is \(preset.rawValue), for which \(capabilities.name) has no format; it has \(known)."
        }
        let name = whole[.activeFormat]?.description ?? ""
        let instead = NearestWord.insteadOf(name, capabilities.formats.map(\.name), lists: "camclient formats")
        return "activeFormat \(name.quotedShort) is not a format of \(capabilities.name); \(instead)"
    }

    private func rateProblem(_ batch: Configuration, _ whole: Configuration, _ choice: FormatChoice) -> String? {
        let (least, most) = (choice.frameRates.lowerBound, choice.frameRates.upperBound)
        if case .number(let rate)? = batch[.frameRate], !Self.isInside(rate, least, most) {
            return
                "frameRate \(rate.shortDescription) is outside \(least.shortDescription)–\(most.shortDescription), the range of \(choice.format.name)."
        }
        for key in [ConfigurationKey.activeVideoMinFrameDuration, .activeVideoMaxFrameDuration] {
            guard case .number(let seconds)? = batch[key], !Self.isInside(seconds, 1 / most, 1 / least) else {
                continue
            }
            return
                "\(key.rawValue) \(seconds.durationDescription) is outside \((1 / most).durationDescription)–\((1 / least).durationDescription) s, the range of \(choice.format.name)."
        }
        guard batch[.activeVideoMinFrameDuration] != nil || batch[.activeVideoMaxFrameDuration] != nil,
            case .number(let shortest)? = whole[.activeVideoMinFrameDuration],
            case .number(let longest)? = whole[.activeVideoMaxFrameDuration], shortest > longest
        else { return nil }
        return
            "activeVideoMinFrameDuration \(shortest.durationDescription) is above activeVideoMaxFrameDuration \(longest.durationDescription); give both with the least first."
    }

    static func isInside(_ value: Double, _ least: Double, _ most: Double) -> Bool {
        value >= least * (1 - roundingShare) && value <= most * (1 + roundingShare)
    }

    private func zoomProblem(_ batch: Configuration, _ format: CameraFormat) -> String? {
        if case .number(let zoom)? = batch[.videoZoomFactor], zoom < 1 || zoom > format.videoMaxZoomFactor {
            return
                "videoZoomFactor \(zoom.shortDescription) is outside 1–\(format.videoMaxZoomFactor.shortDescription), the range of \(format.name)."
        }
        if case .number(let rate)? = batch[.videoZoomRampRate], rate <= 0 || rate > Self.rampRateMax {
            return
                "videoZoomRampRate \(rate.shortDescription) is outside 0–\(Self.rampRateMax.shortDescription) doublings a second (0 excluded)."
        }
        return nil
    }

    /// A problem by the camera's list of controls.
    private func controlProblem(_ batch: Configuration, _ whole: Configuration) -> String? {
        for (key, value) in batch.ordered where key.isControl {
            guard let control = capabilities.control(key) else {
                let known = capabilities.controls.map(\.key.rawValue).sorted()
                return "\(key.rawValue) is \(value.description); \(capabilities.name) cannot set it"
                    + (known.isEmpty ? "." : ", but \(known.joined(separator: ", ")).")
            }
            guard control.takes(value) else {
                return "\(key.rawValue) is \(value.description); \(capabilities.name) takes \(control.sentence)."
            }
            guard let mode = overrulingMode(of: key, in: whole) else { continue }
            let words = mode.manual.filter { mode.control.takes($0) }.map(\.description).joined(separator: " or ")
            return
                "\(key.rawValue) is \(value.description) while \(mode.control.key.rawValue) is \(mode.inForce.description); set \(mode.control.key.rawValue) to \(words) with it."
        }
        return nil
    }

    /// A problem by the format that will be in force.
    func formatProblem(_ batch: Configuration, _ whole: Configuration, _ format: CameraFormat) -> String? {
        if case .number(let iso)? = batch[.iso], let range = format.optics.iso,
            !Self.isInside(iso, range.least, range.most)
        {
            return
                "iso is \(iso.shortDescription); activeFormat \(format.name) takes \(range.least.shortDescription) to \(range.most.shortDescription)."
        }
        if let problem = exposureProblem(batch, whole, format) { return problem }
        if case .text(let word)? = batch[.preferredVideoStabilizationMode], formatsSayStabilization,
            let mode = CameraFormat.VideoStabilizationMode(rawValue: word),
            !format.optics.videoStabilizationModes.contains(mode)
        {
            let has = ["off", "auto"] + format.optics.videoStabilizationModes.map(\.rawValue)
            return
                "preferredVideoStabilizationMode is \(word); activeFormat \(format.name) takes \(has.joined(separator: ", "))."
        }
        if batch[.videoHDREnabled] == .flag(true), formatsSayHDR, !format.optics.isVideoHDRSupported {
            return "videoHDREnabled is true; activeFormat \(format.name) has no video HDR."
        }
        return nil
    }

    private func exposureProblem(_ batch: Configuration, _ whole: Configuration, _ format: CameraFormat) -> String? {
        if case .number(let seconds)? = batch[.exposureDuration], let range = format.optics.exposureDuration,
            !Self.isInside(seconds, range.least, range.most)
        {
            return
                "exposureDuration is \(seconds.durationDescription); activeFormat \(format.name) takes \(range.least.durationDescription) to \(range.most.durationDescription) s."
        }
        // A camera whose formats lack exposure times, as V4L2's, chooses them by itself.
        guard format.optics.exposureDuration != nil,
            [.exposureDuration, .frameRate, .activeVideoMinFrameDuration, .activeVideoMaxFrameDuration].contains(
                where: { (key: ConfigurationKey) in batch[key] != nil }),
            case .number(let seconds)? = whole[.exposureDuration],
            overrulingMode(of: .exposureDuration, in: whole) == nil,
            let longest = settings(whole)?.maxFrameDuration, seconds > longest * (1 + Self.roundingShare)
        else { return nil }
        return
            "exposureDuration is \(seconds.durationDescription) while activeVideoMaxFrameDuration is \(longest.durationDescription); a frame cannot be exposed for longer than it lasts."
    }

    /// Torch and flash are one lamp.
    private func lightProblem(_ batch: Configuration, _ whole: Configuration) -> String? {
        guard batch[.torchMode] != nil || batch[.flashMode] != nil,
            let torch = whole[.torchMode], torch != .text("off"), let flash = whole[.flashMode], flash != .text("off")
        else { return nil }
        return
            "torchMode is \(torch.description) and flashMode is \(flash.description); only one of them can be other than off."
    }
}
