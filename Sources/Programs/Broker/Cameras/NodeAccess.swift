import CLinux
import Glibc

/// Which users and groups may open a camera's node without asking the broker.
///
/// Arbitration binds only programs that ask: a program that can open the node itself takes the camera when it likes, and
/// Linux cannot take an open camera away again (reliability, finding 9).
package enum NodeAccess {
    package struct Rights: Hashable, Sendable {
        package var owner: UInt32
        package var group: UInt32
        package var mode: UInt32
        /// Mostly logind's, with an entry for the user at the seat.
        package var hasAccessList: Bool

        package init(owner: UInt32, group: UInt32, mode: UInt32, hasAccessList: Bool) {
            (self.owner, self.group, self.mode, self.hasAccessList) = (owner, group, mode, hasAccessList)
        }

        package init?(ofPath path: String) {
            var found = camarb_rights()
            guard camarb_rights_of(path, &found) == 0 else { return nil }
            self.init(
                owner: found.owner, group: found.group, mode: found.mode, hasAccessList: found.has_access_list != 0)
        }
    }

    /// Names of users and groups, looked up by the caller, so that decisions can be tested.
    package typealias Names = (
        user: @Sendable (UInt32) -> String, group: @Sendable (UInt32) -> String,
        members: @Sendable (UInt32) -> [String]
    )

    /// Further members are counted, not named.
    package static let membersNamedMax = 4

    /// Why apps can open the node themselves, as a clause; `nil` where they cannot.
    package static func bypass(
        _ path: String, _ rights: Rights, broker: (user: UInt32, group: UInt32), _ names: Names
    ) -> String? {
        if rights.mode & 0o006 != 0 { return "everybody may open \(path)" }
        if rights.hasAccessList { return "\(path) has an access list, by which certain users may open it" }
        let opensForGroup = rights.mode & 0o060 != 0
        if opensForGroup && rights.group != 0 && rights.group != broker.group {
            return "group “\(names.group(rights.group))” may open \(path)"
        }
        if rights.owner != 0 && (rights.owner != broker.user || broker.group == 0) {
            return "user “\(names.user(rights.owner))” may open \(path)"
        }
        if opensForGroup && rights.group != 0 {
            let others = names.members(rights.group).filter { $0 != names.user(broker.user) }
            if !others.isEmpty {
                let named = others.prefix(membersNamedMax).joined(separator: ", ")
                let more = others.count - membersNamedMax
                return
                    "\(named)\(more > 0 ? " and \(more) more" : "") may open \(path), being in group “\(names.group(rights.group))”"
            }
        }
        return nil
    }

    /// This machine's; a number without a name stands for itself.
    package static var system: Names {
        (
            user: { number in
                guard let entry = getpwuid(number), let name = entry.pointee.pw_name else { return "\(number)" }
                return String(cString: name)
            },
            group: { number in
                guard let entry = getgrgid(number), let name = entry.pointee.gr_name else { return "\(number)" }
                return String(cString: name)
            },
            members: { number in
                guard let entry = getgrgid(number), var next = entry.pointee.gr_mem else { return [] }
                var members: [String] = []
                while let name = next.pointee {
                    members.append(String(cString: name))
                    next += 1
                }
                return members
            }
        )
    }
}
