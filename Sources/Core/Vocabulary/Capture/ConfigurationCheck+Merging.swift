extension ConfigurationCheck {
    /// A later batch over what was asked for before.
    ///
    /// * A preset takes the place of a format, and a format that of a preset; either begins with frame durations of its own.
    ///   `inputPriority` alone keeps the format that the preset chose.
    /// * `frameRate` and the two frame durations take each other's place.
    /// * Video HDR that was asked for stays over a change of formats, where the next one has it: only while the camera chooses
    ///   by itself does a new format end it (AVFoundation's rule, as `automaticallyAdjustsVideoHDREnabled` has it).
    /// * A zoom that the new format does not reach is over.
    /// * A mode that is automatic again forgets the values that it overrules: they are not what the lens goes back to.
    package func merged(_ batch: Configuration, into before: Configuration) -> Configuration {
        var whole = before
        if Self.preset(batch) == .inputPriority, batch[.activeFormat] == nil, let preset = Self.preset(before),
            preset != .inputPriority, let choice = choice(preset)
        {
            whole[.activeFormat] = .text(choice.format.name)
            keepRate(of: choice, &whole)
        }
        forgetZoom(batch, &whole)
        if batch[.videoZoomFactor] != nil { whole[.cancelVideoZoomRamp] = nil }
        for control in capabilities.controls where batch[control.key] == nil && whole[control.key] != nil {
            guard control.key.modes.contains(where: { batch[$0.key] != nil }) else { continue }
            var later = whole
            later.take(batch)
            if overrulingMode(of: control.key, in: later) != nil { whole[control.key] = nil }
        }
        whole.take(batch)
        return whole
    }

    /// A format that a preset had slowed down stays as slow without it.
    private func keepRate(of choice: FormatChoice, _ whole: inout Configuration) {
        let rate = choice.frameRates.upperBound
        guard whole[.frameRate] == nil, whole[.activeVideoMinFrameDuration] == nil, rate < choice.format.maxFrameRate
        else { return }
        if whole[.activeVideoMaxFrameDuration] == nil {
            whole[.frameRate] = .number(rate)
        } else {
            whole[.activeVideoMinFrameDuration] = .number(1 / rate)
        }
    }

    /// A zoom that another format does not reach is over, and not kept for a format that does.
    private func forgetZoom(_ batch: Configuration, _ whole: inout Configuration) {
        guard batch[.activeFormat] != nil || batch[.sessionPreset] != nil,
            case .number(let zoom)? = whole[.videoZoomFactor]
        else { return }
        var later = whole
        later.take(batch)
        if let format = choice(later)?.format, zoom > format.videoMaxZoomFactor { whole[.videoZoomFactor] = nil }
    }

    /// The batch that sets a camera which goes on for another session: the session's wishes, and the camera's usual
    /// values wherever the session before had set others.
    /// - Parameter before: the configuration in force now.
    package func batch(setting wanted: Configuration, over before: Configuration) -> Configuration {
        guard let goal = settings(wanted) else { return wanted }
        var batch = Configuration()
        if goal.sessionPreset == .inputPriority {
            batch[.activeFormat] = .text(goal.format.name)
        } else {
            batch[.sessionPreset] = .text(goal.sessionPreset.rawValue)
        }
        if goal.minFrameDuration == goal.maxFrameDuration {
            batch[.frameRate] = .number(goal.frameRate)
        } else {
            batch[.activeVideoMinFrameDuration] = .number(goal.minFrameDuration)
            batch[.activeVideoMaxFrameDuration] = .number(goal.maxFrameDuration)
        }
        batch[.videoZoomFactor] = .number(goal.videoZoomFactor)
        for control in capabilities.controls {
            guard let value = goal.value(control.key) else { continue }
            if goal.controls[control.key] != nil || (before[control.key] ?? control.usual) != value {
                batch[control.key] = value
            }
        }
        // With its preset of before, a format of the same name is no news.
        if let preset = Self.preset(before), preset != .inputPriority, goal.sessionPreset == .inputPriority {
            batch[.sessionPreset] = .text(SessionPreset.inputPriority.rawValue)
        }
        return batch
    }

    /// The nearest configuration with another format and rate in place of its own.
    package func nearest(_ wanted: Configuration, in other: Configuration) -> Configuration? {
        var whole = wanted.keeping { !$0.isWish }
        whole.merge(other)
        return nearest(whole)
    }

    /// The values of a configuration that one format and rate take, and those before did not.
    package func gained(of wanted: Configuration, in other: Configuration, after before: Configuration) -> Configuration
    {
        guard let values = nearest(wanted, in: other), let lacking = nearest(wanted, in: before) else {
            return Configuration()
        }
        return values.ofTheCamera.keeping { !$0.isWish }.changes(since: lacking)
    }

    /// Whether another format and rate take all other values of a configuration as its own ones do.
    package func keepsValues(of wanted: Configuration, in other: Configuration) -> Bool {
        // Most sessions set no value.
        if wanted.ordered.allSatisfy(\.key.isWish) { return true }
        return nearest(wanted)?.keeping { !$0.isWish } == nearest(wanted, in: other)?.keeping { !$0.isWish }
    }

    /// The nearest configuration that this camera can do; `nil` when it lacks the format or the preset itself.
    package func nearest(_ wanted: Configuration) -> Configuration? {
        // Most sessions are not configured, and a handover waits for this.
        if wanted.isEmpty { return choice(wanted).map { _ in wanted } }
        guard let settings = settings(wanted) else { return nil }
        var fitted = wanted.lasting
        for (key, _) in wanted.ordered where key.isControl { fitted[key] = settings.controls[key] }
        if wanted[.frameRate] != nil { fitted[.frameRate] = .number(settings.frameRate) }
        if wanted[.activeVideoMinFrameDuration] != nil {
            fitted[.activeVideoMinFrameDuration] = .number(settings.minFrameDuration)
        }
        if wanted[.activeVideoMaxFrameDuration] != nil {
            fitted[.activeVideoMaxFrameDuration] = .number(settings.maxFrameDuration)
        }
        if case .number(let zoom)? = wanted[.videoZoomFactor] {
            fitted[.videoZoomFactor] = .number(min(max(zoom, 1), settings.format.videoMaxZoomFactor))
        }
        // A value of another format, such as a stabilization, is not wanted of this one: the camera would not open for
        // it.
        for (key, value) in fitted.ordered where key.isControl {
            if formatProblem(Configuration([key: value]), fitted, settings.format) != nil { fitted[key] = nil }
        }
        return fitted
    }
}

