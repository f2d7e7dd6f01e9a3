import Glibc
import System

/// Which processes a recorder core behind a socket may name as its own: the broker kills the process of the answer to `Serve`,
/// and as a service it may kill anything.
package enum RecorderIdentity: Hashable, Sendable {
    /// A unit that the service manager starts for a connection to `camrecorder.socket`.
    case unit
    /// Any process of the user that listens on the socket, except the broker: in tests, and with a recorder core of
    /// one's own. Where root listens, also a unit, since the service manager may be root's listener.
    case process(ofUser: UInt32)

    package struct Seen: Hashable, Sendable {
        package var process: Int32
        package var user: UInt32?
        package var controlGroup: String?

        package init(process: Int32, user: UInt32?, controlGroup: String?) {
            (self.process, self.user, self.controlGroup) = (process, user, controlGroup)
        }

        init(of process: Int32) {
            self.init(
                process: process, user: AppIdentity.owner(of: process)?.user,
                controlGroup: AppIdentity.controlGroup(process))
        }
    }

    /// Where the service manager puts instances of `camrecorder@.service`.
    private static let slices = ["system.slice", "system-camrecorder.slice"]
    private static let unitPrefix = "camrecorder@"

    private static func isUnit(_ seen: Seen) -> Bool {
        let group = ControlGroup(path: seen.controlGroup ?? "")
        return group.isVouchedService && group.slices == slices && group.unit?.hasPrefix(unitPrefix) == true
    }

    /// Why a process is no recorder core, as a clause.
    package func objection(to seen: Seen?, broker: Int32 = getpid()) -> String? {
        guard let seen else { return "no process that is there" }
        if seen.process == broker { return "the broker itself" }
        switch self {
        case .unit:
            if Self.isUnit(seen) { return nil }
            let group = seen.controlGroup.map { "“\(Journal.printable($0, keepLines: false))”" } ?? "no control group"
            let unit = "\(Self.unitPrefix)….service"
            return "process \(seen.process) in \(group), which is not a unit \(unit) of the system's"
        case .process(let user):
            if seen.user == user || (user == 0 && Self.isUnit(seen)) { return nil }
            let owner = seen.user.map { "user \($0)" } ?? "nobody"
            return "process \(seen.process) of \(owner); user \(user) listens on the recorder socket"
        }
    }
}
