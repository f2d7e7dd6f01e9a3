import CLinux
import Glibc
import Synchronization
import System

/// Starts the processes that write files, and counts those that do not end.
/// Threading: one thread only, that of the writer, of a recording or of the completer: each has a house of its own.
package final class FileWriters {
    /// Processes that hang over a file, or may: with so many, no further file is begun until one of them comes back. Each
    /// costs a task of the unit's (`TasksMax=64` of camrecorder@.service) and a megabyte.
    package static let stuckMax = 4

    private let left: LeftWriters
    private let program: String?
    /// `FileWriter.answerTimeMax`, as often as it is patient.
    let answerTimeMax: Int64
    let now: () -> Int64
    /// Our end of its socket, and its pidfd.
    private var spare: (socket: Int32, process: Int32)?

    /// - Parameter patience: how many times as long as usual an answer may take; 1 but in tests.
    /// - Parameter left: of other houses, too, where all of them together may have so many that hang.
    /// - Parameter clock: the monotonic one in nanoseconds, but in tests.
    package init(
        patience: Int64 = 1, sharing left: LeftWriters = LeftWriters(),
        clock: @escaping () -> Int64 = camarb_monotonic_ns
    ) {
        self.left = left
        answerTimeMax = patience * FileWriter.answerTimeMax
        now = clock
        let own = OwnProcess.program
        // Beside camrecorder, wherever that is.
        program = own.lastIndex(of: "/").map { own[...$0] + "camwriter" }
    }

    deinit {
        if let spare {
            close(spare.socket)
            close(spare.process)
        }
    }

    /// Starts a process for a file.
    /// - Parameter envelope: this object's from here on, also when it throws.
    package func start(_ envelope: Int32, again: Bool = false) throws(FileFault) -> FileWriter {
        let isFull = left.count(letGoBefore: now() - answerTimeMax) >= Self.stuckMax
        if !isFull, let spare, camarb_pidfd_alive(spare.process) == 0 {
            close(spare.socket)
            hasLet(spare.process, kill: false)
            self.spare = nil
        }
        if !isFull { prepare() }
        guard !isFull, let (ours, process) = spare else {
            close(envelope)
            throw isFull ? .tooManyStuck : .gone
        }
        spare = nil
        return FileWriter(ours, process: process, envelope: envelope, again: again, in: self)
    }

    /// Starts a process for the next file, so that a photo does not wait until a process has begun. It has no file yet, and ends
    /// with this process.
    package func prepare() {
        guard spare == nil, let program else { return }
        var (ours, theirs): (Int32, Int32) = (-1, -1)
        guard camarb_packet_pair(&ours, &theirs) == 0 else { return }
        defer { close(theirs) }
        var number: pid_t = 0
        let process = program.withCString { path -> Int32 in
            let arguments = [strdup(path), nil]
            defer { free(arguments[0]) }
            return camarb_spawn(path, arguments, theirs, &number)
        }
        if process >= 0 { spare = (ours, process) } else { close(ours) }
    }

    /// A writer has no more orders.
    /// - Parameter kill: it did not answer. It is not waited for: where it hangs, not even this ends it.
    func hasLet(_ process: Int32, kill: Bool) {
        if kill { _ = camarb_pidfd_kill(process, SIGKILL) }
        left.add(process, since: kill ? now() - answerTimeMax : now())
    }
}

/// Processes that were let go, and had not ended when they were last looked at: of several houses together, so that files that
/// hang are counted wherever they are written. Threading: any thread.
package final class LeftWriters: Sendable {
    private struct Process {
        /// A pidfd.
        var descriptor: Int32
        var since: Int64
    }
    private let processes = Mutex<[Process]>([])

    package init() {}
    deinit { processes.withLock { for process in $0 { close(process.descriptor) } } }

    func add(_ descriptor: Int32, since: Int64) {
        processes.withLock { $0.append(Process(descriptor: descriptor, since: since)) }
    }

    /// Processes that are still there, though they were let go by then.
    func count(letGoBefore limit: Int64) -> Int {
        processes.withLock { processes in
            processes.removeAll { process in
                var ended = camarb_exit()
                guard camarb_reap(process.descriptor, &ended) != 0 else { return false }
                close(process.descriptor)
                return true
            }
            return processes.count { $0.since <= limit }
        }
    }
}
