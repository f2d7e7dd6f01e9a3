import Glibc
import RecorderCore

/// A random source with a seed: the same numbers on every machine.
struct SeededRandom: RandomNumberGenerator {
    private var state: UInt64
    init(_ seed: UInt64) { state = seed &+ 0x9E37_79B9_7F4A_7C15 }
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ mixed >> 27) &* 0x94D0_49BB_1331_11EB
        return mixed ^ mixed >> 31
    }
}

/// A microphone with a clock of its own: its samples say when they were captured.
///
/// Each sample is the number of its frame, so that a file's sound says where each frame came to be.
struct TestSource {
    var sampleRate: Int
    /// How much faster than CLOCK_MONOTONIC its clock is: 0.001 is 0.1 %.
    var fast: Double
    /// Nanoseconds of CLOCK_MONOTONIC of its first frame.
    var start: Int64
    var frame: Int64 = 0

    init(sampleRate: Int = 48_000, fast: Double = 0, start: Int64 = 0) {
        (self.sampleRate, self.fast, self.start) = (sampleRate, fast, start)
    }

    /// When a frame was captured, in nanoseconds of CLOCK_MONOTONIC.
    func moment(of frame: Double) -> Double {
        Double(start) + frame / (Double(sampleRate) * (1 + fast)) * 1e9
    }

    var now: Int64 { Int64(moment(of: Double(frame))) }

    /// The next frames, with a time that is off by so many nanoseconds. Samples are the frames' numbers, as far as 16 bits go.
    mutating func packet(_ count: Int, off: Int64 = 0) -> SoundPacket {
        defer { frame += Int64(count) }
        let first = frame
        return SoundPacket(
            time: max(0, now + off), samples: (0..<count).map { Int16(truncatingIfNeeded: first + Int64($0)) })
    }

    /// Frames that nobody hears of.
    mutating func skip(_ count: Int) { frame += Int64(count) }
}

/// Where the frames of a source came to be in a file.
struct Placement {
    private(set) var frames: Int64 = 0
    private(set) var silence: Int64 = 0
    /// The greatest error of a frame's place, in seconds, and where in the file it was.
    private(set) var worst = 0.0
    private(set) var worstAt = 0.0
    /// The greatest part by which a piece was stretched, in the first five seconds and afterwards.
    private(set) var stretchAtFirst = 0.0
    private(set) var stretch = 0.0
    /// Where silence is, in frames of the file.
    private(set) var silences: [Range<Int64>] = []

    mutating func add(_ found: [SoundTimeline.Piece], of source: TestSource, fileRate: Int) {
        for piece in found {
            switch piece {
            case .silence(let count):
                silence += count
                if silences.last?.upperBound == frames {
                    silences[silences.count - 1] = silences[silences.count - 1].lowerBound..<frames + count
                } else {
                    silences.append(frames..<frames + count)
                }
            case .sound(let samples, let count):
                let nominal = Double(samples.count) * Double(fileRate) / Double(source.sampleRate)
                // Pieces have whole frames.
                let part = max(0, abs(Double(count) - nominal) - 1) / nominal
                if frames < 5 * fileRate {
                    stretchAtFirst = max(stretchAtFirst, part)
                } else {
                    stretch = max(stretch, part)
                }
                for (index, sample) in samples.enumerated() {
                    let place =
                        (Double(frames) + Double(index) * Double(count) / Double(samples.count)) / Double(fileRate)
                    let near = Int64(place * Double(source.sampleRate) * (1 + source.fast))
                    // The number with these 16 bits that is nearest.
                    let number = near + Int64(Int16(truncatingIfNeeded: Int64(sample) - near))
                    let error = place - (source.moment(of: Double(number)) - Double(source.start)) / 1e9
                    if abs(error) > abs(worst) { (worst, worstAt) = (error, place) }
                }
            }
            frames += piece.frames
        }
    }
}
