/// What a session is for (AVCaptureSession.Preset): the camera's format follows from it, as `CaptureModel` says.
public enum SessionPreset: String, Hashable, Sendable, Codable, CaseIterable {
    /// The largest picture in a photo's shape.
    case photo
    /// Video as good as the camera streams it at less than 60 frames a second.
    case high
    case medium
    case low
    case cif352x288 = "352x288"
    case vga640x480 = "640x480"
    case hd1280x720 = "1280x720"
    case hd1920x1080 = "1920x1080"
    case hd4K3840x2160 = "3840x2160"
    case iFrame960x540
    case iFrame1280x720
    /// No preset: the format is the one that `activeFormat` named, or the camera's own.
    case inputPriority
}
