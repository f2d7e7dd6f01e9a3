import CLinux
import Glibc
import Synchronization

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

    /// Everything posted so far, the oldest first.
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

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    init(_ run: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { opaque in
                if let opaque { Unmanaged<Body>.fromOpaque(opaque).takeRetainedValue().run() }
                return nil
            }, Unmanaged.passRetained(Body(run)).toOpaque())
        precondition(result == 0, "a recorder that cannot start its threads cannot run")
        self.thread = thread
    }

    /// Waits until the body has returned. Once only.
    func join() { pthread_join(thread, nil) }
}
