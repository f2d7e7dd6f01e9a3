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
    public var names: [String] { Access.rights.compactMap { contains($0.right) ? $0.name : nil } }

    /// Reads one right's wire name.
    public init?(name: String) {
        guard let found = Access.rights.first(where: { $0.name == name }) else { return nil }
        self = found.right
    }
}

/// One question to a user about an app, counted from 1 by each broker.
public typealias QuestionID = UInt32

/// What is said to an app that asks for a camera, where its user is asked.
public enum AppAnswer: String, Hashable, Sendable, CaseIterable, Codable, BitwiseCopyable {
    case allow
    case deny
}

/// Where an answer about an app comes from.
public enum AnswerOrigin: String, Hashable, Sendable, CaseIterable, Codable, BitwiseCopyable {
    /// The user was asked.
    case question
    /// The user said it without being asked.
    case user
    /// The desktop's portals keep it: `devices`, `camera`. Denials only.
    case permissionStore = "permission-store"
}

/// How a question came to its end.
public enum QuestionEnd: String, Hashable, Sendable, CaseIterable, BitwiseCopyable {
    case allow
    case deny
    /// Nobody answered in time: no, and nothing is stored.
    case late
    /// The app left or stopped.
    case gone
}

/// The users and groups of a machine: looked up where a policy file is read, and nowhere else.
public protocol Accounts: Sendable {
    /// Nil: the machine has no user of that name.
    func user(named name: String) -> UInt32?
    func group(named name: String) -> UInt32?
}

/// A machine without users and groups, for what must not depend on the machine that reads it: traces, scenarios, tests.
public struct NoAccounts: Accounts {
    public init() {}
    public func user(named name: String) -> UInt32? { nil }
    public func group(named name: String) -> UInt32? { nil }
}

/// By what a client may use a camera, in words: the first that holds, in this order.
public enum RightReason: String, Hashable, Sendable, CaseIterable {
    case root
    /// The broker is its user's own, and serves it.
    case own
    case user, group, service, seat
    /// It may not.
    case none
}
