import Glibc

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
