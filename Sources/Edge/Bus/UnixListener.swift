import CLinux
import Glibc
public import System

/// A listening Unix stream socket on an event loop.
///
/// It keeps one descriptor in reserve. When the process has none left, a connection that waits would wake the
/// loop for ever (half a million times in a second, measured): the reserve is closed, the connection accepted and
/// refused by closing it, and the reserve taken again.
public final class UnixListener {
    /// Connections that wait to be accepted. The kernel's own bound (`somaxconn`) may be lower.
    public static let backlog: Int32 = 128
    /// Accepted in one pass of the loop, so that a flood of connections leaves time for those that are there: a connection
    /// costs some 0.2 ms until it is served or refused, and with 32 of them somebody else's call took 20 ms.
    public static let acceptsPerTurnMax = 4
    /// Nanoseconds until the next try when not even the reserve helped.
    public static let pause: Int64 = 100_000_000

    public let path: String?
    private let descriptor: Int32
    private let loop: EventLoop
    private let onConnection: (Int32) -> Void
    private let onRefused: (SystemFault) -> Void
    private var source: IOSource?
    private var resume: Timer?
    private var reserve: Int32
    private var boundInode: UInt64?

    /// Binds and listens. A socket file that nobody listens on is replaced; anything else in the way is an error.
    /// - Parameter onConnection: Gets a connected, non-blocking descriptor and owns it.
    /// - Parameter onRefused: A connection was refused for want of descriptors.
    public convenience init(
        path: String, on loop: EventLoop, onRefused: @escaping (SystemFault) -> Void,
        onConnection: @escaping (Int32) -> Void
    ) throws(SystemFault) {
        if UnixListener.inode(path) != nil {
            let probe = camarb_unix_probe(path)
            if probe != -ECONNREFUSED {
                throw SystemFault("listen on \(path), where \(Self.listener(path)) listens already", EADDRINUSE)
            }
        } else if access(path, F_OK) == 0 {
            throw SystemFault("listen on \(path), where there is something else", EADDRINUSE)
        }
        // Under another name until it listens: whoever sees the socket can connect to it, and a socket that was left
        // behind is replaced in one step.
        let unfinished = path + ".\(getpid())"
        unlink(unfinished)
        let result = camarb_unix_listen(unfinished, UnixListener.backlog)
        try check(result, "listen on \(path)")
        // Everybody may connect: whom it serves is decided from what the kernel says about the peer.
        chmod(unfinished, 0o666)
        if rename(unfinished, path) != 0 {
            let fault = SystemFault("listen on \(path)", errno)
            unlink(unfinished)
            close(result)
            throw fault
        }
        try self.init(adopting: result, path: path, on: loop, onRefused: onRefused, onConnection: onConnection)
        boundInode = UnixListener.inode(path)
    }

    /// Takes over a socket that listens already, such as one from the service manager.
    public init(
        adopting descriptor: Int32, path: String? = nil, on loop: EventLoop,
        onRefused: @escaping (SystemFault) -> Void, onConnection: @escaping (Int32) -> Void
    ) throws(SystemFault) {
        self.descriptor = descriptor
        self.path = path
        self.loop = loop
        self.onConnection = onConnection
        self.onRefused = onRefused
        reserve = UnixListener.openReserve()
        // One passed in may be blocking, and a peer that gives up between wake and accept would then block us.
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        source = try loop.addIO(descriptor, .readable) { [unowned self] _ in self.accept() }
    }

    /// The process that listens there, as far as the kernel tells: the one that made the socket listen.
    private static func listener(_ path: String) -> String {
        let connected = camarb_unix_connect_now(path)
        guard connected >= 0 else { return "another process" }
        defer { close(connected) }
        var user: uid_t = 0
        let process = camarb_listener_of(connected, &user)
        guard process > 0 else { return "another process" }
        var name = [CChar](repeating: 0, count: 64)
        guard camarb_name_of(process, &name, name.count) >= 0 else { return "process \(process)" }
        let word = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return "\(word) (process \(process))"
    }

    deinit {
        source?.cancel()
        close(descriptor)
        if reserve >= 0 { close(reserve) }
        // Only what is still ours: another broker may have taken the name meanwhile.
        if let path, let boundInode, UnixListener.inode(path) == boundInode { unlink(path) }
    }

    private func accept() {
        for _ in 0..<UnixListener.acceptsPerTurnMax {
            let accepted = camarb_unix_accept(descriptor)
            if accepted >= 0 {
                onConnection(accepted)
                continue
            }
            switch -accepted {
            case EAGAIN: return
            case EINTR, ECONNABORTED, EPROTO: continue
            default:
                refuseOne(SystemFault("accept a connection", accepted))
                return
            }
        }
    }

    private func refuseOne(_ fault: SystemFault) {
        onRefused(fault)
        if reserve >= 0 {
            close(reserve)
            reserve = -1
            let refused = camarb_unix_accept(descriptor)
            if refused >= 0 { close(refused) }
            reserve = UnixListener.openReserve()
            if refused >= 0 && reserve >= 0 { return }
        }
        // Somebody else took the descriptor at once, or it was not for want of descriptors.
        source?.cancel()
        source = nil
        if resume == nil { resume = try? loop.addTimer { [unowned self] in self.listenAgain() } }
        resume?.arm(at: EventLoop.now + UnixListener.pause)
    }

    private func listenAgain() {
        if reserve < 0 { reserve = UnixListener.openReserve() }
        source = try? loop.addIO(descriptor, .readable) { [unowned self] _ in self.accept() }
        if source == nil { resume?.arm(at: EventLoop.now + UnixListener.pause) }
    }

    private static func openReserve() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }

    private static func inode(_ path: String) -> UInt64? {
        var status = stat()
        return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFSOCK ? UInt64(status.st_ino) : nil
    }
}

/// Two connected Unix stream sockets.
public enum UnixPair {
    /// Close-on-exec and non-blocking; both are the caller's.
    public static func make() throws(SystemFault) -> (Int32, Int32) {
        var ends: [Int32] = [-1, -1]
        try check(camarb_unix_pair(&ends), "make a pair of sockets")
        return (ends[0], ends[1])
    }
}
