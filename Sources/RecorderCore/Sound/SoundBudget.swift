/// How much a microphone may send: sound cards give so many packets and frames a second, and no more. Who sends more is read
/// more slowly, waits in its own call to send, and costs nobody else a processor.
///
/// A value without a clock: the caller says the time.
struct SoundBudget: Hashable, Sendable {
    /// What a second allows, and what is allowed at once after a pause.
    private let packets: Double
    private let frames: Double
    private var packetsLeft: Double
    private var framesLeft: Double
    /// Nanoseconds.
    private var filled: Int64

    /// Twice a source's rate: a client that was held up catches up.
    private static let framesFactor = 2.0

    init(sampleRate: Int, packetsASecond: Int, now: Int64) {
        packets = Double(packetsASecond)
        frames = Double(sampleRate) * Self.framesFactor
        (packetsLeft, framesLeft) = (packets, frames)
        filled = now
    }

    /// One packet was read, with so many frames, or as many bytes that are none.
    mutating func spend(frames: Int) {
        packetsLeft -= 1
        framesLeft -= Double(frames)
    }

    /// How long to wait before the next packet is read, in nanoseconds; nil: not at all.
    mutating func wait(at now: Int64) -> Int64? {
        let seconds = Double(max(0, now - filled)) / 1e9
        filled = max(filled, now)
        packetsLeft = min(packets, packetsLeft + seconds * packets)
        framesLeft = min(frames, framesLeft + seconds * frames)
        let missing = max(-packetsLeft / packets, -framesLeft / frames)
        return missing < 0 ? nil : Int64(missing * 1e9) + Self.leastWait
    }

    /// So that a wait is for several packets, in nanoseconds.
    private static let leastWait: Int64 = 10_000_000
}
