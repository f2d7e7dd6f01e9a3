import CLinux
import Glibc

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
