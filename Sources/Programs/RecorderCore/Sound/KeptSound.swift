/// A microphone's packets that nobody has taken yet: two seconds of them at the most. A value without a clock: the caller
/// passes the time.
package struct KeptSound: Sendable {
    /// Sound is kept for so long, in nanoseconds: a writer that a busy machine or a slow disk holds up takes it a little later.
    package static let timeMax: Int64 = 2_000_000_000
    /// A packet's time may be so much ahead of now, in nanoseconds: more is another clock.
    package static let aheadMax: Int64 = 1_000_000_000
    /// The fewest frames that sound cards give at a time are 32, at 96 kHz three thousand times a second.
    package static let packetsASecond = 4_096

    private let sampleRate, channels: Int
    package private(set) var packets: [SoundPacket] = []
    package private(set) var frames = 0
    package private(set) var firstTime: Int64?
    /// The latest capture time of a packet that was kept; 0 before the first.
    package private(set) var newestTime: Int64 = 0

    package init(sampleRate: Int, channels: Int) {
        (self.sampleRate, self.channels) = (sampleRate, channels)
    }

    /// Keeps a packet, unless its time is that of another clock or of long ago.
    /// - Parameter now: nanoseconds of CLOCK_MONOTONIC.
    package mutating func add(_ packet: SoundPacket, at now: Int64) -> SoundProblem? {
        if packet.time - now > Self.aheadMax { return .ahead(by: packet.time - now) }
        if now - packet.time > Self.timeMax { return .old(by: now - packet.time) }
        let back = newestTime - packet.time
        newestTime = max(newestTime, packet.time)
        firstTime = firstTime ?? packet.time
        packets.append(packet)
        frames += packet.samples.count / channels
        forgetOld()
        return Double(back) / 1e9 > SourceClock.overlapMin ? .runsBack(by: back) : nil
    }

    package mutating func take() -> [SoundPacket] {
        defer { (packets, frames) = ([], 0) }
        return packets
    }

    private mutating func forgetOld() {
        let framesMax = sampleRate * Int(Self.timeMax / 1_000_000_000)
        let packetsMax = Self.packetsASecond * Int(Self.timeMax / 1_000_000_000)
        // A quarter too much, and then all of it at once: forgetting one by one would move all others each time.
        guard frames > framesMax * 5 / 4 || packets.count > packetsMax * 5 / 4 else { return }
        var forgotten = 0
        while frames > framesMax || packets.count - forgotten > packetsMax {
            frames -= packets[forgotten].samples.count / channels
            forgotten += 1
        }
        packets.removeFirst(forgotten)
    }
}
