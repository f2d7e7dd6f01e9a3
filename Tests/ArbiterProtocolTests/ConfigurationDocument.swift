import ArbiterProtocol

/// The cells of the table of keys in `docs/wire.md`.
extension ConfigurationKey {
    /// As answers have it. Numbers are read in any of D-Bus's numeric types.
    var wireType: String {
        switch kind {
        case .text: "s"
        case .number, .level: "d"
        case .flag: "b"
        case .point: "(dd)"
        case .gains: "(ddd)"
        case .count: "u"
        }
    }

    var values: String {
        if let allowedWords { return allowedWords.map { "`\($0)`" }.joined(separator: ", ") }
        return switch self {
        case .camera: "the id of a camera"
        case .activeFormat:
            "a name such as `420v 1280x720@30`, made of the fields of `Formats`: `pixelFormat width x height @ maxFrameRate`, and ` binned` where it is; without `@` the first of that size"
        case .frameRate: "the format's `minFrameRate` to `maxFrameRate`"
        case .activeVideoMinFrameDuration, .activeVideoMaxFrameDuration:
            "seconds, 1/`maxFrameRate` to 1/`minFrameRate`; the least at most the most"
        case .videoZoomFactor: "1 to the format's `videoMaxZoomFactor`"
        case .videoZoomRampRate: "above 0, at most 100; with `videoZoomFactor` in the same batch"
        case .usesAudio, .cancelVideoZoomRamp: "true, false"
        case _ where isReadOnly: "is never asked for"
        default: isControl ? controlValues : kind.sentence
        }
    }

    private var controlValues: String {
        let values =
            switch kind {
            case .flag: "true, false"
            case .text: "one of its `words`"
            case .number, .level, .count: "its `least` to `most`"
            case .point: "0 to 1 each"
            case .gains: "1 to its `most` each"
            }
        guard !modes.isEmpty else { return values }
        let words = modes.map { mode in
            "`\(mode.key.rawValue)` is \(mode.manual.map { "`\($0.description)`" }.joined(separator: " or "))"
        }
        return "\(values), while \(words.joined(separator: ", or "))"
    }

    /// Its value where nobody has set it.
    var usual: String {
        switch self {
        case .camera: "that of `CreateSession`"
        case .sessionPreset: "`inputPriority`"
        case .activeFormat: "that of `DefaultFormatIndex`"
        case .frameRate: "the format's `maxFrameRate`"
        case .activeVideoMinFrameDuration, .activeVideoMaxFrameDuration: "1/`maxFrameRate`"
        case .videoZoomFactor: "1"
        case .videoZoomRampRate: "at once"
        case .usesAudio, .cancelVideoZoomRamp: "false"
        case .activeVideoStabilizationMode: "`off`"
        case .adjustingFocus, .adjustingExposure, .adjustingWhiteBalance: "false"
        case .pipelineRebuilds: "none so far"
        case .whenBusy: "`refuse`"
        case .formatMatch: "`nearest`"
        case .sharingMode: "`exclusiveControl`"
        case .captureMode: "`photo`"
        default: "its `usual`"
        }
    }

