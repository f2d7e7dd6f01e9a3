import ArbiterProtocol
import CLinux
import Glibc

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
