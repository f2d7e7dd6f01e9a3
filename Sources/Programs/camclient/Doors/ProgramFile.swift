import CLinux
import Glibc

/// What a program's file says of it, without running it: how it is loaded, with which libraries, and which words are in it.
struct ProgramFile {
    enum Kind: Hashable {
        /// Loaded by the program loader, which the door needs.
        case dynamic
        case isStatic
        case foreign
        case script(interpreter: String)
        case other
    }

    var path: String
    var kind = Kind.other
    var libraries: [String] = []
    /// It has rights that its user has not, and the program loader preloads nothing into it.
    var isPrivileged = false

    /// Tables that are longer are no program loader's.
    private static let tableBytesMax = 16 << 20
    private static let headersMax = 128

    init?(path: String) {
        self.path = path
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o111 != 0 else {
            return nil
        }
        isPrivileged = status.st_mode & (S_ISUID | S_ISGID) != 0 || camarb_file_has_capabilities(path)
        guard let file = FileBytes(path) else { return nil }
        let head = file.read(at: 0, 256)
        if head.starts(with: "#!".utf8) {
            let line = head.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
            let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
            // `env` looks for the program in PATH; its own flags stand between.
            let named = words.first?.fileName == "env" ? words.dropFirst().first { !$0.hasPrefix("-") } : words.first
            kind = .script(interpreter: named ?? "")
        } else if head.starts(with: [0x7f, 0x45, 0x4c, 0x46]) {
            readLinks(file, head)
        }
    }

    private static var machine: UInt64 {
        #if arch(x86_64)
            62
        #elseif arch(arm64)
            183
        #else
            0
        #endif
    }

    private mutating func readLinks(_ file: borrowing FileBytes, _ head: [UInt8]) {
        // 64 bits, lowest byte first, this processor: the door's own library is no other.
        guard head.count >= 64, head[4] == 2, head[5] == 1, head.number(at: 18, 2) == Self.machine else {
            kind = .foreign
            return
        }
        let size = Int(head.number(at: 54, 2))
        let count = min(Int(head.number(at: 56, 2)), Self.headersMax)
        guard size >= 56 else { return }
        let table = file.read(at: head.number(at: 32, 8), size * count)
        var loads: [(address: UInt64, offset: UInt64, bytes: UInt64)] = []
        var dynamic: [UInt8] = []
        kind = .isStatic
        for start in stride(from: 0, to: table.count - size + 1, by: size) {
            let offset = table.number(at: start + 8, 8)
            let bytes = table.number(at: start + 32, 8)
            switch table.number(at: start, 4) {
            case 1: loads.append((table.number(at: start + 16, 8), offset, bytes))
            case 2: dynamic = file.read(at: offset, Int(min(bytes, UInt64(Self.tableBytesMax))))
            case 3: kind = .dynamic
            default: break
            }
        }
        var needed: [Int] = []
        var names = (address: UInt64(0), bytes: UInt64(0))
        for start in stride(from: 0, to: dynamic.count - 15, by: 16) {
            let value = dynamic.number(at: start + 8, 8)
            switch dynamic.number(at: start, 8) {
            case 1: needed.append(Int(truncatingIfNeeded: value))
            case 5: names.address = value
            case 10: names.bytes = value
            default: break
            }
        }
        guard let load = loads.first(where: { names.address >= $0.address && names.address - $0.address < $0.bytes })
        else { return }
        let text = file.read(
            at: load.offset &+ (names.address - load.address), Int(min(names.bytes, UInt64(Self.tableBytesMax))))
        libraries = needed.filter { text.indices.contains($0) }.map { start in
            String(decoding: text[start...].prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    func names(_ words: [String], within bytesMax: Int) -> String? {
        guard let file = FileBytes(path) else { return nil }
        let bytes = file.read(at: 0, bytesMax)
        return words.first { bytes.has($0) }
    }
}

/// A file that is read in pieces: a browser has hundreds of megabytes, of which a few hundred bytes are asked for.
struct FileBytes: ~Copyable {
    private let descriptor: Int32

    init?(_ path: String) {
        descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        if descriptor < 0 { return nil }
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
    fileprivate func number(at start: Int, _ count: Int) -> UInt64 {
        guard start >= 0, start + count <= self.count else { return 0 }
        return self[start..<start + count].reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    fileprivate func has(_ word: String) -> Bool {
        withUnsafeBytes { camarb_bytes_have($0.baseAddress, $0.count, word) }
    }
}
