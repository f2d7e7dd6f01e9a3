import Glibc
import Synchronization

package struct RegularFile {
    package var bytes: [UInt8]
    /// The same for every name of the file.
    package var identity: Identity

    package struct Identity: Hashable {
        package var device: UInt64
        package var inode: UInt64
    }

    /// The end of a sentence that begins with "it".
    package struct Fault: Error { package var words: String }

    /// The folder outside of which nothing is read; `nil` for no bound but the process's rights. Once for the whole
    /// process, so that no way to a file, an include of an include or a camera's model, can be forgotten.
    private static let confinement = Mutex<String?>(nil)

    /// - Returns: whether there is such a folder.
    package static func confine(to folder: String) -> Bool {
        guard let path = resolved(folder) else { return false }
        confinement.withLock { $0 = path == "/" ? "/" : path + "/" }
        return true
    }

    private static func resolved(_ path: String) -> String? {
        guard let resolved = realpath(path, nil) else { return nil }
        defer { free(resolved) }
        return String(cString: resolved)
    }

    package static func read(_ path: String) throws(Fault) -> RegularFile {
        var path = path
        if let folder = confinement.withLock({ $0 }) {
            // A file outside and a missing one give one answer, so that nobody learns which files exist.
            guard let real = resolved(path), real.hasPrefix(folder) else {
                throw Fault(words: "is not in the folder that was given")
            }
            path = real
        }
        // Without O_NONBLOCK a named pipe would hold the broker up until somebody writes to it. Standard input may be a
        // pipe.
        let isInput = path == "-" || path == "/dev/stdin"
        let descriptor = isInput ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw Fault(words: "cannot be opened: \(reason)") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, isInput || status.st_mode & S_IFMT == S_IFREG else {
            throw Fault(words: "is not a regular file")
        }
        let identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        var bytes: [UInt8] = []
        let isRead = readEach(of: descriptor) { chunk in
            bytes += chunk
            return bytes.count <= FileBounds.bytesMax
        }
        guard isRead else { throw Fault(words: "cannot be read: \(reason)") }
        guard bytes.count <= FileBounds.bytesMax else {
            throw Fault(words: "is larger than such a file may be: \(FileBounds.bytesMax) bytes")
        }
        return RegularFile(bytes: bytes, identity: identity)
    }

    /// Reads a file of any kind, or standard input for `-`, until `take` returns false.
    /// - Returns: false where that failed, with the reason in `errno`.
    package static func readEach(
        _ path: String, chunkBytes: Int = 1 << 16, _ take: (ArraySlice<UInt8>) -> Bool
    ) -> Bool {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        return readEach(of: descriptor, chunkBytes: chunkBytes, take)
    }

    package static func readEach(
        of descriptor: Int32, chunkBytes: Int = 1 << 14, _ take: (ArraySlice<UInt8>) -> Bool
    ) -> Bool {
        var chunk = [UInt8](repeating: 0, count: chunkBytes)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            if count <= 0 || !take(chunk[..<count]) { return count >= 0 }
        }
    }

    /// In the order of their names' bytes; hidden files are an editor's. `nil` when there is no such folder.
    package static func dropIns(_ folder: String) throws(Fault) -> [String]? {
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
            guard names.count <= FileBounds.filesMax else {
                throw Fault(words: "has more files than are read of a folder: \(FileBounds.filesMax)")
            }
            errno = 0
        }
        guard errno == 0 else { throw Fault(words: "cannot be read: \(reason)") }
        return names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private static var reason: String { String(cString: strerror(errno)) }
}

/// The bounds of a file that people write: a policy, a camera. Each keeps the length of messages, or the cost of
/// reading, in proportion.
package enum FileBounds {
    /// A hundred times a long policy. Counts for all files of a policy together, too.
    package static let bytesMax = 1 << 20
    /// The parser and the destructors of its tree recurse once a dotted key, and a line bounds those: a longer line is
    /// refused before anything is parsed.
    package static let lineBytesMax = 1024
    /// The files of a folder, or the includes of one file: more than a person can keep in mind.
    package static let filesMax = 64
    /// A name is part of every verdict, log line and notice.
    package static let nameBytesMax = 120

    /// The complaint about a text for people, as the end of a sentence; `nil` for a good one.
    package static func complaint(_ text: String, emptyAllowed: Bool = false, bytesMax: Int = nameBytesMax) -> String? {
        if text.isEmpty { return emptyAllowed ? nil : "is empty" }
        if text.utf8.count > bytesMax { return "has \(text.utf8.count) bytes; it takes at most \(bytesMax)" }
        if !text.unicodeScalars.allSatisfy(\.isPrintable) {
            return "is \(Wording.quoted(text)); it takes one line without control characters"
        }
        return nil
    }
}
