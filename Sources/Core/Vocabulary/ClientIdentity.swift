/// A seat: screens, keyboards and cameras of one person. Its name is logind's; a machine without others has `seat0`
/// alone.
public struct SeatID: Hashable, Sendable, Comparable {
    public let name: String
    public init(_ name: String) { self.name = name }
    public static func < (a: SeatID, b: SeatID) -> Bool { a.name < b.name }

    /// The seat of every device without an assignment.
    public static let usual = SeatID("seat0")
}

/// The kernel's facts about a client, beside its app: never the client's own claims.
public struct ClientIdentity: Hashable, Sendable {
    /// The kernel vouches for the app's name.
    public var isVerified: Bool
    /// The process was looked up by its number, so that another one may have had that number in between. Its user and
    /// its groups are certain all the same.
    public var isWeak: Bool
    /// The process's groups, sorted, each once; at most `groupsMax`.
    public private(set) var groups: [UInt32]
    public var login: LoginMembership
    /// The broker is this user's own: a broker in a checkout, or in the user's session.
    public var isOwn: Bool

    /// A process may have 65,536; a directory service gives people some dozens. Kept for as long as the client is
    /// connected.
    public static let groupsMax = 256

    public init(
        verified: Bool = true, weak: Bool = false, groups: [UInt32] = [], login: LoginMembership = .seat,
        own: Bool = false
    ) {
        isVerified = verified
        isWeak = weak
        // Of more than that none counts: nobody could say which were left out.
        let known = Set(groups).sorted()
        self.groups = known.count > Self.groupsMax ? [] : known
        self.login = login
        isOwn = own
    }
}

/// A process's place among login sessions.
public enum LoginMembership: Hashable, Sendable {
    /// Without login sessions its user sits at every seat: a scenario's client without other words.
    case seat
    /// Outside any login session, like services and jobs: its user may sit somewhere all the same.
    case outside
    case session(LoginSessionID)
}

/// The facts about a login session that matter for cameras.
public struct LoginSessionFacts: Hashable, Sendable {
    /// Its seat shows it.
    public var isActive: Bool
    public var isLocked: Bool
    /// `nil`: at no seat of this machine, as over ssh.
    public var seat: SeatID?
    public var user: UInt32

    public init(active: Bool, locked: Bool = false, seat: SeatID? = .usual, user: UInt32) {
        (isActive, isLocked, self.seat, self.user) = (active, locked, seat, user)
    }

    /// The user of a login session without a reported one: the kernel gives this number to no process.
    public static let userUnknown = UInt32.max
}
