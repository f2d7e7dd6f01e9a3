import Glibc

/// Who may read a new file; the mode of an existing one stays.
enum FileReaders: mode_t {
    case everybody = 0o644
    /// It shows which apps the machine's users have used.
    case owner = 0o600
}

func writeText(_ text: String, to path: String, for readers: FileReaders = .everybody) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readers.rawValue)
    guard descriptor >= 0 else { throw Failure.file(path, "cannot be written", errno) }
    defer { close(descriptor) }
    guard writeAll(Array(text.utf8)[...], to: descriptor) else { throw Failure.file(path, "cannot be written", errno) }
}

func writeAll(_ bytes: ArraySlice<UInt8>, to descriptor: Int32) -> Bool {
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
func writeTextAtOnce(_ text: String, to path: String, for readers: FileReaders = .everybody) throws(Failure) {
    let unfinished = "\(path).\(getpid())"
    do throws(Failure) {
        try writeText(text, to: unfinished, for: readers)
        guard rename(unfinished, path) == 0 else { throw Failure.file(path, "cannot be written", errno) }
    } catch {
        unlink(unfinished)
        throw error
    }
}

func readText(_ path: String) throws(Failure) -> String {
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

func readAll(
    _ descriptor: Int32, of name: String, upTo bytesMax: Int, else tooLarge: () -> Failure
) throws(Failure) -> [UInt8] {
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 65536)
    while true {
        let count = read(descriptor, &chunk, chunk.count)
        if count < 0, errno == EINTR { continue }
        guard count >= 0 else { throw Failure.file(name, "cannot be read", errno) }
        if count == 0 { return bytes }
        bytes += chunk[..<count]
        guard bytes.count <= bytesMax else { throw tooLarge() }
    }
}

/// A file that is read in pieces: a browser has hundreds of megabytes, of which a few hundred bytes are needed.
final class FileBytes: Sendable {
    private let descriptor: Int32

    init?(_ path: String) {
        let opened = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard opened >= 0 else { return nil }
        descriptor = opened
    }

    deinit { close(descriptor) }

    func read(at offset: UInt64, _ count: Int) -> [UInt8] {
        guard count > 0, let start = off_t(exactly: offset) else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            while filled < count {
                let got = pread(descriptor, buffer.baseAddress?.advanced(by: filled), count - filled, start + filled)
                if got < 0, errno == EINTR { continue }
                if got <= 0 { break }
                filled += got
            }
        }
    }
}

extension [UInt8] {
    /// A number of `count` bytes, the lowest first; 0 beyond the end.
    func number(at start: Int, _ count: Int) -> UInt64 {
        guard start >= 0, start + count <= self.count else { return 0 }
        return self[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}

/// The end of a path's links; nil, with the reason in `errno`, where they lead to no file.
func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

func makeFolder(_ path: String, mode: mode_t = 0o777) throws(Failure) {
    if mkdir(path, mode) != 0, errno != EEXIST { throw Failure.file(path, "cannot be made", errno) }
}

func place(of path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    return (String(path[..<slash]), String(path[path.index(after: slash)...]))
}

extension String {
    var fileName: String { place(of: self).name }
    var withoutEnding: String { String(self[..<endingAt]) }

    /// `door-2.jpg` for `door.jpg`.
    func numbered(_ number: Int) -> String { "\(self[..<endingAt])-\(number)\(self[endingAt...])" }

    private var endingAt: Index {
        let nameAt = lastIndex(of: "/").map { index(after: $0) } ?? startIndex
        // A hidden file's first dot begins its name.
        guard let dot = self[nameAt...].lastIndex(of: "."), dot > nameAt else { return endIndex }
        return dot
    }

    func inFolder(_ folder: String) -> String { folder.hasSuffix("/") ? folder + self : "\(folder)/\(self)" }

    var trimmed: String {
        let end = reversed().drop(while: \.isWhitespace).count
        return String(prefix(end).drop(while: \.isWhitespace))
    }
}
