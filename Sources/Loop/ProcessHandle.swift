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

    /// The number of the process behind a descriptor that somebody sent; nil when that is no pidfd, or names no process
    /// that is there and can be seen. Asks the kernel alone, whatever the descriptor is.
    public static func process(behind descriptor: Int32) -> Int32? {
        let number = camarb_pidfd_process(descriptor)
        return number > 0 ? number : nil
    }

    public var isAlive: Bool { camarb_pidfd_alive(descriptor) != 0 }
    /// False when the process is gone already.
    @discardableResult
    public func signal(_ number: Int32) -> Bool { camarb_pidfd_kill(descriptor, number) == 0 }
}
