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
