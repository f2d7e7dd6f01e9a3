import ArbiterProtocol
import CLinux
import Glibc
import SystemdBus

/// Which app a process belongs to, from what the kernel says and nothing the client does.
package struct AppIdentity {
    var name: String
    /// The name is one that only root can give: a system service's.
    var isVerified: Bool
    var loginSession: LoginSessionID?

    /// Longer names are cut: they appear in notices, logs and status lines.
    static let nameBytesMax = 128

    /// Reads small files of /proc; nil when the process is gone.
    static func of(_ client: BrokerClient) -> AppIdentity? {
        let group = controlGroup(client.pid)
        let command = command(client.pid)
        let membership = LoginSessions.membership(ofProcess: client.pid, user: client.uid)
        // Looked at last: while the process lives, its number was its own.
        guard client.process.isAlive else { return nil }
        let unit = unit(inControlGroup: group ?? "")
        return AppIdentity(
            name: unit.name ?? command ?? "pid-\(client.pid)", isVerified: unit.isSystem,
            loginSession: LoginSessionWatch.id(of: membership))
    }

    /// The innermost unit of a control group's path.
    ///
    /// A service of the system manager was named by root. Units of a user's own manager are named by that user, who
    /// can pass for any app with them: a name from there is no more than a claim.
    package static func unit(inControlGroup path: String) -> (name: String?, isSystem: Bool) {
        let parts = path.split(separator: "/")
        guard let unit = parts.last(where: { $0.hasSuffix(".service") || $0.hasSuffix(".scope") }) else {
            return (nil, false)
        }
        let isUsers = parts.contains { $0.hasPrefix("user@") || $0 == "user.slice" }
        if !isUsers && unit.hasSuffix(".service") { return (safe(unit), true) }
        // `session-2.scope` and `user@1000.service` say nothing about an app.
        if unit.hasPrefix("session-") || unit.hasPrefix("user@") || unit.hasPrefix("init.") { return (nil, false) }
        return (appName(unit), false)
    }

    /// `firefox` of `app-gnome-firefox-1234.scope`, as desktops name the units of applications.
    private static func appName(_ unit: Substring) -> String? {
        var name = unit.prefix { $0 != "@" }
        for suffix in [".scope", ".service"] where name.hasSuffix(suffix) { name = name.dropLast(suffix.count) }
        var words = name.split(separator: "-")
        if words.first == "app" { words.removeFirst() }
        if words.count > 1, words.last?.allSatisfy(\.isNumber) == true { words.removeLast() }
        if words.count > 1, ["gnome", "kde", "flatpak", "sway"].contains(words.first) { words.removeFirst() }
        return words.isEmpty ? nil : safe(words.joined(separator: "-")[...])
    }

    /// A name that cannot break a line of a log or of a scenario.
    static func safe(_ name: Substring) -> String {
        String(Journal.printable(String(name), keepLines: false).utf8.prefix(nameBytesMax)) ?? "app"
    }

    private static func controlGroup(_ pid: Int32) -> String? {
        text { camarb_cgroup_of(pid, $0, $1) }
    }

    private static func command(_ pid: Int32) -> String? {
        text { camarb_name_of(pid, $0, $1) }.map { safe($0[...]) }
    }

    private static func text(_ read: (UnsafeMutablePointer<CChar>, Int) -> Int) -> String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = read(&buffer, buffer.count)
        guard length > 0 else { return nil }
        return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
