import Glibc
import Trace

/// The lines of a file, one after the other, in the memory of one line: a fleet's traces are larger than any machine's.
struct LineStream: ~Copyable {
    private let descriptor: Int32
    private let path: String
    /// Where the last line is.
    private(set) var bytes: [UInt8]
    private var begin = 0
    private var filled = 0
    private var isWhole = false
    /// Of the last line, from 1.
    private(set) var number = 0
    /// Bytes stood behind the last line feed: the file ends in the middle of a line.
    private(set) var isTorn = false

    /// A system call for each of these costs nothing beside reading it; a line that is longer makes the buffer grow.
    private static let chunkBytes = 1 << 20

    init(_ path: String) throws(TraceError) {
        descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        self.path = path
        bytes = [UInt8](repeating: 0, count: Self.chunkBytes)
        guard descriptor >= 0 else { throw fault() }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    private func fault() -> TraceError {
        TraceError(
            file: path, line: nil, message: "the file cannot be read: \(String(cString: strerror(errno)))",
            isFault: true)
    }

    /// Where the next line is in `bytes`, without its line feed; nil at the end.
    mutating func next() throws(TraceError) -> Range<Int>? {
        var searched = begin
        while true {
            if let end = lineFeed(from: searched) {
                defer { begin = end + 1 }
                number += 1
                return begin..<end
            }
            searched = filled
            if isWhole {
                isTorn = filled > begin
                if isTorn { number += 1 }
                return nil
            }
            guard filled - begin <= TraceReader.lineBytesMax else {
                throw TraceError(file: path, line: number + 1, message: TraceReader.tooLong)
            }
            searched -= makeRoom()
            try fill()
        }
    }

    private func lineFeed(from place: Int) -> Int? {
        bytes.withUnsafeBytes { all in
            guard place < filled, let base = all.baseAddress,
                let found = memchr(base + place, 0x0a, filled - place)
            else { return nil }
            return base.distance(to: found)
        }
    }

    /// - Returns: by how much what is there has moved to the front.
    private mutating func makeRoom() -> Int {
        let moved = begin
        if begin > 0 {
            bytes.withUnsafeMutableBytes { all in
                guard let base = all.baseAddress else { return }
                memmove(base, base + begin, filled - begin)
            }
            (begin, filled) = (0, filled - begin)
        }
        if filled == bytes.count { bytes += [UInt8](repeating: 0, count: bytes.count) }
        return moved
    }

    private mutating func fill() throws(TraceError) {
        while true {
            let (from, room) = (filled, bytes.count - filled)
            let count = bytes.withUnsafeMutableBytes { all in
                all.baseAddress.map { read(descriptor, $0 + from, room) } ?? 0
            }
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fault() }
            filled += count
            isWhole = count == 0
            return
        }
    }
}
