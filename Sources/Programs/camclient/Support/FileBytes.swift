import Glibc

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

extension String {
    var withoutEnding: String { String(self[..<endingAt]) }

    /// `door-2.jpg` for `door.jpg`.
    func numbered(_ number: Int) -> String { "\(self[..<endingAt])-\(number)\(self[endingAt...])" }

    private var endingAt: Index {
        let nameAt = lastIndex(of: "/").map { index(after: $0) } ?? startIndex
        // A hidden file's first dot begins its name.
        guard let dot = self[nameAt...].lastIndex(of: "."), dot > nameAt else { return endIndex }
        return dot
    }

    var trimmed: String {
        let end = reversed().drop(while: \.isWhitespace).count
        return String(prefix(end).drop(while: \.isWhitespace))
    }
}
