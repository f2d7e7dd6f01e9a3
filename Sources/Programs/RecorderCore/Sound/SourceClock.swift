/// The capture times of a source's frames: a straight line through the times of its packets, which jitter.
///
/// A source's own clock runs a little fast or slow beside CLOCK_MONOTONIC, and packets' times have errors of some milliseconds.
/// So this estimates the time of the next frame and the rate of the source's clock, and lets a packet's time move them a
/// little: a Kalman filter, whose gains follow from how wrong the times may be and how fast a clock may change.
///
/// A time that is further off than jitter is no error: sound is missing there, or overlaps, and the line begins anew.
struct SourceClock: Hashable, Sendable {
    /// When a packet's frames were captured, in nanoseconds of CLOCK_MONOTONIC.
    struct Span: Hashable, Sendable {
        var start, end: Double
        /// It begins where the packet before it ended.
        var isContinuous: Bool
    }

    /// A packet that begins so much later than the one before it ended has a gap before it, in seconds; below, it jitters.
    static let gapMin = 0.020
    /// And so much earlier: it overlaps.
    static let overlapMin = 0.008
    /// Sources run at most 1 % fast or slow; the estimate may be a little beyond while it settles.
    private static let rateMax = 0.012

    /// Variances. The times' errors, in seconds².
    private static let jitter = 0.003 * 0.003
    /// The error of a first time: less than a packet's, so that its correction is not heard.
    private static let jitterOfFirst = 0.0005 * 0.0005
    /// The rate's before anything is known of it: most sources are well within 0.1 %.
    private static let rateAtFirst = 0.0015 * 0.0015
    /// How far the line and the rate move by themselves within a second. Together they make it slow: about 4 s.
    private static let timeWander = 0.0001 * 0.0001
    private static let rateWander = 0.00002 * 0.00002

    private let sampleRate: Double
    /// Nanoseconds, of the frame after the last one; `nil` before the first packet.
    private var next: Double?
    /// The part by which a second of the source's is longer than one of CLOCK_MONOTONIC.
    private(set) var rate = 0.0
    /// How certain both are, and together.
    private var timeVariance = 0.0
    private var rateVariance = SourceClock.rateAtFirst
    private var covariance = 0.0

    init(sampleRate: Int) { self.sampleRate = Double(sampleRate) }

    mutating func place(time: Int64, frames: Int) -> Span {
        let nominal = Double(frames) / sampleRate
        var start = Double(time)
        var isContinuous = false
        if let next {
            let error = (start - next) / 1e9
            isContinuous = error <= Self.gapMin && error >= -Self.overlapMin
            if isContinuous {
                let innovation = timeVariance + Self.jitter
                let (timeGain, rateGain) = (timeVariance / innovation, covariance / innovation)
                start = next + timeGain * error * 1e9
                rate = min(max(rate + rateGain * error, -Self.rateMax), Self.rateMax)
                rateVariance -= rateGain * covariance
                covariance *= 1 - timeGain
                timeVariance *= 1 - timeGain
            }
        }
        // A source keeps its clock over a gap.
        if !isContinuous { (timeVariance, covariance) = (Self.jitterOfFirst, 0) }
        let end = start + nominal * (1 + rate) * 1e9
        next = end
        timeVariance += nominal * (2 * covariance + nominal * rateVariance + Self.timeWander)
        covariance += nominal * rateVariance
        rateVariance += nominal * Self.rateWander
        return Span(start: start, end: end, isContinuous: isContinuous)
    }
}
