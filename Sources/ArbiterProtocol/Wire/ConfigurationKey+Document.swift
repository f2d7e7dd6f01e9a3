/// What an author on the wire has to know of a key; `docs/wire.md` has it as a table.
extension ConfigurationKey {
    /// As answers have it. Numbers are read in any of D-Bus's numeric types.
    package var wireType: String {
        switch kind {
        case .text: "s"
        case .number, .level: "d"
        case .flag: "b"
        }
    }

    /// What it takes.
    package var values: String {
        if let allowedWords { return allowedWords.map { "`\($0)`" }.joined(separator: ", ") }
        return switch self {
        case .camera: "the id of a camera"
        case .activeFormat:
            "a name such as `420v 1280x720@30`, made of the fields of `Formats`: `pixelFormat width x height @ maxFrameRate`, and ` binned` where it is; without `@` the first of that size"
        case .frameRate: "the format's `minFrameRate` to `maxFrameRate`"
        case .videoZoomFactor: "1 to the format's `videoMaxZoomFactor`"
        case .videoZoomRampRate: "above 0, at most 100; with `videoZoomFactor` in the same batch"
        case .usesAudio: "true, false"
        default: isControl ? controlValues : kind.sentence
        }
    }

    private var controlValues: String {
        let values =
            switch kind {
            case .flag: "true, false"
            case .text: "one of its `words`"
            case .number, .level: "its `least` to `most`"
            }
        guard let mode else { return values }
        return "\(values), while `\(mode.key.rawValue)` is \(mode.manual.map { "`\($0)`" }.joined(separator: " or "))"
    }

    /// What counts where nobody has set it.
    package var usual: String {
        switch self {
        case .camera: "that of `CreateSession`"
        case .activeFormat: "the camera's first"
        case .frameRate: "the format's `maxFrameRate`"
        case .videoZoomFactor: "1"
        case .videoZoomRampRate: "at once"
        case .usesAudio: "false"
        case .whenBusy: "`refuse`"
        case .sharingMode: "`exclusiveControl`"
        default: "its `usual`"
        }
    }

    package var summary: String {
        switch self {
        case .camera: "Switches the session to another camera; not while it records."
        case .activeFormat: "Another one resets the frame rate, unless the batch has one; not while it records."
        case .frameRate: "Frames a second."
        case .videoZoomFactor: "Back at 1 where another format allows less."
        case .videoZoomRampRate: "Doublings a second on the way to the factor; `RampFinished` says when it is there."
        case .usesAudio: "Whether the session records sound: another app's microphone may interrupt it."
        case .whenBusy:
            "What `usesAudio` leads to while another app has the microphone: `MicrophoneBusy`, or the interruption."
        case .sharingMode:
            "Where the policy shares cameras: to configure and record, or only to watch beside the session that does."
        case .focusMode: "`auto` focuses once, and is `locked` then."
        case .lensPosition: "0 is near, 1 far."
        case .exposureMode: "Whether the camera or the session sets `exposureDuration`."
        case .exposureDuration: "Seconds."
        case .exposureTargetBias: "Exposure values to add to what the automatic exposure finds."
        case .isoMode: "Whether the camera or the session sets `iso`."
        case .iso: "ISO 12232 sensitivity."
        case .gainMode: "Whether the camera or the session sets `gain`."
        case .gain, .brightness, .contrast, .saturation, .hue, .sharpness: "In the device's own steps."
        case .whiteBalanceMode: "Whether the camera or the session sets `whiteBalanceTemperature`."
        case .whiteBalanceTemperature: "Kelvin."
        case .videoHDREnabled: "High dynamic range."
        case .preferredVideoStabilizationMode: "Stabilization of the picture."
        case .torchMode: "Never together with the flash."
        case .torchLevel: "0 to 1."
        case .flashMode: "Whether photos are lit; never together with the torch."
        case .videoMirrored: "Left and right exchanged."
        case .videoFlipped: "Top and bottom exchanged."
        }
    }
}

/// Words that a signal carries, for `docs/wire.md`.
extension RecordingFinished.NextChance {
    package var summary: String {
        switch self {
        case .now: "The session runs and may record: `StartRecording` works at once."
        case .whenInterruptionEnds: "It is interrupted: after `InterruptionEnded` and `DidStartRunning`."
        case .whenAccessReturns: "It runs and may not record: after an `AccessChanged` with `record`."
        case .afterStart: "It is stopped, or about to run: after `StartRunning`, and `DidStartRunning`."
        }
    }
}

extension RecordingEnd {
    package var summary: String {
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
