import Glibc

/// Who may read a new file; one that is there keeps what its owner said.
enum FileReaders {
    case everybody
    /// It says which apps somebody has used, or all users.
    case owner

    var mode: mode_t { self == .owner ? 0o600 : 0o644 }
}

func writeText(_ text: String, to path: String, for readers: FileReaders = .everybody) throws(Failure) {
    let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readers.mode)
    guard descriptor >= 0 else { throw Failure.file(path, "cannot be written", errno) }
    defer { close(descriptor) }
    guard writeAll(Array(text.utf8)[...], to: descriptor) else { throw Failure.file(path, "cannot be written", errno) }
}

/// - Returns: false where the system takes no more, for the reason in `errno`.
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

/// The same in one step: a reader meanwhile sees the old file or the new one.
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
    // A day's log is a few megabytes; what is larger is no log.
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

/// Where a path leads, behind all links; nil, with the reason in `errno`, where it leads nowhere.
func resolved(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}

func makeFolder(_ path: String, mode: mode_t = 0o777) throws(Failure) {
    if mkdir(path, mode) != 0, errno != EEXIST { throw Failure.file(path, "cannot be made", errno) }
}
