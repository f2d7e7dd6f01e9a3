/// Photos of consecutive frames, each with an exposure of its own (AVFoundation's
/// AVCaptureAutoExposureBracketedStillImageSettings and AVCaptureManualExposureBracketedStillImageSettings).
public struct PhotoBracket: Hashable, Sendable {
    /// 1 to `shotsMax`, in the order of capture.
    public let shots: [Shot]

    /// As many as a phone takes one after the other before its memory is full, and as a caller has files for.
    public static let shotsMax = 8

    /// The exposure of one photo.
    public enum Shot: Hashable, Sendable {
        /// Exposure values beside the automatic exposure; the session's own `exposureTargetBias` does not count.
        case exposureTargetBias(Double)
        /// Seconds, and ISO 12232 sensitivity.
        case exposure(duration: Double, iso: Double)
    }

    /// - Throws: `.invalidValue` for none, and for more than `shotsMax`.
    public init(exposureTargetBiases biases: [Double]) throws(BrokerError) {
        try self.init(shots: biases.map { .exposureTargetBias($0) })
    }

    /// - Throws: `.invalidValue` for none, for more than `shotsMax`, and where the counts differ.
    public init(exposureDurations durations: [Double], isos: [Double]) throws(BrokerError) {
        guard durations.count == isos.count else {
            throw BrokerError(
                .invalidValue,
                "exposureDurations has \(durations.count) and isos has \(isos.count); a bracket takes as many of each.")
        }
        try self.init(shots: zip(durations, isos).map { .exposure(duration: $0, iso: $1) })
    }

    private init(shots: [Shot]) throws(BrokerError) {
        guard (1...Self.shotsMax).contains(shots.count) else {
            throw BrokerError(.invalidValue, "The bracket has \(shots.count) photos; it takes 1 to \(Self.shotsMax).")
        }
        self.shots = shots
    }
}

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
