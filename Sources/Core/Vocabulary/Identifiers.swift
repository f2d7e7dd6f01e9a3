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

/// A capture device's stable identity (bus path or serial, or the name given on the command line). `/dev/videoN` is
/// never one.
public struct CameraID: Hashable, Sendable, Comparable {
    public let name: String
    public init(_ name: String) { self.name = name }
    public static func < (a: CameraID, b: CameraID) -> Bool { a.name < b.name }
}

/// The unit the user sees. Two users' apps of one name are two apps.
public struct AppID: Hashable, Sendable, Comparable, Codable {
    public let name: String
    public let user: UInt32
    public init(_ name: String, user: UInt32) {
        self.name = name
        self.user = user
    }
    public static func < (a: AppID, b: AppID) -> Bool { (a.name, a.user) < (b.name, b.user) }

    /// Longer names are cut: they appear in notices, logs and status lines.
    package static let nameBytesMax = 128

    /// `NAME@USER`, the same app for every reader; `nil` where the text names no user.
    package static func namingUser(_ text: String) -> (name: Substring, user: UInt32)? {
        guard let at = text.lastIndex(of: "@"), let user = UInt32(text[text.index(after: at)...]) else { return nil }
        return (text[..<at], user)
    }
}

/// A login session's name in logind.
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

/// A camera's activity for the app that has it. The raw values are the words of `GetStatus`.
///
///     free ──▶ starting ──▶ streaming ──▶ revoking ──▶ free, or starting for the next
///               ▲  │            │
///               └──resetting◀───┘
///
/// Left out: `reserved` leads to `streaming` when the client of before the restart comes back, else to `revoking`. A
/// camera that passes on in place goes from `streaming` to `streaming`.
public enum TenancyState: String, Hashable, Sendable, CaseIterable {
    case free
    /// Kept for a session of before the broker's restart, whose capture goes on.
    case reserved
    /// Granted; its first frame has not come yet.
    case starting
    case streaming
    /// The recorder core or the device was lost, and is to be started again for the same holder.
    case resetting
    /// Taken from its holder; the recorder core has not confirmed the end of capture yet.
    case revoking
}

/// A point on the broker's clock: nanoseconds since an origin of the caller's choice.
///
/// The clock never goes back and stands still while the machine sleeps (`CLOCK_MONOTONIC`), so graces and leases pause with it.
public struct Moment: Hashable, Sendable, Comparable, BitwiseCopyable {
    public let nanoseconds: Int64
    public init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

    public static let zero = Moment(nanoseconds: 0)
    /// Farther away than any deadline: 292 years.
    public static let distantFuture = Moment(nanoseconds: .max)

    public static func < (a: Moment, b: Moment) -> Bool { a.nanoseconds < b.nanoseconds }

    /// Saturates instead of overflowing: a deadline that far away is never met anyway.
    public static func + (moment: Moment, duration: Duration) -> Moment {
        let (sum, overflow) = moment.nanoseconds.addingReportingOverflow(duration.wholeNanoseconds)
        return Moment(nanoseconds: overflow ? .max : sum)
    }

    public static func - (later: Moment, earlier: Moment) -> Duration {
        .nanoseconds(later.nanoseconds &- earlier.nanoseconds)
    }
}

extension Duration {
    /// The duration in nanoseconds, saturated at about ±292 years.
    public var wholeNanoseconds: Int64 {
        let (seconds, attoseconds) = components
        let (product, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        if overflow { return seconds < 0 ? .min : .max }
        return product &+ attoseconds / 1_000_000_000
    }
}
