import Glibc
import Synchronization

/// A descriptor on its way to a receiver that may be gone.
package final class PassedOn: Sendable {
    private let descriptor: Mutex<Int32>

    package init(owning descriptor: Int32) { self.descriptor = Mutex(descriptor) }

    deinit {
        let left = take()
        if left >= 0 { close(left) }
    }

    /// The caller's from now on; -1: it was taken before.
    package func take() -> Int32 {
        descriptor.withLock { descriptor in
            defer { descriptor = -1 }
            return descriptor
        }
    }
}