extension Configuration {
    /// A format and frames a second.
    package static func serving(_ format: CameraFormat, _ rate: Double) -> Configuration {
        Configuration([.activeFormat: .text(format.name), .frameRate: .number(rate)])
    }

    /// The two keys of `serving`.
    package var formatAndRate: Configuration { keeping { $0 == .activeFormat || $0 == .frameRate } }

    /// The part of a configuration in force that a session has not received: frame durations are no news beside their
    /// rate.
    package func news(since heard: Configuration) -> Configuration {
        // A passing value is old by the time of its notice.
        var news = changes(since: heard).keeping { !$0.isPassing }
        if case .number(let rate)? = self[.frameRate], rate > 0 {
            for key in [ConfigurationKey.activeVideoMinFrameDuration, .activeVideoMaxFrameDuration] {
                guard case .number(let seconds)? = self[key],
                    abs(seconds * rate - 1) <= ConfigurationCheck.roundingShare
                else { continue }
                news[key] = nil
            }
        }
        return news
    }

    /// The keys that stay in force, without transient ones and the session's own agreement with the broker.
    package var lasting: Configuration {
        keeping { $0 == .camera || !$0.isOfARamp && !$0.governsItsBatch && !$0.isOfTheBroker }
    }

    /// The settings of a camera, without the session's own.
    package var ofTheCamera: Configuration { keeping { !$0.governsItsBatch && !$0.isOfTheSession } }
}
