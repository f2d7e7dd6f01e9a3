import CLinux
package import CSystemd
import Glibc
import Vocabulary

/// The app of a process, from the kernel's facts and nothing that the process does.
///
/// The broker names its clients' apps by it, and a user's agent the apps of windows and microphones: one place, so that
/// both use the same names.
package struct AppIdentity {
    package var name: String
    /// The name is one that only root can give: a system service's.
    package var isVerified: Bool
    /// `nil` for services outside any login session.
    package var membership: LoginSessions.Membership?

    package static let nameBytesMax = AppID.nameBytesMax

    /// Reads small files of /proc; `nil` when the process is gone.
    package static func of(_ pid: Int32, user: UInt32, _ process: ProcessHandle) -> AppIdentity? {
        let group = controlGroup(pid)
        let command = command(pid)
        let membership = LoginSessions.membership(ofProcess: pid, user: user)
        // Last of all: while the process lives, its number was its own.
        guard process.isAlive else { return nil }
        let unit = unit(inControlGroup: group ?? "")
        return AppIdentity(
            name: unit.name ?? command ?? "pid-\(pid)", isVerified: unit.isVerified, membership: membership)
    }

    /// The name alone, of a process of this user's; `nil` when it is gone or is another user's.
    package static func name(of pid: Int32, user: UInt32) -> String? {
        guard let process = ProcessHandle(opening: pid), owner(of: pid)?.user == user else { return nil }
        return of(pid, user: user, process)?.name
    }

    /// Whether a process is Flatpak's proxy for D-Bus outside of any sandbox's control group: nothing tells for which app it speaks.
    package static func isProxyOfNobody(_ pid: Int32) -> Bool {
        command(pid) == "xdg-dbus-proxy" && !ControlGroup(path: controlGroup(pid) ?? "").isSandbox
    }

    /// A process's parent and user; `nil` when it is gone.
    package static func owner(of pid: Int32) -> (parent: Int32, user: UInt32)? {
        var parent: pid_t = 0
        var user: uid_t = 0
        return camarb_process_of(pid, &parent, &user) == 0 ? (parent, user) : nil
    }

    /// The unit that a desktop made for one app, with the slices around it, of a process of this user's; `nil` where it
    /// is in none, and for a terminal's tabs (`vte-spawn-….scope`), login sessions and services.
    package static func appUnit(of pid: Int32, user: UInt32) -> String? {
        guard let own = ControlGroup(path: controlGroup(pid) ?? "").userUnit, own.user == user,
            appPrefixes.contains(where: own.name.hasPrefix)
        else { return nil }
        return (own.slices + [own.name]).joined(separator: "/")
    }

    /// The prefixes of desktops' units for apps, of apps that were activated over D-Bus, and of Flatpak's and Snap's.
    package static let appPrefixes = ["app-", "dbus-", "flatpak-", "snap."]

    /// Whether a process was started in a terminal: it has a controlling one. `nil` when it is gone.
    package static func hasTerminal(_ pid: Int32) -> Bool? {
        let answer = camarb_has_terminal(pid)
        return answer < 0 ? nil : answer > 0
    }

    /// The app of a control group, and whether nobody but root could have named it so.
    ///
    /// A service of the system's manager has its unit's name. Units of a user's own manager are named by that user, who
    /// can pass for any app with them; so can a program that was given groups below a unit. Such a name is only a
    /// claim.
    package static func unit(inControlGroup path: String) -> (name: String?, isVerified: Bool) {
        let group = ControlGroup(path: path)
        guard let unit = group.unit else { return (nil, false) }
        if let own = group.userUnit { return (own.name.hasPrefix("init.") ? nil : appName(own.name[...]), false) }
        // `session-2.scope` and `user@1000.service` name no app.
        if ["session-", "user@", "init."].contains(where: unit.hasPrefix) { return (nil, false) }
        return unit.hasSuffix(".service") ? (safe(unit[...]), group.isVouchedService) : (appName(unit[...]), false)
    }

    /// `firefox` of `app-gnome-firefox-1234.scope`, as desktops name the units of applications.
    private static func appName(_ unit: Substring) -> String? {
        var name = unit.prefix { $0 != "@" }
        for suffix in [".scope", ".service"] where name.hasSuffix(suffix) { name = name.dropLast(suffix.count) }
        var words = name.split(separator: "-")
        if words.first == "app" { words.removeFirst() }
        if words.count > 1, words.last?.allSatisfy(\.isNumber) == true { words.removeLast() }
        if words.count > 1, ["gnome", "kde", "flatpak", "sway"].contains(words.first) { words.removeFirst() }
        // `snap.firefox.firefox-UUID.scope`: five words of hexadecimal digits, which differ at each start.
        if name.hasPrefix("snap."), words.count > 5, words.suffix(5).allSatisfy({ $0.allSatisfy(\.isHexDigit) }) {
            words.removeLast(5)
        }
        // systemd writes bytes that a unit's name cannot have, and the hyphen, as `\x2d` (systemd.unit(5)).
        return words.isEmpty ? nil : safe(words.joined(separator: "-").unescaped(behind: "\\x")[...])
    }

    /// A name that cannot break a line of a log or of a scenario.
    package static func safe(_ name: Substring) -> String {
        String(Journal.printable(String(name), keepLines: false).utf8.prefix(nameBytesMax)) ?? "app"
    }

    /// The path of a process's control group, for a process that is known to live.
    package static func controlGroup(_ pid: Int32) -> String? { text { camarb_cgroup_of(pid, $0, $1) } }

    private static func command(_ pid: Int32) -> String? { text { camarb_name_of(pid, $0, $1) }.map { safe($0[...]) } }

    private static func text(_ read: (UnsafeMutablePointer<CChar>, Int) -> Int) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = read(&buffer, buffer.count)
        guard length > 0 else { return nil }
        return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

extension StringProtocol {
    /// Decodes each byte that is written as `mark` and two hexadecimal digits.
    package func unescaped(behind mark: StaticString) -> String {
        let mark = mark.withUTF8Buffer { Array($0) }
        var bytes: [UInt8] = []
        var rest = Array(utf8)[...]
        while let byte = rest.first {
            let digits = rest.dropFirst(mark.count).prefix(2)
            if rest.starts(with: mark), digits.count == 2,
                let code = UInt8(String(decoding: digits, as: UTF8.self), radix: 16)
            {
                bytes.append(code)
                rest = rest.dropFirst(mark.count + 2)
            } else {
                bytes.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension String {
    /// A machine's or a bus's id as 32 hexadecimal digits.
    package init(_ id: sd_id128_t) {
        var text = [CChar](repeating: 0, count: 33)
        _ = sd_id128_to_string(id, &text)
        self.init(decoding: text.prefix(32).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// The login session of a process. Reads small files, and never waits.
public enum LoginSessions {
    public enum Membership: Hashable, Sendable {
        /// In this session's own scope.
        case session(String)
        /// Started by its user's own manager, as desktops start apps: it is wherever its user looks.
        case user(UInt32)
    }

    /// `nil` for services, and without systemd.
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

    /// The machine's id as 32 hexadecimal digits; `nil` when it has none yet.
    public static var machineID: String? {
        var id = sd_id128_t()
        guard sd_id128_get_machine(&id) >= 0 else { return nil }
        return String(id)
    }
}
