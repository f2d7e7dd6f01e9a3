/// A camera's settings under a configuration: all values in force, asked for or derived. Made by
/// `ConfigurationCheck.settings` alone, so that the broker, the recorder core and the scenarios never differ.
package struct CaptureSettings: Hashable, Sendable {
    /// The configuration so far, merged (`ConfigurationCheck.merged`).
    package let wanted: Configuration
    package let sessionPreset: SessionPreset
    package let format: CameraFormat
    /// Seconds, both inside the format's range; the least is at most the most.
    package let minFrameDuration: Double
    package let maxFrameDuration: Double
    /// 1 to the format's greatest; the goal of a ramp.
    package let videoZoomFactor: Double
    /// Wanted controls that count, each as near as camera and format allow: a value whose mode is automatic does not
    /// count.
    package let controls: Configuration
    /// Values of all other controls of the camera that count.
    package let usualControls: Configuration
    package let isVideoHDREnabled: Bool
    /// `nil`: off.
    package let activeVideoStabilizationMode: CameraFormat.VideoStabilizationMode?

    /// Seconds from one frame to the next: the least, or a longer exposure.
    package var frameDuration: Double {
        guard controls[.exposureMode] == .text("custom"), case .number(let exposure)? = controls[.exposureDuration]
        else { return minFrameDuration }
        return min(max(minFrameDuration, exposure), maxFrameDuration)
    }

    /// Frames a second, as wanted: a long exposure may give fewer.
    package var frameRate: Double { (1e6 / minFrameDuration).rounded() / 1e6 }

    /// Nanoseconds from one frame to the next.
    package var frameInterval: Int64 { Int64(1e9 * frameDuration) }

    /// A control's value, wanted or usual; `nil` where the camera lacks it, or decides it by itself.
    package func value(_ key: ConfigurationKey) -> ConfigurationValue? { controls[key] ?? usualControls[key] }

    /// Whether all settings of the camera itself, beside format, rate and zoom, are equal.
    package func hasControls(of other: CaptureSettings) -> Bool {
        controls == other.controls && usualControls == other.usualControls
            && isVideoHDREnabled == other.isVideoHDREnabled
            && activeVideoStabilizationMode == other.activeVideoStabilizationMode
    }

    /// Whether a camera that runs with other settings has to rebuild its pipeline for these.
    package func rebuildsPipeline(of other: CaptureSettings) -> Bool {
        format != other.format || isVideoHDREnabled != other.isVideoHDREnabled
            || value(.highResolutionStillImageOutputEnabled) != other.value(.highResolutionStillImageOutputEnabled)
    }

    /// All settings, as `ConfigurationApplied` and `Session1.Configuration` have them.
    package var configuration: Configuration {
        var whole = usualControls
        whole.merge(controls)
        whole.merge(
            Configuration([
                .sessionPreset: .text(sessionPreset.rawValue), .activeFormat: .text(format.name),
                .frameRate: .number(frameRate), .activeVideoMinFrameDuration: .number(minFrameDuration),
                .activeVideoMaxFrameDuration: .number(maxFrameDuration), .videoZoomFactor: .number(videoZoomFactor),
            ]))
        if usualControls[.videoHDREnabled] != nil || controls[.automaticallyAdjustsVideoHDREnabled] != nil
            || usualControls[.automaticallyAdjustsVideoHDREnabled] != nil
        {
            whole[.videoHDREnabled] = .flag(isVideoHDREnabled)
        }
        if value(.preferredVideoStabilizationMode) != nil {
            whole[.activeVideoStabilizationMode] = .text(activeVideoStabilizationMode?.rawValue ?? "off")
        }
        return whole
    }

    /// The turn and exchange that show the camera's pixels upright, and left for right where they are mirrored: the
    /// orientation in photos and recordings. A camera without `videoOrientation` shows its picture as it lies.
    package func exifOrientation(of position: CameraPosition) -> ExifOrientation {
        guard case .text(let word)? = value(.videoOrientation), let orientation = VideoOrientation(rawValue: word)
        else { return .up }
        let isMirrored = value(.videoMirrored) == .flag(true)
        let seen = ExifOrientation(orientation, isMirrored: isMirrored, of: position)
        // The camera has exchanged the pixels themselves.
        return isMirrored ? seen.ofMirroredPixels : seen
    }
}

/// The side of a camera's picture that is up (AVCaptureVideoOrientation): the words of the key `videoOrientation`.
///
/// By its sensor's position a back camera's picture is upright as it comes in `landscapeRight`, and a front camera's in
/// `landscapeLeft`. Pixels are never turned: photos, recordings and views carry the orientation.
public enum VideoOrientation: String, Hashable, Sendable, CaseIterable {
    /// Upright, the home button below.
    case portrait
    /// Upside down, the home button above.
    case portraitUpsideDown
    /// On its side, the home button at the right.
    case landscapeRight
    /// On its side, the home button at the left.
    case landscapeLeft

    /// The orientation in which a camera's picture is upright as its sensor has it.
    public static func native(of position: CameraPosition) -> VideoOrientation {
        position == .front ? .landscapeLeft : .landscapeRight
    }

    /// Quarter turns of the sensor's picture, clockwise, to be upright: 0 to 3.
    public func quarterTurnsFromSensor(of position: CameraPosition) -> Int {
        switch self {
        // A person who is upright lies with the head at the sensor's left, in a front camera, too.
        case .portrait: 1
        case .portraitUpsideDown: 3
        case .landscapeRight: position == .front ? 2 : 0
        case .landscapeLeft: position == .front ? 0 : 2
        }
    }
}
