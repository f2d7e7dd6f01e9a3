/// What a session may do now: the intersection of what its causes leave.
public struct Access: OptionSet, Hashable, Sendable, BitwiseCopyable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let preview = Access(rawValue: 1)
    public static let photo = Access(rawValue: 2)
    public static let record = Access(rawValue: 4)
    public static let configure = Access(rawValue: 8)

    public static let none: Access = []
    public static let all: Access = [.preview, .photo, .record, .configure]
    /// The most a sharer can have beside the holder.
    public static let sharer: Access = [.preview, .photo]

    /// The single rights, in the order in which they are written.
    public static let rights: [(name: String, right: Access)] = [
        ("preview", .preview), ("photo", .photo), ("record", .record), ("configure", .configure),
    ]

    /// The rights' wire names, always in the same order.
    public var names: [String] {
        Access.rights.compactMap { contains($0.right) ? $0.name : nil }
    }

    /// Reads one right's wire name.
    public init?(name: String) {
        guard let found = Access.rights.first(where: { $0.name == name }) else { return nil }
        self = found.right
    }
}
