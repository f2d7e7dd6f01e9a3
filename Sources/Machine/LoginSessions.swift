import Bus
import CSystemd
import Glibc

/// Which login session a process belongs to. Reads small files, waits for nobody.
public enum LoginSessions {
    public enum Membership: Hashable, Sendable {
        /// It is in this session's own scope.
        case session(String)
        /// It was started by its user's own manager, as desktops start apps: it is wherever its user looks.
        case user(UInt32)
    }

    /// Nil for services, and without systemd.
    public static func membership(ofProcess pid: Int32, user: UInt32) -> Membership? {
        var name: UnsafeMutablePointer<CChar>?
        if sd_pid_get_session(pid, &name) >= 0, let name {
            defer { free(name) }
            return .session(String(cString: name))
        }
        var owner: uid_t = 0
        guard sd_pid_get_owner_uid(pid, &owner) >= 0, owner == user else { return nil }
        return .user(owner)
    }

    /// The machine's id as 32 hexadecimal digits; nil when it has none yet.
    public static var machineID: String? {
        var id = sd_id128_t()
        guard sd_id128_get_machine(&id) >= 0 else { return nil }
        return String(id)
    }
}
