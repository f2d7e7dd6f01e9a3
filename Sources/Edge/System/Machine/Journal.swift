import CSystemd
import Glibc

/// Structured journal entries where standard error is the journal, else one line a message on standard error.
public struct Journal: Sendable {
    public enum Priority: Int, Sendable {
        case error = 3
        case warning = 4
        case notice = 5
        case info = 6
        case debug = 7
    }

    /// Values of a field beyond this many bytes are cut: names come from outside, a journal is finite.
    public static let fieldBytesMax = 8192

    public let identifier: String
    public let isJournal: Bool
    /// Messages less urgent than this are dropped when standard error is no journal.
    public var threshold: Priority = .info

    public init(identifier: String) {
        self.identifier = identifier
        isJournal = Journal.standardErrorIsJournal
    }

    /// - Parameter fields: upper-case names such as `CAMARB_DECISION`.
    public func send(_ priority: Priority, _ message: String, _ fields: [(name: String, value: String)] = []) {
        guard isJournal else {
            if priority.rawValue > threshold.rawValue { return }
            var text = identifier + ": " + Journal.printable(message, keepLines: false) + "\n"
            text.withUTF8 { bytes in _ = write(2, bytes.baseAddress, bytes.count) }
            return
        }
        var lines = ["MESSAGE=" + message, "PRIORITY=\(priority.rawValue)", "SYSLOG_IDENTIFIER=" + identifier]
        for (name, value) in fields {
            lines.append(name + "=" + String(decoding: value.utf8.prefix(Journal.fieldBytesMax), as: UTF8.self))
        }
        let buffers = lines.map { line in
            let bytes = Array(line.utf8)
            let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
            buffer.copyBytes(from: bytes)
            return buffer
        }
        defer { for buffer in buffers { buffer.deallocate() } }
        let vectors = buffers.map { iovec(iov_base: $0.baseAddress, iov_len: $0.count) }
        // A journal that does not answer must not stop a broker.
        _ = sd_journal_sendv(vectors, Int32(vectors.count))
    }

    /// Control characters from outside (names, titles) would let a peer write lines of its own.
    public static func printable(_ text: String, keepLines: Bool) -> String {
        var result = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar.value >= 0x20 && scalar.value != 0x7f && !(0x80..<0xa0).contains(scalar.value) {
                result.append(scalar)
            } else {
                result.append(scalar == "\n" && keepLines ? "\n" : " ")
            }
        }
        return String(result)
    }

    /// The service manager gives the device and inode that it connected to the journal.
    private static var standardErrorIsJournal: Bool {
        guard let said = getenv("JOURNAL_STREAM") else { return false }
        var status = stat()
        guard fstat(2, &status) == 0 else { return false }
        return String(cString: said) == "\(status.st_dev):\(status.st_ino)"
    }
}

/// Messages between a daemon and its service manager. Does nothing without a manager.
public enum ServiceManager {
    /// `READY=1`, with a line for `systemctl status`.
    public static func ready(status: String) { notify("READY=1\nSTATUS=" + oneLine(status)) }
    public static func status(_ status: String) { notify("STATUS=" + oneLine(status)) }
    public static func reloading() { notify("RELOADING=1\nMONOTONIC_USEC=\(EventLoop.now / 1000)") }
    public static func stopping() { notify("STOPPING=1") }

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
