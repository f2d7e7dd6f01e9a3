public import ArbiterProtocol
import CLinux
import Glibc
public import System

/// Where a broker listens.
public enum SocketAddress {
    public static let system = "/run/camarb/socket"

    /// `$XDG_RUNTIME_DIR/camarb/socket`; nil outside a login session.
    public static var user: String? { environment("XDG_RUNTIME_DIR").map { $0 + "/camarb/socket" } }

    /// Paths to try, in order: what `$CAMARB_SOCKET` says and nothing else, or the user's broker, then the system's.
    public static var candidates: [String] {
        if let said = environment("CAMARB_SOCKET") { return [said] }
        return [user, system].compactMap { $0 }
    }

    /// The path in a D-Bus address of the form `unix:path=/run/…` (with `%2f` escapes), or a plain path.
    public static func path(of address: String) throws(BrokerError) -> String {
        // Also from here: before the first slash an address has its transport and a colon.
        if let slash = address.firstIndex(of: "/"), !address[..<slash].contains(":") { return address }
        guard address.hasPrefix("unix:") else {
            throw BrokerError(
                .invalidValue,
                "\"\(address)\" is not a socket address: \"unix:path=/run/camarb/socket\" or a path is expected.")
        }
        for pair in address.dropFirst(5).split(separator: ",") where pair.hasPrefix("path=") {
            return pair.dropFirst(5).unescaped(behind: "%")
        }
        throw BrokerError(.invalidValue, "\"\(address)\" names no path: \"unix:path=/run/camarb/socket\" does.")
    }

    /// The sockets in the addresses of a message bus, which are separated by semicolons: `unix:path=…`, and
    /// `unix:abstract=…` as a name behind an at sign. Others, such as TCP's, are left out.
    static func busPaths(in addresses: String) -> [String] {
        addresses.split(separator: ";").compactMap { address in
            guard address.hasPrefix("unix:") else { return address.hasPrefix("/") ? String(address) : nil }
            for pair in address.dropFirst(5).split(separator: ",") {
                if pair.hasPrefix("path=") { return pair.dropFirst(5).unescaped(behind: "%") }
                if pair.hasPrefix("abstract=") { return "@" + pair.dropFirst(9).unescaped(behind: "%") }
            }
            return nil
        }
    }

    /// A connected, non-blocking descriptor, the caller's.
    public static func connect(toPath path: String) throws(SystemFault) -> Int32 {
        let result = camarb_unix_connect(path)
        try check(result, "connect to \(path)")
        return result
    }

    /// The same; throws EAGAIN where connecting would have to wait.
    package static func connectNow(toPath path: String) throws(SystemFault) -> Int32 {
        let result = camarb_unix_connect_now(path)
        try check(result, "connect to \(path)")
        return result
    }

    /// A connected descriptor.
    /// - Throws: `.disconnected` with a sentence that tells "nothing is there" from "nobody answers" and "not allowed", and
    ///   from a listener that is neither root's nor this user's where anybody may listen.
    package static func connect(_ address: String?) throws(BrokerError) -> Int32 {
        let paths = if let address { [try path(of: address)] } else { try candidates.map(path(of:)) }
        var sentences: [String] = []
        for path in paths {
            let result = camarb_unix_connect(path)
            if result >= 0 {
                guard let strange = strangeListener(result, at: path) else { return result }
                close(result)
                sentences.append(strange)
                continue
            }
            switch -result {
            case ENOENT, ENOTDIR:
                sentences.append("There is no broker's socket at \(path): camarbd has not been started.")
            case ECONNREFUSED where !isSocket(path):
                sentences.append("\(path) is not a socket; a broker's is a file such as /run/camarb/socket.")
            case ECONNREFUSED:
                sentences.append(
                    "The socket \(path) is there, but nobody listens: camarbd has ended (systemctl status camarbd).")
            case let number:
                sentences.append("Connecting to \(path) failed: \(SystemFault("connect", number).reason).")
            }
        }
        throw BrokerError(.disconnected, sentences.joined(separator: " "))
    }

    private static func isSocket(_ path: String) -> Bool {
        var status = stat()
        return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK
    }

    /// Who listens in a broker's place, as a sentence: in a folder such as `/tmp` the first to come has a name, and any user
    /// may be that. Nil where it is root or this user, or where not everybody may make a socket.
    private static func strangeListener(_ connected: Int32, at path: String) -> String? {
        guard isForAnybody(path) else { return nil }
        var user: uid_t = 0
        guard camarb_listener_of(connected, &user) < 0 || user != 0 && user != geteuid() else { return nil }
        return "At \(path), where any user may listen, it is user \(user): neither root nor you. "
            + "Let camarbd listen in a folder of its own, such as $XDG_RUNTIME_DIR/camarb."
    }

    /// Whether anybody may give a socket of his own this name, as in a folder whose entries only their owners take away.
    private static func isForAnybody(_ path: String) -> Bool {
        if path.hasPrefix("@") { return true }
        var folder = stat()
        let parent = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) } ?? "."
        return stat(parent, &folder) == 0 && folder.st_mode & S_ISVTX != 0
    }
}
