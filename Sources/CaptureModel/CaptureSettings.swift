package import Vocabulary

/// What a configuration comes to on a camera: everything in force, whether it was asked for or follows from what was.
///
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
}
