/// The conditions of a photo, for its notice and its Exif.
///
/// As small as a pointer and a few bytes: every event carries it, and most have none.
public struct PhotoMetadata: Hashable, Sendable {
    /// The side of the picture that is up, as Exif counts: 1 (as it lies) to 8.
    public var orientation: UInt8 = 1
    /// It was made of several exposures.
    public var stillImageStabilizationUsed = false
    /// The lens was moved against shaking.
    public var lensStabilizationUsed = false
    public var flashFired = false
    private var numbers = Configuration([.videoZoomFactor: .number(1)])

    public init() {}

    /// Seconds; `nil`: not known.
    public var exposureDuration: Double? {
        get { number(.exposureDuration) }
        set { numbers[.exposureDuration] = newValue.map { .number($0) } }
    }
    /// ISO 12232 sensitivity; `nil`: not known.
    public var iso: Double? {
        get { number(.iso) }
        set { numbers[.iso] = newValue.map { .number($0) } }
    }
    /// Exposure values beside the automatic exposure; `nil`: not known.
    public var exposureTargetBias: Double? {
        get { number(.exposureTargetBias) }
        set { numbers[.exposureTargetBias] = newValue.map { .number($0) } }
    }
    /// From 1.
    public var videoZoomFactor: Double {
        get { number(.videoZoomFactor) ?? 1 }
        set { numbers[.videoZoomFactor] = .number(newValue) }
    }

    private func number(_ key: ConfigurationKey) -> Double? {
        if case .number(let number)? = numbers[key] { number } else { nil }
    }
}
