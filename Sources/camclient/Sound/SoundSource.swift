import ArbiterProtocol

/// Where a recording's sound comes from.
protocol SoundSource: Sendable {
    var format: MicrophoneFormat { get }

    /// Gives sound as it comes, with its capture time, until the source has ended or nobody wants any more. On a thread of
    /// its own.
    /// - Parameter take: interleaved samples and when the first frame was captured, in nanoseconds of CLOCK_MONOTONIC;
    ///   false: no more is wanted.
    /// - Returns: why it ended, as a sentence; nil: it has no more, or none is wanted.
    func play(_ take: (_ samples: [Int16], _ time: Int64) -> Bool) -> String?
}

/// Sound that is made, not captured: packets at the times at which a microphone would give them.
struct SoundPacing {
    /// Of a packet, in nanoseconds: as sound servers hand it out.
    static let packet: Int64 = 20_000_000

    let sampleRate: Int64
    /// Of the first frame, in nanoseconds of CLOCK_MONOTONIC.
    let begin: Int64
    private(set) var frames: Int64 = 0

    init(sampleRate: UInt32, begin: Int64) {
        self.sampleRate = Int64(sampleRate)
        self.begin = begin
    }

    var packetFrames: Int { Int(sampleRate * Self.packet / 1_000_000_000) }

    /// When a frame is captured; by parts, since a day of frames times 10⁹ has no room.
    func time(of frame: Int64) -> Int64 {
        begin + frame / sampleRate * 1_000_000_000 + frame % sampleRate * 1_000_000_000 / sampleRate
    }

    /// When the next packet begins, and when it has been captured: both in nanoseconds of CLOCK_MONOTONIC.
    mutating func next(frames count: Int) -> (begin: Int64, end: Int64) {
        defer { frames += Int64(count) }
        return (time(of: frames), time(of: frames + Int64(count)))
    }
}
