import Glibc

/// A policy's file as bytes.
struct RegularFile {
    var bytes: [UInt8]
    /// The same for every name that the file goes by.
    var identity: Identity

    struct Identity: Hashable {
        var device: UInt64
        var inode: UInt64
    }

    /// What is wrong with a file, as the end of a sentence that begins with "it".
    struct Fault: Error {
        var words: String
    }

    /// Reads a regular file of at most `Bounds.fileBytesMax` bytes.
    static func read(_ path: String) throws(Fault) -> RegularFile {
        // Without O_NONBLOCK a named pipe would hold the broker up until somebody writes to it.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw Fault(words: "cannot be opened: \(reason)") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw Fault(words: "is not a regular file")
        }
        let identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw Fault(words: "cannot be read: \(reason)") }
            if count == 0 { return RegularFile(bytes: bytes, identity: identity) }
            bytes += chunk[..<count]
            guard bytes.count <= Bounds.fileBytesMax else {
                throw Fault(words: "is larger than a policy may be: \(Bounds.fileBytesMax) bytes")
            }
        }
    }

    /// The `*.toml` of a folder, in the order of their names' bytes, so that every machine reads them in one order.
    /// Hidden files are an editor's, not drop-ins. Nil when there is no such folder.
    static func dropIns(_ folder: String) throws(Fault) -> [String]? {
        guard let stream = opendir(folder) else {
            if errno == ENOENT { return nil }
            throw Fault(words: "cannot be opened: \(reason)")
        }
        defer { closedir(stream) }
        var names: [String] = []
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name.hasSuffix(".toml"), !name.hasPrefix(".") { names.append(name) }
            guard names.count <= Bounds.filesMax else {
                throw Fault(words: "has more drop-ins than a policy may have: \(Bounds.filesMax)")
            }
            errno = 0
        }
        guard errno == 0 else { throw Fault(words: "cannot be read: \(reason)") }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static var reason: String { String(cString: strerror(errno)) }
}
