/// What one recording is to be like, and what ends it by itself; nil: as is usual, or nothing does.
public struct RecordingOptions: Hashable, Sendable, Codable {
    /// Seconds of captured time, above 0; the recording ends with the last frame that fits, as `duration-limit`.
    public var maxDuration: Double?
    /// Bytes of the file, from `bytesLeast`; the recording ends before a frame that would not fit, as `size-limit`.
    public var maxBytes: UInt64?
    /// Bytes that stay free on the file's file system, from 1: fewer end the recording as `disk-full`, before the disk is full.
    public var minFreeBytes: UInt64?
    /// Nil: Matroska.
    public var fileType: RecordingFileType?
    /// Nil: H.264 up to 100 Mpixel/s, Motion JPEG above.
    public var codec: VideoCodec?
    /// Bits a second of the picture, in `bitRates`. Nil: what is published for its size and rate.
    public var bitRate: UInt64?
    /// What is written beside the picture as time goes on, by kind; each kind once, at most `MetadataTrack.countMax`.
    public var metadata: [MetadataTrack] = [] { didSet { metadata.sort { $0.kind < $1.kind } } }

    /// Below this a file would be header and index and no picture.
    public static let bytesLeast: UInt64 = 262_144
    /// From what a film of stamps needs to what a disk takes.
    public static let bitRates: ClosedRange<UInt64> = 100_000...200_000_000

    public init() {}

    /// What a recording's metadata cannot be; nil: it can.
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

/// Which file a recording is. All of them play to the last frame that was written, whatever ends them.
public enum RecordingFileType: String, Hashable, Sendable, Codable, CaseIterable {
    /// The one that keeps timed metadata, and says when and why it ended.
    case matroska
    /// MPEG-4 (ISO 14496-14) and QuickTime, in fragments of a frame each. A display matrix turns their picture as the
    /// orientation at the recording's beginning was.
    case mp4, mov

    public var keepsMetadata: Bool { self == .matroska }
}

/// How a recording's pictures are encoded.
public enum VideoCodec: String, Hashable, Sendable, Codable, CaseIterable { case h264, mjpeg }

/// What the samples of one kind of timed metadata are.
public enum MetadataType: String, Hashable, Sendable, Codable, CaseIterable {
    /// Which side of the picture is up, as Exif counts: the recorder core's own.
    case orientation
    /// What the source sees, with boxes: the recorder core's own.
    case objects
    /// Places as ISO 6709 writes them: `+48.2082+016.3738/`.
    case iso6709
    case text
    /// Finite decimal numbers.
    case number
}

/// One kind of timed metadata in a recording: its samples are one track of the file.
public struct MetadataTrack: Hashable, Sendable, Codable {
    /// `[a-z][a-z0-9-]{0,31}`
    public var kind: String
    public var type: MetadataType

    public init(kind: String, type: MetadataType) {
        self.kind = kind
        self.type = type
    }

    /// More than anything has sensors for, and few enough for a file's header.
    public static let countMax = 8
    /// What a track's name may have.
    public static let kindBytesMax = 32
    /// `orientation`, `objects` and `location` mean one thing in every file.
    public static let orientation = "orientation"
    public static let objects = "objects"
    public static let location = "location"

    /// The types that a kind takes. The first two kinds are written by the recorder core, all others by the client.
    public static func types(of kind: String) -> [MetadataType] {
        switch kind {
        case orientation: [.orientation]
        case objects: [.objects]
        case location: [.iso6709]
        default: [.iso6709, .text, .number]
        }
    }

    /// Whether the session's client gives its samples, by `AppendMetadata`.
    public var isOfTheClient: Bool { type != .orientation && type != .objects }

    /// What such a kind is, as a sentence says it.
    public static let kindSentence =
        "a lower-case letter, and up to 31 lower-case letters, digits and hyphens behind it"

    public static func isKind(_ text: String) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
        guard let first = text.utf8.first, isLetter(first), text.utf8.count <= kindBytesMax else { return false }
        return text.utf8.allSatisfy {
            isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
        }
    }

    /// What is wrong with it, as a sentence; nil: nothing.
    public var problem: String? {
        guard Self.isKind(kind) else {
            return "metadata has the kind \(kind.quotedShort); a kind is \(Self.kindSentence)."
        }
        let types = Self.types(of: kind)
        guard !types.contains(type) else { return nil }
        let allowed = types.map(\.rawValue).joined(separator: ", ")
        return "metadata \(kind) is \(type.rawValue.quotedShort); it takes \(allowed)."
    }
}

/// Why a recording was taken from its session, as far as its client may know: what the file and the client are told.
public struct RecordingReason: Hashable, Sendable {
    /// The cause of the interruption, or of the access that was lost, by its wire name; nil: it was not taken.
    public var cause: String?
    /// The app behind it, as the client is told; nil: none, or none that may be named.
    public var interrupter: String?

    public init(cause: String? = nil, interrupter: String? = nil) {
        self.cause = cause
        self.interrupter = interrupter
    }

    public init(_ cause: Cause?, by interrupter: Interrupter?) {
        self.init(cause: cause?.wireName, interrupter: interrupter?.description)
    }

    /// It ended as its client asked, or by itself.
    public static let none = RecordingReason()
}

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
