import Glibc

/// A new file that a photo or a recording is written to.
struct OutputFile: ~Copyable {
    let descriptor: Int32
    let path: String
    /// It was not there before: so it may be taken away again.
    private let isNew: Bool

    /// - Parameter overwriting: whether a file that is there may be replaced; otherwise it is left as it is.
    ///   It loses nothing before the recorder begins to write: a request that is refused changes no file.
    /// - Throws: `.file` with what the system said.
    init(_ path: String, overwriting: Bool) throws(Failure) {
        // Readable, too: a recording that is left unfinished is completed only then.
        let created = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0o644)
        if created >= 0 {
            (descriptor, isNew) = (created, true)
        } else {
            var number = errno
            guard number == EEXIST, overwriting else {
                throw number == EEXIST
                    ? Failure(.file, "\(path) is there already; --overwrite replaces it.")
                    : Failure.file(path, "cannot be written", number)
            }
            var existing = open(path, O_RDWR | O_CLOEXEC)
            // One that this user may write and not read takes a recording all the same.
            if existing < 0, errno == EACCES { existing = open(path, O_WRONLY | O_CLOEXEC) }
            number = errno
            guard existing >= 0 else { throw Failure.file(path, "cannot be written", number) }
            (descriptor, isNew) = (existing, false)
        }
        self.path = path
    }

    deinit { close(descriptor) }

    /// Takes away a file that this made and into which nothing was written. What was there before stays, be it
    /// a file or a device.
    func removeIfEmpty() {
        var status = stat()
        if isNew, fstat(descriptor, &status) == 0, status.st_size == 0 { unlink(path) }
    }
}
