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
