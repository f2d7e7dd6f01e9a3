import Glibc

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

/// One packet of sound, as a client's microphone sends it.
///
/// Sixteen bytes of head, little-endian: the capture time of the first frame, in nanoseconds of CLOCK_MONOTONIC (8 bytes); the
/// number of frames (4); 0 (4). Then the frames, interleaved, each sample 16 bits with a sign, little-endian. Nothing else.
package struct SoundPacket: Hashable, Sendable {
    /// When its first frame was captured, in nanoseconds of CLOCK_MONOTONIC; not below 0.
    package var time: Int64
    /// Interleaved: one for each channel in each frame.
    package var samples: [Int16]

    package init(time: Int64, samples: [Int16]) {
        (self.time, self.samples) = (time, samples)
    }

    package static let headBytes = 16
    /// More is no packet of sound but a file; so a socket's whole packet has a bound.
    package static let framesMax = 65_536
    /// The longest packet there can be, in two channels.
    package static let bytesMax = headBytes + framesMax * 2 * 2

    /// The most frames of one packet: a second's, since nothing of it can be used before all of it is there.
    package static func framesMax(sampleRate: Int) -> Int { min(framesMax, sampleRate) }

    /// Reads a packet of the socket, whose length must be the one in its head.
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

/// A problem of a microphone or its packets. A microphone's first problem is reported to its client, with this sentence; the
/// sound that it concerns is left out, and no other.
package enum SoundProblem: Error, Hashable, Sendable {
    case noHead(bytes: Int)
    case tooLong(bytes: Int)
    case notZero(UInt32)
    case frames(UInt32, most: Int)
    case length(bytes: Int, frames: Int, expected: Int)
    case negativeTime(Int64)
    /// In nanoseconds, as all that follow.
    case ahead(by: Int64)
    case old(by: Int64)
    case runsBack(by: Int64)
    case tooMuch
    case closed
    case descriptors
    case cannotBeRead(errno: Int32)
    /// Of a recording, without a packet.
    case silent(for: Int64)
    /// A recording had gone on when it came.
    case late(most: Int64)

    package var sentence: String {
        switch self {
        case .noHead(let bytes):
            "The microphone sent a packet of \(bytes) bytes, where the head alone has \(SoundPacket.headBytes). \(Self.passedOver)"
        case .tooLong(let bytes):
            "The microphone sent a packet of \(bytes) bytes, where the longest allowed has \(SoundPacket.bytesMax). \(Self.passedOver)"
        case .notZero(let number):
            "The last four bytes of a microphone packet's head say \(number), and must be 0. \(Self.passedOver)"
        case .frames(let frames, let most):
            "The microphone sent a packet that says it has \(frames) frames; 1 to \(most) are allowed at its rate. \(Self.passedOver)"
        case .length(let bytes, let frames, let expected):
            "The microphone sent a packet of \(bytes) bytes, where one of \(frames) frames has \(expected). \(Self.passedOver)"
        case .negativeTime(let time):
            "The microphone sent a packet captured at \(time) ns, and CLOCK_MONOTONIC is never below 0. \(Self.passedOver)"
        case .ahead(let time):
            "The microphone sent a packet captured \(Self.milliseconds(time)) from now; times are those of CLOCK_MONOTONIC, in nanoseconds. \(Self.passedOver)"
        case .old(let time):
            "The microphone sent a packet captured \(Self.milliseconds(time)) ago, and sound is kept for \(Self.milliseconds(KeptSound.timeMax)). \(Self.passedOver)"
        case .runsBack(let time):
            "The microphone's times ran back by \(Self.milliseconds(time)). Sound that overlaps what was there before is left out."
        case .tooMuch:
            "The microphone sends more than its rate, or more than \(KeptSound.packetsASecond) packets a second; it is read more slowly now."
        case .closed: "The microphone was closed by its client; recordings go on in silence."
        case .descriptors:
            "The microphone sent descriptors along with its sound, and is read no more; recordings go on in silence."
        case .cannotBeRead(let code):
            "The microphone cannot be read any more (\(String(cString: strerror(code)))); recordings go on in silence."
        case .silent(let time):
            "The microphone has sent nothing for \(Self.milliseconds(time)) of the recording, which is silent until it does."
        case .late(let most):
            "The microphone's sound comes more than \(Self.milliseconds(most)) behind the picture; the recording has silence in its place."
        }
    }

    private static let passedOver = "It is passed over, and so are others that are wrong."

    private static func milliseconds(_ nanoseconds: Int64) -> String { "\(nanoseconds / 1_000_000) ms" }
}
