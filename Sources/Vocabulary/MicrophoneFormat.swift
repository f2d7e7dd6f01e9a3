/// What the sound on a microphone's socket is, declared once: signed 16-bit samples, their channels interleaved.
public struct MicrophoneFormat: Hashable, Sendable, Codable {
    /// Frames a second, in `sampleRates`.
    public var sampleRate: UInt32
    /// 1 or 2.
    public var channels: UInt32

    /// From a telephone's to twice what is heard: what AAC takes.
    public static let sampleRates: ClosedRange<UInt32> = 8_000...96_000
    /// A camera's sound is of one place.
    public static let channelsMax: UInt32 = 2

    public init(sampleRate: UInt32, channels: UInt32) {
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// What is wrong with it, as a sentence; nil: nothing.
    public var problem: String? {
        guard Self.sampleRates.contains(sampleRate) else {
            return "sampleRate is \(sampleRate); it takes \(Self.sampleRateSentence)."
        }
        guard (1...Self.channelsMax).contains(channels) else {
            return "channels is \(channels); it takes \(Self.channelsSentence)."
        }
        return nil
    }

    package static let sampleRateSentence = "frames a second, \(sampleRates.lowerBound) to \(sampleRates.upperBound)"
    package static let channelsSentence = "1 to \(channelsMax)"
}
