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
