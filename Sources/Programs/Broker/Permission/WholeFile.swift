import Glibc
import System

/// A file that is read and written as a whole: a process that is killed meanwhile leaves the old one or the new one.
enum WholeFile {
    /// - Returns: at most `bytesMax` bytes; `nil` where there is no file.
    static func read(_ path: String, atMost bytesMax: Int) throws(SystemFault) -> [UInt8]? {
        // A FIFO of that name would make the broker wait for its writer, for ever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return nil }
        guard descriptor >= 0 else { throw SystemFault("open \(path)", errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemFault("stat \(path)", errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SystemFault("read \(path), which is not a regular file", EINVAL)
        }
        var bytes = [UInt8](repeating: 0, count: min(bytesMax, max(0, Int(status.st_size))))
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw SystemFault("read \(path)", errno) }
        return Array(bytes.prefix(count))
    }

    /// Replaces the file. Only this process may read it, and a file of its name and `.new` is written over.
    static func write(_ text: String, to path: String) throws(SystemFault) {
        let unfinished = path + ".new"
        let descriptor = open(unfinished, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0o600)
        guard descriptor >= 0 else { throw SystemFault("open \(unfinished)", errno) }
        let bytes = Array(text.utf8)
        let written = Glibc.write(descriptor, bytes, bytes.count)
        // Fewer than were given: the disk is full.
        var trouble = written == bytes.count ? 0 : written < 0 ? errno : ENOSPC
        close(descriptor)
        if trouble == 0, rename(unfinished, path) != 0 { trouble = errno }
        guard trouble != 0 else { return }
        unlink(unfinished)
        throw SystemFault("write \(path)", trouble)
    }

    /// Waits until the file, and its name in its folder, outlive the machine. A disk takes its time: not on a loop.
    static func sync(_ path: String) throws(SystemFault) {
        try sync(opened: path)
        try syncFolder(of: path)
    }

    /// The same for the names in the folder alone.
    static func syncFolder(of path: String) throws(SystemFault) {
        try sync(opened: String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]))
    }

    private static func sync(opened path: String) throws(SystemFault) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { throw SystemFault("open \(path)", errno) }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw SystemFault("fsync \(path)", errno) }
    }
}
