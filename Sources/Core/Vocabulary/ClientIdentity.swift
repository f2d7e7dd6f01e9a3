/// A seat: screens, keyboards and cameras that one person sits at. Its name is logind's; a machine without others has
/// `seat0` alone.
public struct SeatID: Hashable, Sendable, Comparable {
    public let name: String
    public init(_ name: String) { self.name = name }
    public static func < (a: SeatID, b: SeatID) -> Bool { a.name < b.name }

    /// The seat of whatever nobody has given to another one.
    public static let usual = SeatID("seat0")
}

/// What a client is, beside its app: what the kernel vouches for, and never what the client says.
public struct ClientIdentity: Hashable, Sendable {
    /// The kernel vouches for the app's name.
    public var isVerified: Bool
    /// The process was looked up by its number, so that another one may have had that number in between. Its user and its
    /// groups are certain all the same.
    public var isWeak: Bool
    /// The process's groups, sorted, each once; at most `groupsMax`.
    public private(set) var groups: [UInt32]
    public var login: LoginMembership
    /// The broker is this user's own and serves it: a broker in a checkout, or in the user's session.
    public var isOwn: Bool

    /// A process may have 65,536; a directory service gives people some dozens. Kept for as long as the client is.
    public static let groupsMax = 256

    public init(
        verified: Bool = true, weak: Bool = false, groups: [UInt32] = [], login: LoginMembership = .seat,
        own: Bool = false
    ) {
        isVerified = verified
        isWeak = weak
        // Of more than that none counts: which of them were left out, nobody could tell.
        let known = Set(groups).sorted()
        self.groups = known.count > Self.groupsMax ? [] : known
        self.login = login
        isOwn = own
    }
}

/// Where a process belongs among login sessions.
public enum LoginMembership: Hashable, Sendable {
    /// Nobody speaks of login sessions, and its user sits wherever it is asked: a scenario's client that says nothing else.
    case seat
    /// Outside any login session, as services and jobs are: its user may sit somewhere all the same.
    case outside
    case session(LoginSessionID)
}

/// What is known of a login session, as far as cameras are concerned.
public struct LoginSessionFacts: Hashable, Sendable {
    /// It is the one that its seat shows.
    public var isActive: Bool
    public var isLocked: Bool
    /// Nil: it is at no seat of this machine, as over ssh.
    public var seat: SeatID?
    public var user: UInt32

    public init(active: Bool, locked: Bool = false, seat: SeatID? = .usual, user: UInt32) {
        (isActive, isLocked, self.seat, self.user) = (active, locked, seat, user)
    }

    /// Of a login session whose user nobody said: the kernel gives this number to no process.
    public static let userUnknown = UInt32.max
}
