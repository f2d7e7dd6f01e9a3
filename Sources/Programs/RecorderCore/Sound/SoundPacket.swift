import Glibc

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
