import CLinux
import Glibc
import Synchronization
import System

/// Commands to a thread's object, in order, with a descriptor that wakes the thread. Any thread posts; one thread runs them. Its
/// senders bound the number of commands in it.
final class Mailbox<Receiver>: Sendable {
    typealias Command = @Sendable (Receiver) -> Void

    /// Readable while commands may be there.
    let descriptor: Int32
    private let commands = Mutex<[Command]>([])

    init() {
        descriptor = camarb_eventfd()
        precondition(descriptor >= 0, "a recorder that cannot even make an eventfd cannot run")
    }

    deinit { close(descriptor) }

    func post(_ command: @escaping Command) {
        commands.withLock { $0.append(command) }
        _ = camarb_eventfd_signal(descriptor)
    }

    /// Returns whether there were any.
    @discardableResult
    func runAll(on receiver: Receiver) -> Bool {
        _ = camarb_eventfd_drain(descriptor)
        let taken = commands.withLock { commands in
            defer { commands = [] }
            return commands
        }
        for command in taken { command(receiver) }
        return !taken.isEmpty
    }

    func wait() {
        var waited = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        _ = camarb_poll(&waited, 1, -1)
    }
}

/// A thread that is joined.
final class Worker: Sendable {
    private let thread: pthread_t

    init(_ run: @escaping @Sendable () -> Void) {
        guard let thread = makeThread(run) else {
            preconditionFailure("a recorder that cannot start its threads cannot run")
        }
        self.thread = thread
    }

    func join() { pthread_join(thread, nil) }
}

/// The clock by which frames are due and stamped: the machine's, or a test's. Waits for other processes (files, clients'
/// streams) go by the machine's.
package enum CaptureClock: Sendable {
    case real
    case virtual(VirtualClock)

    /// Nanoseconds; of CLOCK_MONOTONIC, where it is real.
    var now: Int64 {
        switch self {
        case .real: camarb_monotonic_ns()
        case .virtual(let clock): clock.now
        }
    }

    /// Waits for one of the descriptors, for so many nanoseconds; below 0 for ever.
    /// - Returns: how many have something, which their `revents` contain.
    func wait(for descriptors: inout [pollfd], limit: Int64) -> Int32 {
        guard case .virtual(let clock) = self else { return camarb_poll(&descriptors, descriptors.count, limit) }
        descriptors.append(pollfd(fd: clock.moved.descriptor, events: Int16(POLLIN), revents: 0))
        // A frame that is due already is not waited for; until any other is, the clock has to be moved.
        let ready = camarb_poll(&descriptors, descriptors.count, limit == 0 ? 0 : -1)
        guard descriptors.removeLast().revents != 0 else { return ready }
        clock.moved.runAll(on: clock)
        return ready - 1
    }
}

package final class VirtualClock: Sendable {
    private let time: Mutex<Int64>
    /// Wakes the capture thread, which then sees what has become due.
    fileprivate let moved = Mailbox<VirtualClock>()

    package init(beginningAt now: Int64) { time = Mutex(now) }
    package var now: Int64 { time.withLock { $0 } }

    package func advance(by nanoseconds: Int64) {
        time.withLock { $0 += nanoseconds }
        moved.post { _ in }
    }
}
