import CSystemd
import Glibc

/// What systemd knows about a process, for a machine that runs it. Reads small files, waits for nobody.
public enum LoginSessions {
    /// The login session a process belongs to, else the one its user looks at; nil for services and without systemd.
    public static func session(ofProcess pid: Int32, user: UInt32) -> String? {
        var name: UnsafeMutablePointer<CChar>?
        if sd_pid_get_session(pid, &name) >= 0, let name {
            defer { free(name) }
            return String(cString: name)
        }
        // A unit of the user's own manager (an app's scope) is in no session itself.
        var owner: uid_t = 0
        guard sd_pid_get_owner_uid(pid, &owner) >= 0, owner == user else { return nil }
        guard sd_uid_get_display(owner, &name) >= 0, let name else { return nil }
        defer { free(name) }
        return String(cString: name)
    }

    /// The machine's id as 32 hexadecimal digits; nil when it has none yet.
    public static var machineID: String? {
        var id = sd_id128_t()
        guard sd_id128_get_machine(&id) >= 0 else { return nil }
        var text = [CChar](repeating: 0, count: 33)
        _ = sd_id128_to_string(id, &text)
        return String(decoding: text.prefix(32).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
