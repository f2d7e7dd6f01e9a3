import CSystemd
import Glibc
import Loop

/// What a daemon and its service manager say to each other. Does nothing where there is no manager.
public enum ServiceManager {
    /// `READY=1`, with a line for `systemctl status`.
    public static func ready(status: String) { notify("READY=1\nSTATUS=" + oneLine(status)) }
    public static func status(_ status: String) { notify("STATUS=" + oneLine(status)) }
    public static func reloading() {
        notify("RELOADING=1\nMONOTONIC_USEC=\(EventLoop.now / 1000)")
    }
    public static func stopping() { notify("STOPPING=1") }

    /// Whether there is one to talk to.
    public static var isPresent: Bool { getenv("NOTIFY_SOCKET") != nil }

    /// The listening Unix stream sockets that were passed at the start, close-on-exec. Call once.
    public static func listeners() -> [Int32] {
        let count = sd_listen_fds(1)
        guard count > 0 else { return [] }
        return (3..<3 + count).filter { sd_is_socket($0, AF_UNIX, Int32(SOCK_STREAM.rawValue), 1) > 0 }
    }

    private static func notify(_ state: String) { _ = sd_notify(0, state) }

    /// A name with a line break must not become a state of its own.
    private static func oneLine(_ text: String) -> String {
        String(String.UnicodeScalarView(text.unicodeScalars.map { $0.value < 0x20 ? " " : $0 }))
    }
}
