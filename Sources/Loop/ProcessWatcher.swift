import CLinux
import Glibc

/// Tells when any of many processes ends, with one source on the loop: thousands of idle clients then cost no
/// memory of the loop's for it.
public final class ProcessWatcher {
    private let group: Int32
    private var source: IOSource?

    /// - Parameter onEnd: Gets the tag of a process that has ended, again and again until it is removed.
    public init(on loop: EventLoop, onEnd: @escaping (UInt64) -> Void) throws(SystemFault) {
        group = camarb_group_new()
        try check(group, "watch processes")
        let group = group
        source = try loop.addIO(group, .readable) { _ in
            var tags = [UInt64](repeating: 0, count: 64)
            let count = camarb_group_ready(group, &tags, Int32(tags.count))
            for tag in tags.prefix(max(0, Int(count))) { onEnd(tag) }
        }
    }

    deinit {
        source?.cancel()
        if group >= 0 { close(group) }
    }

    public func add(_ process: ProcessHandle, tag: UInt64) throws(SystemFault) {
        try check(camarb_group_add(group, process.descriptor, tag), "watch a process")
    }

    /// Before the handle is released.
    public func remove(_ process: ProcessHandle) { _ = camarb_group_remove(group, process.descriptor) }
}
