import CLinux
import Glibc

/// A process, named so that its number's reuse cannot deceive: by a pidfd.
public final class ProcessHandle {
    /// Readable once the process is gone. Valid while the handle lives.
    public let descriptor: Int32
    /// Takes over a pidfd, also one that another process sent of itself: trust that as far as its sender.
    public init(owning descriptor: Int32) { self.descriptor = descriptor }
    /// Nil when there is no such process.
    public convenience init?(opening pid: Int32) {
        guard pid > 0 else { return nil }
        let descriptor = camarb_pidfd_open(pid)
        guard descriptor >= 0 else { return nil }
        self.init(owning: descriptor)
    }
    deinit { close(descriptor) }

    /// A pidfd of this process, to send to another. The caller's to close.
    public static func descriptorOfThisProcess() throws(SystemFault) -> Int32 {
        let descriptor = camarb_pidfd_open(getpid())
        try check(descriptor, "name this process")
        return descriptor
    }

    public var isAlive: Bool { camarb_pidfd_alive(descriptor) != 0 }
    /// False when the process is gone already.
    @discardableResult
    public func signal(_ number: Int32) -> Bool { camarb_pidfd_kill(descriptor, number) == 0 }
}

/// What the kernel says about who connected a socket.
public struct PeerCredentials {
    public var pid: Int32
    public var uid: UInt32
    public var gid: UInt32
    public var process: ProcessHandle
    /// The kernel is too old to name the process itself: its number was looked up a moment later.
    public var isWeak: Bool

    /// - Throws: when the peer cannot be named, also because it is gone: refuse it then.
    public init(ofSocket descriptor: Int32) throws(SystemFault) {
        var peer = camarb_peer()
        try check(camarb_peer_of_socket(descriptor, &peer), "tell who connected")
        pid = peer.pid
        uid = peer.uid
        gid = peer.gid
        process = ProcessHandle(owning: peer.pidfd)
        isWeak = peer.weak != 0
    }

    /// The path of the peer's control group; nil when it cannot be read or the peer is gone.
    public var controlGroup: String? {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = camarb_cgroup_of(pid, &buffer, buffer.count)
        // Looked at afterwards: while the process lives its number was its own.
        guard length >= 0, process.isAlive else { return nil }
        return String(decoding: buffer.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// A child that was started with one descriptor.
public final class ChildProcess {
    public enum Ending: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
    }

    public let pid: Int32
    public let handle: ProcessHandle
    private var source: IOSource?
    private var onEnd: ((Ending) -> Void)?

    /// Starts the program with `descriptor` as its descriptor 3. SIGTERM reaches it when this process dies.
    /// A file that cannot be executed after all ends with status 127.
    /// - Parameter onEnd: Called once, on the loop's thread, when it has ended and was reaped.
    public init(
        path: String, arguments: [String], passing descriptor: Int32, on loop: EventLoop,
        onEnd: @escaping (Ending) -> Void
    ) throws(SystemFault) {
        guard access(path, X_OK) == 0 else { throw SystemFault("start \(path)", errno) }
        var pointers: [UnsafeMutablePointer<CChar>?] = ([path] + arguments).map { strdup($0) }
        pointers.append(nil)
        var number: pid_t = 0
        let result = camarb_spawn(path, pointers, descriptor, &number)
        for pointer in pointers { free(pointer) }
        try check(result, "start \(path)")
        pid = number
        handle = ProcessHandle(owning: result)
        self.onEnd = onEnd
        do throws(SystemFault) {
            source = try loop.addIO(result, .readable) { [unowned self] _ in self.reap() }
        } catch {
            handle.signal(SIGKILL)
            throw error
        }
    }

    deinit { source?.cancel() }

    @discardableResult
    public func signal(_ number: Int32) -> Bool { handle.signal(number) }

    private func reap() {
        var ended = camarb_exit()
        let result = camarb_reap(handle.descriptor, &ended)
        if result == 0 { return }
        source?.cancel()
        let told = onEnd
        onEnd = nil
        told?(ended.signal_number != 0 ? .signalled(ended.signal_number) : .exited(ended.status))
    }
}
