/// One kind of timed metadata in a recording: its samples are one track of the file.
public struct MetadataTrack: Hashable, Sendable, Codable {
    /// `[a-z][a-z0-9-]{0,31}`
    public var kind: String
    public var type: MetadataType

    public init(kind: String, type: MetadataType) {
        self.kind = kind
        self.type = type
    }

    /// More than any machine has sensors for, and few enough for a file's header.
    public static let countMax = 8
    public static let kindBytesMax = 32
    /// `orientation`, `objects` and `location` mean one thing in every file.
    public static let orientation = "orientation"
    public static let objects = "objects"
    public static let location = "location"

    /// The allowed types of a kind. The recorder core writes the first two kinds, the client all others.
    public static func types(of kind: String) -> [MetadataType] {
        switch kind {
        case orientation: [.orientation]
        case objects: [.objects]
        case location: [.iso6709]
        default: [.iso6709, .text, .number]
        }
    }

    /// Whether the session's client sends its samples, by `AppendMetadata`.
    public var isOfTheClient: Bool { type != .orientation && type != .objects }

    /// The rule of a client's kind for a sentence.
    public static let kindSentence =
        "a lower-case letter, and up to 31 lower-case letters, digits and hyphens behind it"

    public static func isKind(_ text: String) -> Bool {
        func isLetter(_ byte: UInt8) -> Bool { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) }
        guard let first = text.utf8.first, isLetter(first), text.utf8.count <= kindBytesMax else { return false }
        return text.utf8.allSatisfy {
            isLetter($0) || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
        }
    }

    /// The problem of the track, as a sentence; `nil`: none.
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
