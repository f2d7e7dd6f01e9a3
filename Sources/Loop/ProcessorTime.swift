import CSystemd
import Glibc

/// A stretch of the calling thread's processor time: a machine under load uses it up no faster than an idle one.
public struct ProcessorTime: Sendable {
    private let end: Int64

    /// - Parameter nanoseconds: from now on, on the thread that asks.
    public init(_ nanoseconds: Int64) { end = Self.now + nanoseconds }

    /// To be asked on the same thread.
    public var isLeft: Bool { Self.now < end }

    /// Nanoseconds that the calling thread has used.
    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
