import Glibc
public import Trace

/// Which files are traces, whose they are, and which of them go on behind each other.
public struct TraceFiles: Sendable {
    /// Files of one broker, the oldest first: each goes on exactly where the one before ends.
    public typealias Chain = [TraceScan.Source]

    public private(set) var chains: [Chain] = []
    /// Files that hold no more than the beginning of another one of the same machine, with that one.
    public private(set) var doubles: [(path: String, of: String)] = []

    /// Deeper than any archive of traces; a folder that contains itself by a link ends somewhere.
    private static let depthMax = 16

    /// - Parameters:
    ///   - paths: traces, and folders of them; `-` is standard input.
    ///   - machine: whose they all are. Without it, a trace in a folder that was given is that of the folder below which it
    ///     lies, and a trace that was given itself is that of the folder in which it lies.
    public init(_ paths: [String], machine: String? = nil) throws(TraceError) {
        var found: [Found] = []
        for path in paths {
            if path == "-" {
                chains.append([TraceScan.Source(path: path, machine: machine)])
            } else if let inside = try Self.entries(path, 0) {
                let prefix = path.hasSuffix("/") ? path.utf8.count : path.utf8.count + 1
                for file in inside {
                    let below = String(file.dropFirst(prefix)).split(separator: "/")
                    let own = below.count > 1 ? String(below[0]) : Self.folderName(of: file)
                    found.append(Found(TraceScan.Source(path: file, machine: machine ?? own)))
                }
            } else {
                found.append(Found(TraceScan.Source(path: path, machine: machine ?? Self.folderName(of: path))))
            }
        }
        link(leaveOutDoubles(found))
    }

    private static func folderName(of path: String) -> String? {
        let parts = path.split(separator: "/").filter { $0 != "." && $0 != ".." }
        return parts.count > 1 ? String(parts[parts.count - 2]) : nil
    }

    /// All traces in and below a folder, in the order of their names; nil: it is none.
    private static func entries(_ path: String, _ depth: Int) throws(TraceError) -> [String]? {
        guard let folder = opendir(path) else {
            // What is no folder is read as a file, which says what is wrong with it.
            if errno == ENOTDIR || depth > 0 || errno == ENOENT { return nil }
            throw TraceError(
                file: path, line: nil, message: "the folder cannot be read: \(String(cString: strerror(errno)))",
                isFault: true)
        }
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if !name.hasPrefix(".") { names.append(name) }
        }
        var files: [String] = []
        for name in names.sorted() {
            let inner = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
            if depth < depthMax, let inside = try entries(inner, depth + 1) {
                files += inside
            } else if TraceReader.isTrace(path: inner) {
                files.append(inner)
            }
        }
        return files
    }

    // MARK: What goes on behind what

    /// A file's ends: enough to know which other one it goes on behind.
    private struct Found {
        var source: TraceScan.Source
        /// Its beginning.
        var head: [UInt8] = []
        var size = 0
        /// The checksum that it goes on from, and its last one.
        var follows: String?
        var sum: String?

        /// A header's members before its policy are far shorter.
        private static let headBytes = 4096

        init(_ source: TraceScan.Source) {
            self.source = source
            let descriptor = open(source.path, O_RDONLY | O_CLOEXEC)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            var status = stat()
            // A pipe has no end to look at, and nothing may be taken from it.
            guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return }
            size = Int(status.st_size)
            head = Self.part(descriptor, at: 0, Self.headBytes)
            let tail = Self.part(descriptor, at: max(0, size - 64), 64)
            if tail.last == 0x0a, tail.count > Checksum.tailBytes {
                sum = String(decoding: tail.dropLast(3).suffix(16), as: UTF8.self)
            }
            follows = Self.follows(head)
        }

        private static func part(_ descriptor: Int32, at place: Int, _ count: Int) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: count)
            let read = pread(descriptor, &bytes, count, off_t(place))
            return Array(bytes.prefix(max(0, read)))
        }

        private static func follows(_ head: [UInt8]) -> String? {
            var cursor = LineCursor(head, 0..<head.count)
            guard cursor.take(UInt8(ascii: "{")) else { return nil }
            repeat {
                guard let key = cursor.key() else { return nil }
                if cursor.isWord(key, "follows") { return cursor.string() }
                guard cursor.skip() else { return nil }
            } while cursor.take(UInt8(ascii: ","))
            return nil
        }

        /// Whether the other file has all of this one, byte for byte. All of it is read only where the beginnings are the same.
        func isBeginning(of other: Found) -> Bool {
            guard size > 0, size <= other.size, source.machine == other.source.machine else { return false }
            let files = (open(source.path, O_RDONLY | O_CLOEXEC), open(other.source.path, O_RDONLY | O_CLOEXEC))
            defer { for file in [files.0, files.1] where file >= 0 { close(file) } }
            guard files.0 >= 0, files.1 >= 0 else { return false }
            for place in stride(from: 0, to: size, by: Self.chunkBytes) {
                let count = min(Self.chunkBytes, size - place)
                let mine = Self.part(files.0, at: place, count)
                guard mine.count == count, mine == Self.part(files.1, at: place, count) else { return false }
            }
            return true
        }

        /// What is compared at a time.
        private static let chunkBytes = 1 << 20
    }

    private mutating func leaveOutDoubles(_ found: [Found]) -> [Found] {
        // By their beginnings, so that only neighbours need to be compared, with the longest first.
        var heads: [[UInt8]: Int] = [:]
        var kept: [Found] = []
        for file in found {
            guard file.size > 0 else {
                kept.append(file)
                continue
            }
            guard let place = heads[file.head] else {
                heads[file.head] = kept.count
                kept.append(file)
                continue
            }
            if file.isBeginning(of: kept[place]) {
                doubles.append((file.source.path, kept[place].source.path))
            } else if kept[place].isBeginning(of: file) {
                doubles.append((kept[place].source.path, file.source.path))
                kept[place] = file
            } else {
                kept.append(file)
            }
        }
        return kept
    }

    private mutating func link(_ files: [Found]) {
        var byEnd: [String: Int] = [:]
        for (place, file) in files.enumerated() { if let sum = file.sum { byEnd[sum] = place } }
        var next: [Int: Int] = [:]
        var isFollower = Set<Int>()
        for (place, file) in files.enumerated() {
            guard let follows = file.follows, let before = byEnd[follows], before != place, next[before] == nil else {
                continue
            }
            next[before] = place
            isFollower.insert(place)
        }
        for place in files.indices where !isFollower.contains(place) {
            var chain: Chain = [files[place].source]
            var last = place
            while let after = next.removeValue(forKey: last) {
                chain.append(files[after].source)
                last = after
            }
            chains.append(chain)
        }
    }
}
