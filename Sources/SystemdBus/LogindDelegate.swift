/// A login session, as systemd-logind has it.
public struct LoginSession: Hashable, Sendable {
    public var id: String
    public var user: UInt32
    /// Empty for sessions without one, such as those over ssh.
    public var seat: String
    public var isRemote: Bool
    /// Of the sessions of a seat one at most; those without a seat always are.
    public var isActive: Bool
    /// Its screen locker says so.
    public var isLocked: Bool

    public init(id: String, user: UInt32, seat: String, isRemote: Bool, isActive: Bool, isLocked: Bool) {
        self.id = id
        self.user = user
        self.seat = seat
        self.isRemote = isRemote
        self.isActive = isActive
        self.isLocked = isLocked
    }
}

/// What logind tells, on the loop's thread.
public protocol LogindDelegate: AnyObject {
    /// All there are, in the order of their ids. Earlier ones that are not among them have ended.
    func logindKnows(_ sessions: [LoginSession])
    /// There is no logind, or none any more, and why. What it said last is all that is known.
    func logindLost(_ why: String)
    /// It is new, or something about it is.
    func loginSessionChanged(_ session: LoginSession)
    func loginSessionEnded(_ id: String)
    /// True: the machine is about to sleep, and waits for `letSleep`, for as long as `sleepDelay` at most.
    /// False: it is awake. Told when it changes.
    func machineSleeps(_ asleep: Bool)
    /// The machine will not wait before it sleeps, and why.
    func logindRefusedInhibitor(_ why: String)
}