    var summary: String {
        switch self {
        case .camera: "Switches the session to another camera; not while it records."
        case .sessionPreset: "What the session is for: it picks the format (docs/capture.md); not while it records."
        case .activeFormat:
            "Ends a preset, and begins with its highest rate unless the batch has one; not while it records."
        case .frameRate: "Frames a second: both frame durations at once."
        case .activeVideoMinFrameDuration: "Seconds from one frame to the next, at least."
        case .activeVideoMaxFrameDuration: "Seconds, at most: no exposure is longer."
        case .videoZoomFactor: "Back at 1 where another format allows less."
        case .videoZoomRampRate: "Doublings a second on the way to the factor; `RampFinished` says when it is there."
        case .cancelVideoZoomRamp: "Ends a ramp where the zoom is; not beside `videoZoomFactor`."
        case .usesAudio: "Whether the session records sound: another app's microphone may interrupt it."
        case .whenBusy:
            "What `usesAudio` leads to while another app has the microphone: `MicrophoneBusy`, or the interruption."
        case .formatMatch:
            "Beside a shared camera's holder: whether another format than the one asked for will do; else the batch is refused."
        case .sharingMode:
            "Where the policy shares cameras: to configure and record, or only to watch beside the session that does."
        case .captureMode:
            "What the session is taking: while another app beside it keeps it from recording, `video` has a black preview."
        case .focusMode: "`auto` focuses once, and is `locked` then."
        case .focusPointOfInterest: "What is to be sharp, from the top left of the sensor."
        case .lensPosition: "0 is near, 1 far."
        case .smoothAutofocus: "Whether video's focus moves slowly."
        case .exposureMode: "`auto` exposes once, and is `locked` then; `custom` leaves it to the session."
        case .exposurePointOfInterest: "What is to be exposed well, from the top left of the sensor."
        case .exposureDuration: "Seconds, inside the format's range and the longest frame duration."
        case .exposureTargetBias: "Exposure values to add to what the automatic exposure finds."
        case .isoMode: "Whether the camera or the session sets `iso`."
        case .iso: "ISO 12232 sensitivity."
        case .gainMode: "Whether the camera or the session sets `gain`."
        case .gain, .brightness, .contrast, .saturation, .hue, .sharpness: "In the device's own steps."
        case .whiteBalanceMode: "`auto` balances once, and is `locked` then."
        case .whiteBalanceTemperature: "Kelvin."
        case .whiteBalanceGains: "What red, green and blue are multiplied by."
        case .automaticallyAdjustsVideoHDREnabled:
            "Whether the camera chooses `videoHDREnabled`, as it does under a preset."
        case .videoHDREnabled: "High dynamic range, where the format has it."
        case .preferredVideoStabilizationMode: "Stabilization of the picture; `auto` is the most that the format has."
        case .activeVideoStabilizationMode: "What stabilization comes to in this format."
        case .adjustingFocus: "Whether the lens scans for the focus: only in formats that focus by contrast."
        case .adjustingExposure: "Whether the automatic exposure is still on its way."
        case .adjustingWhiteBalance: "Whether the automatic white balance is still on its way."
        case .pipelineRebuilds:
            "How often in this grant the camera was put together anew while it ran (a new format, video HDR, high-resolution stills): each time frames are left out."
        case .torchMode: "`auto` is on when it is dark; never together with the flash."
        case .torchLevel: "0 to 1."
        case .flashMode: "Whether photos are lit; `auto` when it is dark; never together with the torch."
        case .highResolutionStillImageOutputEnabled:
            "Photos have the format's high-resolution size; a change while the session runs rebuilds the pipeline."
        case .stillImageStabilization: "Photos are made of several exposures where that steadies them."
        case .lensStabilizationDuringBracket: "The lens moves against shaking while a bracket is taken."
        case .videoOrientation: "Which side of the device is up: photos say it."
        case .videoMirrored: "Left and right exchanged."
        case .videoFlipped: "Top and bottom exchanged."
        }
    }
}

extension RecordingFinished.NextChance {
    var summary: String {
        switch self {
        case .now: "The session runs and may record: `StartRecording` works at once."
        case .whenInterruptionEnds: "It is interrupted: after `InterruptionEnded` and `DidStartRunning`."
        case .whenAccessReturns: "It runs and may not record: after an `AccessChanged` with `record`."
        case .afterStart: "It is stopped, or about to run: after `StartRunning`, and `DidStartRunning`."
        }
    }
}

extension RecordingEnd {
    var summary: String {
        switch self {
        case .stopped: "`StopRecording`, or `StopRunning`."
        case .interrupted: "The session was interrupted, or stopped for good."
        case .accessLost: "The session runs on, and may record no more."
        case .durationLimit: "`maxDuration`."
        case .sizeLimit: "`maxBytes`."
        case .diskFull: "There was no room left on the file system."
        case .writeError: "The file could not be written."
        case .recorderReset: "The recorder core was lost while it recorded."
        case .sessionEnded: "The session was closed, or its client went."
        }
    }
}
