/// A key that a session can configure. The words are AVFoundation's, where it has one.
public enum ConfigurationKey: String, Hashable, Sendable, Codable, CaseIterable, Comparable {
    /// The session's camera, by identity. A camera switch inside a session is a configuration.
    case camera
    /// The purpose of the session, as one of `SessionPreset`'s words: the camera's format follows from it.
    case sessionPreset
    /// A format by its name, such as `420v 1280x720`. Ends a preset.
    case activeFormat
    /// Frames a second, inside the format's range: both frame durations at once.
    case frameRate
    /// Seconds, at least, from one frame to the next: `1/30`.
    case activeVideoMinFrameDuration
    /// Seconds, at most: a long exposure slows the camera down to here.
    case activeVideoMaxFrameDuration
    /// 1.0 up to the format's `videoMaxZoomFactor`.
    case videoZoomFactor
    /// Doublings a second of a ramp to `videoZoomFactor` in the same batch; absent: at once.
    case videoZoomRampRate
    /// Ends a ramp at its present zoom: true, alone or beside anything but a zoom.
    case cancelVideoZoomRamp
    /// Whether the session records sound.
    case usesAudio
    /// The fate of `usesAudio` while another app has the microphone: `refuse` or `interrupt`.
    case whenBusy
    /// Whether a session beside a shared camera's holder takes the `nearest` format to its wish (the default), or has a
    /// batch refused whose wish is not served `exact`ly.
    case formatMatch
    /// Where a policy shares cameras: `exclusiveControl` (the default) wants to configure and record, and
    /// `sharedReadOnly` only to watch beside the holder. The words are those of Windows' MediaCaptureSharingMode.
    case sharingMode
    /// The kind of capture: `photo` (the default) or `video`. While another app beside it keeps it from recording, a
    /// session that takes video shows a black preview.
    case captureMode

    // Controls: a camera lists them among its capabilities. A camera that lacks one refuses it by name.
    /// `locked`, `auto` (once, then locked) or `continuousAuto`.
    case focusMode
    /// The point that is to be sharp while the camera focuses, from (0, 0) at the top left of the sensor to (1, 1).
    case focusPointOfInterest
    /// 0 (near) to 1 (far), while `focusMode` is `locked`.
    case lensPosition
    /// Whether video's focus moves slowly (AVCaptureDevice's smoothAutoFocusEnabled).
    case smoothAutofocus
    /// `locked`, `auto` (once, then locked), `continuousAuto` or `custom`.
    case exposureMode
    /// The point that is to be exposed well, as `focusPointOfInterest`.
    case exposurePointOfInterest
    /// Seconds, while `exposureMode` is `custom`.
    case exposureDuration
    /// Exposure values to add to the automatic exposure.
    case exposureTargetBias
    /// `custom` or `continuousAuto`.
    case isoMode
    /// ISO 12232 sensitivity, while `isoMode` is `custom`, or `exposureMode` where there is no such mode.
    case iso
    /// `locked` or `continuousAuto`.
    case gainMode
    /// In the device's own steps, while `gainMode` is `locked`.
    case gain
    /// `locked`, `auto` (once, then locked) or `continuousAuto`.
    case whiteBalanceMode
    /// Kelvin, while `whiteBalanceMode` is `locked`.
    case whiteBalanceTemperature
    /// Red, green and blue from 1 up (deviceWhiteBalanceGains), while `whiteBalanceMode` is `locked`.
    case whiteBalanceGains
    /// Whether the camera chooses `videoHDREnabled`: it does so under a preset.
    case automaticallyAdjustsVideoHDREnabled
    /// While `automaticallyAdjustsVideoHDREnabled` is false, where there is such a key.
    case videoHDREnabled
    /// `off`, `standard`, `cinematic`, or `auto`: cinematic where the format has it.
    case preferredVideoStabilizationMode
    /// `off`, `on` or `auto` (when it is dark); never together with the flash.
    case torchMode
    /// 0 to 1, while `torchMode` is `on`.
    case torchLevel
    /// `off`, `on` or `auto`: whether photos are lit. Never together with the torch.
    case flashMode
    /// Photos of the format's high-resolution size instead of the stream's.
    case highResolutionStillImageOutputEnabled
    /// Photos are made of several exposures where that makes them steadier.
    case stillImageStabilization
    /// The lens is moved against shaking while a bracket is taken.
    case lensStabilizationDuringBracket
    /// `portrait`, `portraitUpsideDown`, `landscapeRight` or `landscapeLeft`: the side of the device that is up.
    case videoOrientation
    /// Left and right exchanged.
    case videoMirrored
    /// Top and bottom exchanged.
    case videoFlipped
    /// In the device's own steps, as the four below.
    case brightness
    case contrast
    case saturation
    case hue
    case sharpness

    // Reported by the camera alone.
    /// The result of `preferredVideoStabilizationMode` in the format that is in force.
    case activeVideoStabilizationMode
    /// Whether the lens scans for the focus: only where the format focuses by contrast.
    case adjustingFocus
    case adjustingExposure
    case adjustingWhiteBalance
    /// Rebuilds of the pipeline in this grant while it ran: each time frames are left out.
    case pipelineRebuilds

    public static func < (a: ConfigurationKey, b: ConfigurationKey) -> Bool { a.rawValue < b.rawValue }
}
