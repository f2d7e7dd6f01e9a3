public import ArbiterProtocol

/// What logind tells, on the loop's thread.
public protocol LogindDelegate: AnyObject {
    /// All there are, in the order of their ids. Earlier ones that are not among them have ended.
    func logindKnows(_ sessions: [LoginSessionStatus])
    /// There is no logind, or none any more, and why. What it said last is all that is known.
    func logindLost(_ why: String)
    /// It is new, or something about it is.
    func loginSessionChanged(_ session: LoginSessionStatus)
    func loginSessionEnded(_ id: String)
    /// True: the machine is about to sleep, and waits for `letSleep`, for as long as `sleepDelay` at most.
    /// False: it is awake. Told when it changes.
    func machineSleeps(_ asleep: Bool)
    /// The machine will not wait before it sleeps, and why.
    func logindRefusedInhibitor(_ why: String)
}
