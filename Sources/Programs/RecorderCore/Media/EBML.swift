import CLinux
import Glibc

/// Bytes of a file as its reader wants them: a few here, a few there, mostly forwards. It keeps what was fetched last,
/// so that heads which lie close together cost one fetch.
struct ByteWindow {
    /// Of the whole file, in bytes.
    let size: Int64
    private let fetch: (_ count: Int, _ offset: Int64) throws(CompletionFault) -> [UInt8]
    private var kept: [UInt8] = []
    private var keptFrom: Int64 = 0

    /// Bytes of one fetch, and the most that can be asked for at once.
    static let fetchBytes = Int(CAMARB_WRITER_READ_MAX)

    /// - Parameter fetch: gives as many bytes as there are, at most `fetchBytes`.
    init(size: Int64, fetch: @escaping (_ count: Int, _ offset: Int64) throws(CompletionFault) -> [UInt8]) {
        self.size = size
        self.fetch = fetch
    }

    init(_ bytes: [UInt8]) {
        self.init(size: Int64(bytes.count)) { (count, offset) throws(CompletionFault) in
            Array(bytes.dropFirst(Int(offset)).prefix(count))
        }
    }

    /// - Parameter count: at most `fetchBytes`; less comes at the file's end.
    mutating func bytes(_ count: Int, at offset: Int64) throws(CompletionFault) -> ArraySlice<UInt8> {
        let there = Int(min(Int64(min(count, Self.fetchBytes)), max(0, size - offset)))
        let skipped = offset - keptFrom
        if skipped < 0 || skipped + Int64(there) > Int64(kept.count) {
            kept = there == 0 ? [] : try fetch(Int(min(Int64(Self.fetchBytes), size - offset)), offset)
            keptFrom = offset
        }
        return kept.dropFirst(Int(offset - keptFrom)).prefix(there)
    }
}

/// The head of an element of EBML (RFC 8794), the form that Matroska files have: a number that says what it is, its size,
/// its body.
struct EBMLElement {
    var id: UInt32
    var start, body: Int64
    /// Nil: it is not known, and the element ends where the file does.
    var size: Int64?

    var end: Int64? { size.map { body + $0 } }

    enum Found {
        case element(EBMLElement)
        /// The file ends inside the head.
        case torn
        /// No element begins like this.
        case nonsense
    }

    /// Files of more bytes than this are not looked at: a sum of a place and a size, which has 56 bits, cannot overflow then.
    static let fileBytesMax: Int64 = 1 << 56
    /// Of a number that says what an element is, and of its size.
    private static let headBytesMax = 4 + 8

    static func at(_ start: Int64, in window: inout ByteWindow) throws(CompletionFault) -> Found {
        let head = Array(try window.bytes(headBytesMax, at: start))
        guard let first = head.first else { return .torn }
        let idBytes = first.leadingZeroBitCount + 1
        guard idBytes <= 4 else { return .nonsense }
        guard head.count > idBytes else { return .torn }
        let sizeBytes = head[idBytes].leadingZeroBitCount + 1
        guard sizeBytes <= 8 else { return .nonsense }
        guard head.count >= idBytes + sizeBytes else { return .torn }
        let id = head[..<idBytes].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        let all = head[idBytes..<(idBytes + sizeBytes)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        // The first set bit says how many bytes there are, and is no part of the number.
        let mask = (UInt64(1) << UInt64(7 * sizeBytes)) - 1
        let size = all & mask
        return .element(
            EBMLElement(
                id: id, start: start, body: start + Int64(idBytes + sizeBytes), size: size == mask ? nil : Int64(size)))
    }

    func unsigned(in window: inout ByteWindow) throws(CompletionFault) -> UInt64? {
        guard let size, size <= 8 else { return nil }
        let bytes = try window.bytes(Int(size), at: body)
        guard bytes.count == Int(size) else { return nil }
        return bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }

    /// An element whole, with as few bytes for its size as do.
    static func encode(_ id: UInt32, _ body: [UInt8]) -> [UInt8] {
        var sizeBytes = 1
        // All ones would be a size that is not known.
        while UInt64(body.count) >= (UInt64(1) << UInt64(7 * sizeBytes)) - 1 { sizeBytes += 1 }
        let size = UInt64(body.count) | UInt64(1) << UInt64(7 * sizeBytes)
        return idBytes(id) + bigEndian(size).suffix(sizeBytes) + body
    }

    /// A head with the longest form of a size, which fits whatever the body becomes: twelve bytes with an id of four.
    static func longHead(_ id: UInt32, _ size: Int64) -> [UInt8] { idBytes(id) + longSize(size) }
    static func longSize(_ size: Int64) -> [UInt8] { bigEndian(UInt64(size) | UInt64(1) << 56) }

    /// A number in as few bytes as do, at least one.
    static func encode(_ id: UInt32, _ number: UInt64) -> [UInt8] {
        encode(id, Array(bigEndian(number).suffix(max(1, 8 - number.leadingZeroBitCount / 8))))
    }

    static func bigEndian(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }

    private static func idBytes(_ id: UInt32) -> [UInt8] {
        Array(bigEndian(UInt64(id)).suffix(4 - id.leadingZeroBitCount / 8))
    }
}

/// Why a file is left as it is.
package enum CompletionFault: Error, Hashable {
    case file(FileFault)
    /// It does not look as a recording of ours does; what of it, and where in bytes.
    case foreign(String, at: Int64)
    case late

    package var words: String {
        switch self {
        case .file(.system(EACCES)): "its descriptor is open for writing only; one that can be read, too, is completed"
        case .file(.system(EBUSY)): "it is still being written by a process that hangs"
        case .file(.system(ENODATA)): "nothing was written to it"
        case .file(let fault): fault.words
        case .foreign(let what, let place): "it is no recording as they are made here: \(what), at byte \(place)"
        case .late: "looking at it took longer than \(Completer.timeMax / 1_000_000_000) s"
        }
    }
}

/// A recording's file as its completion has it: read anywhere, and then written in the order of its calls.
///
/// `FileWriter` is the real one. Another lies in memory, for tests.
package protocol LostFile: AnyObject {
    /// Waits until it is open: its size in bytes.
    func openedAgain() throws(FileFault) -> Int64
    /// As many bytes as there are, at most `CAMARB_WRITER_READ_MAX`.
    func read(_ count: Int, at offset: Int64) throws(FileFault) -> [UInt8]
    func put(_ bytes: UnsafeRawBufferPointer, at offset: Int64)
    func truncate(to offset: Int64)
    /// What was ordered so far is to be answered.
    func wantAnswer()
    /// Waits until it is answered. Returns what failed first, if anything.
    func settle() -> FileFault?
}

extension FileWriter: LostFile {}
