/// The form of a recording, and the limits that end it; `nil`: the usual form, or no limit.
public struct RecordingOptions: Hashable, Sendable, Codable {
    /// Seconds of captured time, above 0; the recording ends with the last frame that fits, as `duration-limit`.
    public var maxDuration: Double?
    /// Bytes of the file, from `bytesLeast`; the recording ends before a frame that would not fit, as `size-limit`.
    public var maxBytes: UInt64?
    /// Bytes that stay free on the file's file system, from 1: fewer end the recording as `disk-full`, before the disk is full.
    public var minFreeBytes: UInt64?
    /// `nil`: Matroska.
    public var fileType: RecordingFileType?
    /// `nil`: H.264 up to 100 Mpixel/s, Motion JPEG above.
    public var codec: VideoCodec?
    /// Bits a second of the picture, in `bitRates`. `nil`: the published rate of its size and frame rate.
    public var bitRate: UInt64?
    /// The timed metadata beside the picture, by kind; each kind once, at most `MetadataTrack.countMax`.
    public var metadata: [MetadataTrack] = [] { didSet { metadata.sort { $0.kind < $1.kind } } }

    /// Below this a file would be header and index and no picture.
    public static let bytesLeast: UInt64 = 262_144
    /// From the need of a film of stamps to a disk's limit.
    public static let bitRates: ClosedRange<UInt64> = 100_000...200_000_000

    public init() {}

    /// The problem of a recording's metadata, as a sentence; `nil`: none.
    public var metadataProblem: String? {
        if let fileType, !fileType.keepsMetadata, !metadata.isEmpty {
            return "metadata has kinds, which a fileType of \(fileType.rawValue) does not keep; matroska does."
        }
        guard metadata.count <= MetadataTrack.countMax else {
            return "metadata has \(metadata.count) kinds; it takes at most \(MetadataTrack.countMax)."
        }
        for (track, next) in zip(metadata, metadata.dropFirst()) where track.kind == next.kind {
            return "metadata has \(track.kind.quotedShort) twice; give each kind once."
        }
        return metadata.lazy.compactMap(\.problem).first
    }

    public func type(of kind: String) -> MetadataType? { metadata.first { $0.kind == kind }?.type }
}

/// The file type of a recording. All of them play to the last written frame, whatever ends them.
public enum RecordingFileType: String, Hashable, Sendable, Codable, CaseIterable {
    /// The only type with timed metadata, and with the time and reason of its end.
    case matroska
    /// MPEG-4 (ISO 14496-14) and QuickTime, in fragments of a frame each. A display matrix turns their picture by the
    /// orientation at the recording's beginning.
    case mp4, mov

    public var keepsMetadata: Bool { self == .matroska }
}

public enum VideoCodec: String, Hashable, Sendable, Codable, CaseIterable { case h264, mjpeg }

/// The type of the samples of one kind of timed metadata.
public enum MetadataType: String, Hashable, Sendable, Codable, CaseIterable {
    /// The side of the picture that is up, as Exif counts: the recorder core's own.
    case orientation
    /// The objects that the source sees, with boxes: the recorder core's own.
    case objects
    /// Places in ISO 6709: `+48.2082+016.3738/`.
    case iso6709
    case text
    /// Finite decimal numbers.
    case number
}

/// The reason of a recording's loss, as far as its client may know: for the file and the client.
public struct RecordingReason: Hashable, Sendable {
    /// The cause of the interruption, or of the access that was lost, by its wire name; `nil`: the recording was not
    /// taken.
    public var cause: String?
    /// The app behind it, as its client may know it; `nil`: none, or none that may be named.
    public var interrupter: String?

    public init(cause: String? = nil, interrupter: String? = nil) {
        self.cause = cause
        self.interrupter = interrupter
    }

    public init(_ cause: Cause?, by interrupter: Interrupter?) {
        self.init(cause: cause?.wireName, interrupter: interrupter?.description)
    }

    /// The client ended it, or it ended by itself.
    public static let none = RecordingReason()
}

/// The format of the sound on a microphone's socket, declared once: signed 16-bit samples, their channels interleaved.
public struct MicrophoneFormat: Hashable, Sendable, Codable {
    /// Frames a second, in `sampleRates`.
    public var sampleRate: UInt32
    /// 1 or 2.
    public var channels: UInt32

    /// From a telephone's to twice the audible range: AAC's rates.
    public static let sampleRates: ClosedRange<UInt32> = 8_000...96_000
    /// A camera's sound is of one place.
    public static let channelsMax: UInt32 = 2

    public init(sampleRate: UInt32, channels: UInt32) {
        self.sampleRate = sampleRate
        self.channels = channels
    }

    /// The problem of the format, as a sentence; `nil`: none.
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
