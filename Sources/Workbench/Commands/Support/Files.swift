package import Glibc
import TomlFile

/// Who may read a new file; the mode of an existing one stays.
package enum FileReaders: mode_t {
    case everybody = 0o644
    /// It shows which apps the machine's users have used.
    case owner = 0o600
}

package func writeText(_ text: String, to path: String, for readers: FileReaders = .everybody) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readers.rawValue)
    guard descriptor >= 0 else { throw Failure.file(path, "cannot be written", errno) }
    defer { close(descriptor) }
    guard writeAll(Array(text.utf8)[...], to: descriptor) else { throw Failure.file(path, "cannot be written", errno) }
}

package func writeAll(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
    var rest = bytes
    while !rest.isEmpty {
        let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
        if count < 0, errno == EINTR { continue }
        if count <= 0 { return false }
        rest = rest.dropFirst(count)
    }
    return true
}

/// Writes a file in one step: a reader meanwhile sees the old file or the new one.
package func writeTextAtOnce(_ text: String, to path: String, for readers: FileReaders = .everybody) throws(Failure) {
    let unfinished = "\(path).\(getpid())"
    do throws(Failure) {
        try writeText(text, to: unfinished, for: readers)
        guard rename(unfinished, path) == 0 else { throw Failure.file(path, "cannot be written", errno) }
    } catch {
        unlink(unfinished)
        throw error
    }
}

package func readText(_ path: String) throws(Failure) -> String {
    let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw Failure.file(path, "cannot be read", errno) }
    defer { close(descriptor) }
    // A day's log is a few megabytes.
    let bytesMax = 256 << 20
    let bytes = try readAll(descriptor, of: path, upTo: bytesMax) {
        Failure(.file, "\(path) is larger than \(bytesMax) bytes.")
    }
    return String(decoding: bytes, as: UTF8.self)
}

package func readAll(
    _ descriptor: Int32, of name: String, upTo bytesMax: Int, else tooLarge: () -> Failure
) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    let isRead = RegularFile.readEach(of: descriptor) { chunk in
        bytes += chunk
        return bytes.count <= bytesMax
    }
    guard isRead else { throw Failure.file(name, "cannot be read", errno) }
    guard bytes.count <= bytesMax else { throw tooLarge() }
    return bytes
}

/// The names in a folder, hidden ones too, and which of them are folders.
package func entries(of path: String, named shown: String? = nil) throws(Failure) -> [(name: String, isFolder: Bool)] {
    guard let folder = opendir(path) else { throw Failure.file(shown ?? path, "cannot be read", errno) }
    defer { closedir(folder) }
    var found: [(name: String, isFolder: Bool)] = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        found.append((name, entry.pointee.d_type == UInt8(DT_DIR)))
    }
    return found
}

package func makeFolder(_ path: String, mode: mode_t = 0o777) throws(Failure) {
    if mkdir(path, mode) != 0, errno != EEXIST { throw Failure.file(path, "cannot be made", errno) }
}

package func place(of path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    return (String(path[..<slash]), String(path[path.index(after: slash)...]))
}

extension String {
    package var fileName: String { place(of: self).name }

    package func inFolder(_ folder: String) -> String { folder.hasSuffix("/") ? folder + self : "\(folder)/\(self)" }
}
