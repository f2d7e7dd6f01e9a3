/// The access of a session now: the intersection of its causes' limits.
public struct Access: OptionSet, Hashable, Sendable, BitwiseCopyable {
    public let rawValue: UInt8
    public init(rawValue: UInt8) { self.rawValue = rawValue }

    public static let preview = Access(rawValue: 1)
    public static let photo = Access(rawValue: 2)
    public static let record = Access(rawValue: 4)
    public static let configure = Access(rawValue: 8)

    public static let none: Access = []
    public static let all: Access = [.preview, .photo, .record, .configure]
    /// The most that a session which asked to watch has, and a sharer where the policy says no other.
    public static let sharer: Access = [.preview, .photo]

    /// The single rights, in the order of the wire.
    public static let rights: [(name: String, right: Access)] = [
        ("preview", .preview), ("photo", .photo), ("record", .record), ("configure", .configure),
    ]

    /// The rights' wire names, always in the same order.
    public var names: [String] { Access.rights.compactMap { contains($0.right) ? $0.name : nil } }

    /// Reads one right's wire name.
    public init?(name: String) {
        guard let found = Access.rights.first(where: { $0.name == name }) else { return nil }
        self = found.right
    }
}

/// A question to a user about an app, counted from 1 by each broker.
public typealias QuestionID = UInt32

/// A user's decision about an app that asks for a camera.
public enum AppAnswer: String, Hashable, Sendable, CaseIterable, Codable, BitwiseCopyable {
    case allow
    case deny
}

/// The source of an answer about an app.
public enum AnswerOrigin: String, Hashable, Sendable, CaseIterable, Codable, BitwiseCopyable {
    /// A question to the user.
    case question
    /// The user, without a question.
    case user
    /// The desktop's portals: `devices`, `camera`. Denials only.
    case permissionStore = "permission-store"
}

/// The end of a question.
public enum QuestionEnd: String, Hashable, Sendable, CaseIterable, BitwiseCopyable {
    case allow
    case deny
    /// No reply in time: no, and nothing is stored.
    case late
    /// The app left or stopped.
    case gone
}

/// The users and groups of a machine: looked up only while a policy file is read.
public protocol Accounts: Sendable {
    /// `nil`: the machine has no user of that name.
    func user(named name: String) -> UInt32?
    func group(named name: String) -> UInt32?
}

/// A machine without users and groups, for text that must read alike on every machine: traces, scenarios, tests.
public struct NoAccounts: Accounts {
    public init() {}
    public func user(named name: String) -> UInt32? { nil }
    public func group(named name: String) -> UInt32? { nil }
}

/// The reason of a client's right to a camera, in words: the first that holds, in this order.
public enum RightReason: String, Hashable, Sendable, CaseIterable {
    case root
    /// The broker is its user's own.
    case own
    case user, group, service, seat
    /// No right.
    case none
}
