import CLinux
import Glibc
import Synchronization
import System

/// Messages to a thread, in order, with a descriptor that wakes it. Any thread posts; one thread takes. What may pile
/// up in it is bounded by its senders.
final class Mailbox<Message: Sendable>: Sendable {
    /// Readable while messages may be there.
    let descriptor: Int32
    private let messages = Mutex<[Message]>([])

    init() {
        descriptor = camarb_eventfd()
        precondition(descriptor >= 0, "a recorder that cannot even make an eventfd cannot run")
    }

    deinit { close(descriptor) }

    func post(_ message: Message) {
        messages.withLock { $0.append(message) }
        _ = camarb_eventfd_signal(descriptor)
    }

    func takeAll() -> [Message] {
        _ = camarb_eventfd_drain(descriptor)
        return messages.withLock { messages in
            defer { messages = [] }
            return messages
        }
    }
}

/// A thread of our own with a body to run.
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

/// The time by which a capture takes its frames: the machine's, or one that a test has in its hand.
///
/// Only when frames are due, and what is written into them, goes by it. What waits for other processes (files, clients'
/// streams) goes by the machine's.
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
    /// - Returns: how many have something, which their `revents` say.
    func wait(for descriptors: inout [pollfd], limit: Int64) -> Int32 {
        guard case .virtual(let clock) = self else { return camarb_poll(&descriptors, descriptors.count, limit) }
        descriptors.append(pollfd(fd: clock.moved.descriptor, events: Int16(POLLIN), revents: 0))
        // What is due already is not waited for; until anything else is, the clock has to be moved.
        let ready = camarb_poll(&descriptors, descriptors.count, limit == 0 ? 0 : -1)
        guard descriptors.removeLast().revents != 0 else { return ready }
        _ = clock.moved.takeAll()
        return ready - 1
    }
}

package final class VirtualClock: Sendable {
    private let time: Mutex<Int64>
    /// Wakes the capture thread, which then sees what has become due.
    fileprivate let moved = Mailbox<Void>()

    package init(beginningAt now: Int64) { time = Mutex(now) }
    package var now: Int64 { time.withLock { $0 } }

    package func advance(by nanoseconds: Int64) {
        time.withLock { $0 += nanoseconds }
        moved.post(())
    }
}
