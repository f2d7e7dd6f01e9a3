import Glibc

/// What a microphone has sent and nobody has taken yet: two seconds of it at the most.
///
/// A value without a clock: the caller says the time.
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
        self.sampleRate = sampleRate
        self.channels = channels
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

/// Some sound, as a client's microphone sends it: one packet of its socket.
///
/// Sixteen bytes of head, little-endian: the capture time of the first frame, in nanoseconds of CLOCK_MONOTONIC (8 bytes); the
/// number of frames (4); 0 (4). Then the frames, interleaved, each sample 16 bits with a sign, little-endian. Nothing else.
package struct SoundPacket: Hashable, Sendable {
    /// When its first frame was captured, in nanoseconds of CLOCK_MONOTONIC; not below 0.
    package var time: Int64
    /// Interleaved, so many for each frame as there are channels.
    package var samples: [Int16]

    package init(time: Int64, samples: [Int16]) {
        self.time = time
        self.samples = samples
    }

    package static let headBytes = 16
    /// More is no packet of sound but a file; so a socket's whole packet has a bound.
    package static let framesMax = 65_536
    /// The longest packet there can be, in two channels.
    package static let bytesMax = headBytes + framesMax * 2 * 2

    /// How many frames one packet may have: at most a second's, since nothing of it can be used before all of it is there.
    package static func framesMax(sampleRate: Int) -> Int { min(framesMax, sampleRate) }

    /// Reads what came in one packet of the socket; every other length than the one that the head says is wrong.
    package init(decoding bytes: UnsafeRawBufferPointer, sampleRate: Int, channels: Int) throws(SoundProblem) {
        guard bytes.count >= Self.headBytes else { throw .noHead(bytes: bytes.count) }
        let time = Int64(littleEndian: bytes.loadUnaligned(fromByteOffset: 0, as: Int64.self))
        let frames = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt32.self))
        let reserved = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
        guard reserved == 0 else { throw .notZero(reserved) }
        let most = Self.framesMax(sampleRate: sampleRate)
        guard frames >= 1, frames <= most else { throw .frames(frames, most: most) }
        let samples = Int(frames) * channels
        let expected = Self.headBytes + samples * 2
        guard bytes.count == expected else {
            throw .length(bytes: bytes.count, frames: Int(frames), expected: expected)
        }
        guard time >= 0 else { throw .negativeTime(time) }
        self.time = time
        self.samples = (0..<samples).map {
            Int16(littleEndian: bytes.loadUnaligned(fromByteOffset: Self.headBytes + $0 * 2, as: Int16.self))
        }
    }
}

/// How much a microphone may send: sound cards give so many packets and frames a second, and no more. Who sends more is
/// read more slowly, waits in its own call to send, and costs nobody else a processor. A value without a clock: the
/// caller says the time.
struct SoundBudget: Hashable, Sendable {
    /// What a second allows, and what is allowed at once after a pause.
    private let packets: Double
    private let frames: Double
    private var packetsLeft, framesLeft: Double
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
