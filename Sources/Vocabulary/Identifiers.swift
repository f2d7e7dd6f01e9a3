/// One connection to the broker. Given by the broker, never reused while it runs.
public struct ClientID: Hashable, Sendable, Comparable {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (a: ClientID, b: ClientID) -> Bool { a.rawValue < b.rawValue }
}

/// One capture session of one client. Given by the broker, never reused while it runs.
public struct SessionID: Hashable, Sendable, Comparable {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (a: SessionID, b: SessionID) -> Bool { a.rawValue < b.rawValue }
}

/// A capture device's stable identity (bus path or serial, or the name given on the command line).
/// `/dev/videoN` is never one.
public struct CameraID: Hashable, Sendable, Comparable {
    public let name: String
    public init(_ name: String) { self.name = name }
    public static func < (a: CameraID, b: CameraID) -> Bool { a.name < b.name }
}

/// The unit the user sees. Two users' apps of one name are two apps.
public struct AppID: Hashable, Sendable, Comparable {
    public let name: String
    public let user: UInt32
    public init(_ name: String, user: UInt32) {
        self.name = name
        self.user = user
    }
    public static func < (a: AppID, b: AppID) -> Bool { (a.name, a.user) < (b.name, b.user) }

    /// `NAME@USER`, which means the same app whoever says it; nil where the text names no user.
    package static func namingUser(_ text: String) -> (name: Substring, user: UInt32)? {
        guard let at = text.lastIndex(of: "@"), let user = UInt32(text[text.index(after: at)...]) else { return nil }
        return (text[..<at], user)
    }
}

/// A login session's name, as logind gives it.
public struct LoginSessionID: Hashable, Sendable, Comparable {
    public let name: String
    public init(_ name: String) { self.name = name }
    public static func < (a: LoginSessionID, b: LoginSessionID) -> Bool { a.name < b.name }
}

/// One granting of a camera to one session; buffers and streams belong to a grant and die with it.
/// Grows with every grant of the broker's life.
public struct GrantID: Hashable, Sendable, Comparable, BitwiseCopyable {
    public let rawValue: UInt64
    public init(_ rawValue: UInt64) { self.rawValue = rawValue }
    public static func < (a: GrantID, b: GrantID) -> Bool { a.rawValue < b.rawValue }
}

/// One interruption of one session, counted from 1 within it.
public typealias InterruptionID = UInt64
/// One recording, photo or decision of the broker's life, counted from 1.
public typealias RecordingID = UInt64
public typealias PhotoID = UInt64
public typealias DecisionID = UInt64
