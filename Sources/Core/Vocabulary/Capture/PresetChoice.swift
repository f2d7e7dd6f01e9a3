/// The format that a preset picks on a camera. The words are AVCaptureSession.Preset's; the format of each on Apple's
/// cameras is from Technical Note TN2409, and from the published lists of the iPhone 6s. For cameras of other makers
/// the nearest format is picked, as the cases define.
package struct FormatChoice: Hashable, Sendable {
    package let format: CameraFormat
    /// Frames a second of the allowed frame durations, both inclusive.
    package let frameRates: ClosedRange<Double>

    init(_ format: CameraFormat) {
        self.format = format
        frameRates = format.minFrameRate...max(format.minFrameRate, format.maxFrameRate)
    }

    /// - Returns: `nil` for a format without a rate below `fastFrameRate`.
    init?(ofPreset format: CameraFormat) {
        guard format.minFrameRate <= Self.presetFrameRateMax else { return nil }
        self.format = format
        let most = format.maxFrameRate < Self.fastFrameRate ? format.maxFrameRate : Self.presetFrameRateMax
        frameRates = format.minFrameRate...max(format.minFrameRate, most)
    }

    /// From here on frame rates are reached through `activeFormat` alone (AVFoundation's rule).
    package static let fastFrameRate = 60.0
    /// A preset's limit for a faster format.
    package static let presetFrameRateMax = 30.0
}

extension ConfigurationCheck {
    /// - Returns: `nil` where the camera has no format for it.
    package func choice(_ preset: SessionPreset) -> FormatChoice? {
        switch preset {
        case .inputPriority: capabilities.defaultFormat.map { FormatChoice($0) }
        // The largest of 4:3 in full range: photos have no video range.
        case .photo: largest { $0.isPhotoShaped && $0.pixelFormat == "420f" } ?? largest(where: \.isPhotoShaped)
        case .high: sized(1920, 1080) ?? largest(where: \.isWidescreen) ?? largest { _ in true }
        case .medium: sized(480, 360) ?? largest { $0.width <= 640 && $0.height <= 480 } ?? smallest
        case .low: sized(192, 144) ?? smallest
        case .cif352x288: sized(352, 288)
        case .vga640x480: sized(640, 480)
        case .hd1280x720, .iFrame1280x720: sized(1280, 720)
        case .hd1920x1080: sized(1920, 1080)
        case .hd4K3840x2160: sized(3840, 2160)
        case .iFrame960x540: sized(960, 540)
        }
    }

    /// The presets that the camera has, in the order of their declaration.
    package var sessionPresets: [SessionPreset] { SessionPreset.allCases.filter { choice($0) != nil } }

    private func sized(_ width: Int, _ height: Int) -> FormatChoice? {
        best(of: capabilities.formats.filter { $0.width == width && $0.height == height })
    }

    private func largest(where isMeant: (CameraFormat) -> Bool) -> FormatChoice? {
        best(where: isMeant, size: { $0.max() })
    }

    private var smallest: FormatChoice? { best(where: { _ in true }, size: { $0.min() }) }

    /// The best of the formats of one size, in pixels, that `pick` chooses from all candidates.
    private func best(where isMeant: (CameraFormat) -> Bool, size pick: ([Int]) -> Int?) -> FormatChoice? {
        let meant = capabilities.formats.filter { isMeant($0) && FormatChoice(ofPreset: $0) != nil }
        guard let pixels = pick(meant.map(\.pixels)) else { return nil }
        return best(of: meant.filter { $0.pixels == pixels })
    }

    /// Of formats of one size: a slow one before one that is slowed down, then an unbinned one, then video range as
    /// video has it, then the highest rate; of equals the first in the camera's list.
    private func best(of formats: [CameraFormat]) -> FormatChoice? {
        var best: FormatChoice?
        for format in formats {
            guard let choice = FormatChoice(ofPreset: format) else { continue }
            if let before = best, !Self.isBetter(choice, than: before) { continue }
            best = choice
        }
        return best
    }

    private static func isBetter(_ a: FormatChoice, than b: FormatChoice) -> Bool {
        let isFast = (
            a.format.maxFrameRate >= FormatChoice.fastFrameRate, b.format.maxFrameRate >= FormatChoice.fastFrameRate
        )
        if isFast.0 != isFast.1 { return isFast.1 }
        if a.format.isBinned != b.format.isBinned { return b.format.isBinned }
        let isFullRange = (a.format.pixelFormat == "420f", b.format.pixelFormat == "420f")
        if isFullRange.0 != isFullRange.1 { return isFullRange.1 }
        return a.frameRates.upperBound > b.frameRates.upperBound
    }
}

extension CameraFormat {
    fileprivate var pixels: Int { width * height }

    /// Four to three.
    fileprivate var isPhotoShaped: Bool { width * 3 == height * 4 }
}

/// The purpose of a session (AVCaptureSession.Preset): the camera's format follows from it (`FormatChoice`).
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
    /// No preset: the format is `activeFormat`'s, or the camera's own.
    case inputPriority
}
