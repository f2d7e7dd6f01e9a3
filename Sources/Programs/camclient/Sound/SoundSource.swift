import ArbiterProtocol
import CLinux
import Glibc

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

/// A quiet tone with a beep at each full second of CLOCK_MONOTONIC: 440 Hz, and from the second on for 50 ms 1,000 Hz, five
/// times as loud. Frames of the simulated cameras carry their capture time, so a recording of both says how far apart they are.
struct ToneSource: SoundSource {
    let format = MicrophoneFormat(sampleRate: 48_000, channels: 1)

    private static let beep: Int64 = 50_000_000
    private static let second: Int64 = 1_000_000_000

    func play(_ take: ([Int16], Int64) -> Bool) -> String? {
        var pacing = SoundPacing(sampleRate: format.sampleRate, begin: camarb_monotonic_ns())
        while true {
            let frames = pacing.packetFrames
            let first = pacing.frames
            let (begin, end) = pacing.next(frames: frames)
            let samples = (0..<Int64(frames)).map { Self.sample(at: pacing.time(of: first + $0)) }
            _ = camarb_poll(nil, 0, max(0, end - camarb_monotonic_ns()))
            guard take(samples, begin) else { return nil }
        }
    }

    /// What is heard at a moment, in nanoseconds of CLOCK_MONOTONIC.
    static func sample(at moment: Int64) -> Int16 {
        // Both have whole periods in a second, so that a day's moment need not be a floating number.
        let inSecond = moment % second
        let seconds = Double(inSecond) / 1e9
        return inSecond < beep
            ? Int16(15_000 * sin(2 * .pi * 1000 * seconds)) : Int16(3000 * sin(2 * .pi * 440 * seconds))
    }
}
