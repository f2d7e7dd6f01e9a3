import Glibc

/// A new file that a photo or a recording is written to.
struct OutputFile: ~Copyable {
    let descriptor: Int32
    let path: String

    /// - Parameter overwriting: whether a file that is there may be replaced; otherwise it is left as it is.
    /// - Throws: `.file` with what the system said.
    init(_ path: String, overwriting: Bool) throws(Failure) {
        let flags = O_WRONLY | O_CREAT | O_CLOEXEC | (overwriting ? O_TRUNC : O_EXCL)
        descriptor = open(path, flags, 0o644)
        if descriptor < 0 {
            let number = errno
            throw number == EEXIST
                ? Failure(.file, "\(path) is there already; --overwrite replaces it.")
                : Failure.file(path, "cannot be written", number)
        }
        self.path = path
    }

    deinit { close(descriptor) }

    /// Takes away a file into which nothing was written.
    func removeIfEmpty() {
        var status = stat()
        if fstat(descriptor, &status) == 0, status.st_size == 0 { unlink(path) }
    }
}
