import CLinux
import Glibc

/// A process, named so that its number's reuse cannot deceive: by a pidfd.
public final class ProcessHandle {
    /// Readable once the process is gone. Valid while the handle lives.
    public let descriptor: Int32
    /// Takes over a pidfd, also one that another process sent of itself: trust that as far as its sender.
    public init(owning descriptor: Int32) { self.descriptor = descriptor }
    /// `nil` when there is no such process.
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

    /// The number of the process behind a received descriptor; `nil` when that is no pidfd, or names no process that is
    /// there and visible. Asks the kernel alone, whatever the descriptor is.
    public static func process(behind descriptor: Int32) -> Int32? {
        let number = camarb_pidfd_process(descriptor)
        return number > 0 ? number : nil
    }

    public var isAlive: Bool { camarb_pidfd_alive(descriptor) != 0 }
    /// False when the process is gone already.
    @discardableResult
    public func signal(_ number: Int32) -> Bool { camarb_pidfd_kill(descriptor, number) == 0 }
}

/// Reports when any of many processes ends, with one source on the loop: idle clients cost no memory of the loop's.
public final class ProcessWatcher {
    private let group: Int32
    private var source: IOSource?

    /// - Parameter onEnd: receives the tag of a process that has ended, again and again until it is removed.
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

/// Settings of the own process.
public enum OwnProcess {
    /// The file that this process runs; where that was replaced, the one in its place.
    public static var program: String {
        var buffer = [CChar](repeating: 0, count: 4096)
        let length = camarb_own_program(&buffer, buffer.count)
        let path = String(decoding: buffer.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let mark = " (deleted)"
        return path.hasSuffix(mark) ? String(path.dropLast(mark.count)) : path
    }

    /// From here on no other process of its user can read its memory, trace it, or take its descriptors
    /// (`pidfd_getfd`); root still can. It leaves no core. Child processes are not bound by it.
    public static func forbidInspection() throws(SystemFault) {
        try check(camarb_forbid_inspection(), "keep others out of this process")
    }
}
