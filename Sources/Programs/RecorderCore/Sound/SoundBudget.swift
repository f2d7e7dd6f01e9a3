/// Bounds a microphone's packets and frames to those of a sound card. A client that sends more is read more slowly, waits in its
/// own call to send, and costs nobody else a processor. A value without a clock: the caller passes the time.
struct SoundBudget: Hashable, Sendable {
    /// Allowed in a second, and at once after a pause.
    private let packets: Double
    private let frames: Double
    private var packetsLeft, framesLeft: Double
    /// Nanoseconds.
    private var filled: Int64

    /// Twice a source's rate: a client that was held up catches up.
    private static let framesFactor = 2.0

    /// Nanoseconds of the shortest wait, so that it is for several packets.
    private static let leastWait: Int64 = 10_000_000

    init(sampleRate: Int, now: Int64) {
        (packets, frames) = (Double(KeptSound.packetsASecond), Double(sampleRate) * Self.framesFactor)
        (packetsLeft, framesLeft, filled) = (packets, frames, now)
    }

    /// A packet was read, with so many frames, or as many bytes that are none.
    mutating func spend(frames: Int) {
        packetsLeft -= 1
        framesLeft -= Double(frames)
    }

    /// Nanoseconds to wait before the next packet is read, if any.
    mutating func wait(at now: Int64) -> Int64? {
        let seconds = Double(max(0, now - filled)) / 1e9
        filled = max(filled, now)
        packetsLeft = min(packets, packetsLeft + seconds * packets)
        framesLeft = min(frames, framesLeft + seconds * frames)
        let missing = max(-packetsLeft / packets, -framesLeft / frames)
        return missing < 0 ? nil : Int64(missing * 1e9) + Self.leastWait
    }
}
