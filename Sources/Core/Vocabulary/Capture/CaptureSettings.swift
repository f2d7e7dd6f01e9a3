/// What a configuration comes to on a camera: everything in force, whether it was asked for or follows from what was.
/// Made by `ConfigurationCheck.settings` alone, so that the broker, the recorder core and the scenarios never differ.
package struct CaptureSettings: Hashable, Sendable {
    /// What was asked for so far, merged (`ConfigurationCheck.merged`).
    package let wanted: Configuration
    package let sessionPreset: SessionPreset
    package let format: CameraFormat
    /// Seconds, both inside the format's range; the least is at most the most.
    package let minFrameDuration: Double
    package let maxFrameDuration: Double
    /// 1 to the format's greatest; the goal of a ramp.
    package let videoZoomFactor: Double
    /// The controls that were asked for and count, each as near as camera and format come to it: a value whose mode is
    /// automatic does not count.
    package let controls: Configuration
    /// Those of all other controls of the camera that count.
    package let usualControls: Configuration
    package let isVideoHDREnabled: Bool
    /// Nil: off.
    package let activeVideoStabilizationMode: CameraFormat.VideoStabilizationMode?

    /// Seconds from one frame to the next: the least, or a longer exposure.
    package var frameDuration: Double {
        guard controls[.exposureMode] == .text("custom"), case .number(let exposure)? = controls[.exposureDuration]
        else { return minFrameDuration }
        return min(max(minFrameDuration, exposure), maxFrameDuration)
    }

    /// Frames a second, as asked for: a long exposure may give fewer.
    package var frameRate: Double { (1e6 / minFrameDuration).rounded() / 1e6 }

    /// Nanoseconds from one frame to the next.
    package var frameInterval: Int64 { Int64(1e9 * frameDuration) }

    /// A control's value, asked for or usual; nil where the camera lacks it, or decides it by itself.
    package func value(_ key: ConfigurationKey) -> ConfigurationValue? { controls[key] ?? usualControls[key] }

    /// Whether all that is set on the camera itself, beside format, rate and zoom, is the same.
    package func hasControls(of other: CaptureSettings) -> Bool {
        controls == other.controls && usualControls == other.usualControls
            && isVideoHDREnabled == other.isVideoHDREnabled
            && activeVideoStabilizationMode == other.activeVideoStabilizationMode
    }

    /// Whether a camera that runs with other settings has to be put together anew for these.
    package func rebuildsPipeline(of other: CaptureSettings) -> Bool {
        format != other.format || isVideoHDREnabled != other.isVideoHDREnabled
            || value(.highResolutionStillImageOutputEnabled) != other.value(.highResolutionStillImageOutputEnabled)
    }

    /// Everything, as `ConfigurationApplied` and `Session1.Configuration` have it.
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

    /// How the pixels that a camera gives under these settings have to be turned to be seen upright, and left for right
    /// where they are mirrored: what photos and recordings say of themselves. A camera that cannot be told how it is
    /// held has its picture as it lies.
    package func exifOrientation(of position: CameraPosition) -> ExifOrientation {
        guard case .text(let word)? = value(.videoOrientation), let orientation = VideoOrientation(rawValue: word)
        else { return .up }
        let isMirrored = value(.videoMirrored) == .flag(true)
        let seen = ExifOrientation(orientation, isMirrored: isMirrored, of: position)
        // The camera has exchanged the pixels themselves.
        return isMirrored ? seen.ofMirroredPixels : seen
    }
}

/// Which side of a camera's picture is up (AVCaptureVideoOrientation): the words of the key `videoOrientation`.
///
/// A camera's sensor lies so that a back camera's picture is upright as it comes in `landscapeRight`, and a front camera's in
/// `landscapeLeft`. Pixels are never turned: photos, recordings and views are told how to show them.
public enum VideoOrientation: String, Hashable, Sendable, CaseIterable {
    /// Upright, the home button below.
    case portrait
    /// Upside down, the home button above.
    case portraitUpsideDown
    /// On its side, the home button at the right.
    case landscapeRight
    /// On its side, the home button at the left.
    case landscapeLeft

    /// In which a camera's picture is upright as its sensor has it.
    public static func native(of position: CameraPosition) -> VideoOrientation {
        position == .front ? .landscapeLeft : .landscapeRight
    }

    /// How often the sensor's picture is turned by a quarter, clockwise, to be upright: 0 to 3.
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
