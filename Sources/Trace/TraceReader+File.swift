import Glibc

extension TraceReader {
    /// Whether a file begins like a trace, for commands that take scenarios too: one of those never begins with a brace.
    /// False for what is no file, or cannot be read.
    public static func isTrace(path: String) -> Bool {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        var first: UInt8 = 0
        // Of a pipe nothing is taken: it has no byte at a place.
        return pread(descriptor, &first, 1, 0) == 1 && first == UInt8(ascii: "{")
    }

    static func load(_ path: String) throws(TraceError) -> [UInt8] {
        func fault(_ message: String, isFault: Bool = true) -> TraceError {
            TraceError(file: path, line: nil, message: message, isFault: isFault)
        }
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault("the file cannot be read: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var line = (number: 1, begin: 0)
        var chunk = [UInt8](repeating: 0, count: 1 << 20)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fault("the file cannot be read: \(String(cString: strerror(errno)))") }
            if count == 0 { return bytes }
            for (place, byte) in chunk[..<count].enumerated() where byte == UInt8(ascii: "\n") {
                line = (line.number + 1, bytes.count + place + 1)
            }
            bytes += chunk[..<count]
            // Nobody need wait for the rest of what is no trace.
            guard bytes.count - line.begin <= lineBytesMax else {
                throw TraceError(file: path, line: line.number, message: tooLong)
            }
            guard bytes.count <= fileBytesMax else {
                throw fault(
                    "the file is larger than \(fileBytesMax) bytes; camarbd makes several files instead",
                    isFault: false)
            }
        }
    }
}
