/// "May it use the camera at all?": decided before bids are weighed. A policy file's `[access]`.
///
/// Root may, always: a user that can read and write every device needs no permission. Everybody else needs to be named
/// here, or to sit at the camera's seat.
public struct Rights: Hashable, Sendable {
    /// The user of a local login session at the camera's seat may.
    public var seat: Bool
    public var users: [Account]
    public var groups: [Account]
    /// Apps that the kernel vouches for, by their units.
    public var services: [String]
    public var identity: Identity
    public var apps: Apps

    /// A user or a group: its number, and its name where the file has that.
    public struct Account: Hashable, Sendable {
        public var name: String?
        /// `nil`: the machine that read the file has no such name, so that nobody is meant.
        public var number: UInt32?

        public init(name: String? = nil, number: UInt32?) { (self.name, self.number) = (name, number) }
    }

    public enum Identity: String, Hashable, Sendable, CaseIterable {
        case any
        /// A client that was looked up by the number of its process has no right, except root's: that right is the
        /// user's and not the process's.
        case strong
    }

    public enum Apps: String, Hashable, Sendable, CaseIterable {
        /// Every app of a user with the right, but those that their user denied.
        case all
        /// An app that `services` does not name needs its user's yes: the user is asked at its start.
        case ask
    }

    public init(
        seat: Bool = true, users: [Account] = [], groups: [Account] = [], services: [String] = [],
        identity: Identity = .any, apps: Apps = .all
    ) {
        (self.seat, self.users, self.groups) = (seat, users, groups)
        (self.services, self.identity, self.apps) = (services, identity, apps)
    }

    /// The names without a user or group on this machine, users before groups.
    public var unknownNames: [String] { (users + groups).filter { $0.number == nil }.compactMap(\.name) }
}
