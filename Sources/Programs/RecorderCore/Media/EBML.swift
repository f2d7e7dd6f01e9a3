import CLinux
import Glibc

/// Bytes of a file for a reader that wants a few here and there, mostly forwards. It keeps the last fetch, so that heads which
/// lie close together cost one fetch. Threading: one thread at a time.
final class ByteWindow {
    /// Of the whole file, in bytes.
    let size: Int64
    private let fetch: (_ count: Int, _ offset: Int64) throws(CompletionFault) -> [UInt8]
    private var kept: [UInt8] = []
    private var keptFrom: Int64 = 0

    /// Bytes of one fetch, and the most that can be read at once.
    static let fetchBytes = Int(CAMARB_WRITER_READ_MAX)

    /// - Parameter fetch: gives as many bytes as there are, at most `fetchBytes`.
    init(size: Int64, fetch: @escaping (_ count: Int, _ offset: Int64) throws(CompletionFault) -> [UInt8]) {
        (self.size, self.fetch) = (size, fetch)
    }

    convenience init(_ bytes: [UInt8]) {
        self.init(size: Int64(bytes.count)) { (count, offset) throws(CompletionFault) in
            Array(bytes.dropFirst(Int(offset)).prefix(count))
        }
    }

    /// - Parameter count: at most `fetchBytes`; less comes at the file's end.
    func bytes(_ count: Int, at offset: Int64) throws(CompletionFault) -> ArraySlice<UInt8> {
        let there = Int(min(Int64(min(count, Self.fetchBytes)), max(0, size - offset)))
        let skipped = offset - keptFrom
        if skipped < 0 || skipped + Int64(there) > Int64(kept.count) {
            kept = there == 0 ? [] : try fetch(Int(min(Int64(Self.fetchBytes), size - offset)), offset)
            keptFrom = offset
        }
        return kept.dropFirst(Int(offset - keptFrom)).prefix(there)
    }

    // MARK: Elements

    /// `nil` where the file ends inside the element's head.
    func element(at start: Int64) throws(CompletionFault) -> EBMLElement? {
        let head = Array(try bytes(EBMLElement.headBytesMax, at: start))
        guard let first = head.first else { return nil }
        let idBytes = first.leadingZeroBitCount + 1
        guard idBytes <= 4 else { throw .foreign("no element", at: start) }
        guard head.count > idBytes else { return nil }
        let sizeBytes = head[idBytes].leadingZeroBitCount + 1
        guard sizeBytes <= 8 else { throw .foreign("no element", at: start) }
        guard head.count >= idBytes + sizeBytes else { return nil }
        // The first set bit tells how many bytes there are, and is no part of the number.
        let mask = (UInt64(1) << UInt64(7 * sizeBytes)) - 1
        let size = head[idBytes..<(idBytes + sizeBytes)].bigEndian & mask
        return EBMLElement(
            id: UInt32(head[..<idBytes].bigEndian), start: start, body: start + Int64(idBytes + sizeBytes),
            size: size == mask ? nil : Int64(size))
    }

    /// An element that ends in the file.
    func whole(at place: Int64) throws(CompletionFault) -> EBMLElement {
        guard let element = try element(at: place), element.end <= size else {
            throw .foreign("no whole element", at: place)
        }
        return element
    }

    func children(of parent: EBMLElement) throws(CompletionFault) -> [EBMLElement] {
        var children: [EBMLElement] = []
        var place = parent.body
        while place < parent.end {
            let child = try whole(at: place)
            guard child.end <= parent.end, children.count < EBMLElement.childrenMax else {
                throw .foreign("an element that leaves its parent", at: place)
            }
            children.append(child)
            place = child.end
        }
        return children
    }

    func unsigned(_ element: EBMLElement) throws(CompletionFault) -> UInt64? {
        guard let size = element.size, size <= 8 else { return nil }
        let bytes = try bytes(Int(size), at: element.body)
        return bytes.count == Int(size) ? bytes.bigEndian : nil
    }
}

extension Sequence<UInt8> {
    /// The number that bytes in this order are.
    var bigEndian: UInt64 { reduce(0) { $0 << 8 | UInt64($1) } }
}

/// The head of an EBML element (RFC 8794), of which Matroska files consist: its ID and its size, before its body.
struct EBMLElement {
    let id: UInt32
    let start, body: Int64
    /// `nil` where it is not known: the element ends where the file does.
    let size: Int64?
    var end: Int64 { size.map { body + $0 } ?? .max }

    /// Files of more bytes than this are not looked at: a sum of a place and a size, which has 56 bits, cannot overflow then.
    static let fileBytesMax: Int64 = 1 << 56
    /// Of an ID and a size.
    fileprivate static let headBytesMax = 4 + 8
    /// Elements in one list of a header: libav writes nine, and a loop has a bound.
    static let childrenMax = 64

    /// A whole element, with the shortest form of its size.
    static func encode(_ id: UInt32, _ body: [UInt8]) -> [UInt8] {
        var sizeBytes = 1
        // All ones would be a size that is not known.
        while UInt64(body.count) >= (UInt64(1) << UInt64(7 * sizeBytes)) - 1 { sizeBytes += 1 }
        let size = UInt64(body.count) | UInt64(1) << UInt64(7 * sizeBytes)
        return idBytes(id) + bigEndian(size).suffix(sizeBytes) + body
    }

    /// A number in its shortest form, of at least one byte.
    static func encode(_ id: UInt32, _ number: UInt64) -> [UInt8] {
        encode(id, Array(bigEndian(number).suffix(max(1, 8 - number.leadingZeroBitCount / 8))))
    }

    /// A head with the longest form of a size, which fits whatever the body becomes: twelve bytes with an ID of four.
    static func longHead(_ id: UInt32, _ size: Int64) -> [UInt8] { idBytes(id) + longSize(size) }
    static func longSize(_ size: Int64) -> [UInt8] { bigEndian(UInt64(size) | UInt64(1) << 56) }
    static func bigEndian(_ number: UInt64) -> [UInt8] { withUnsafeBytes(of: number.bigEndian) { Array($0) } }
    static func idBytes(_ id: UInt32) -> [UInt8] { Array(bigEndian(UInt64(id)).suffix(4 - id.leadingZeroBitCount / 8)) }
}

/// Why a file is left as it is.
package enum CompletionFault: Error, Hashable {
    case file(FileFault)
    /// It is no recording of ours: a clause, and the place in bytes.
    case foreign(String, at: Int64)
    case late

    package var words: String {
        switch self {
        case .file(.system(EACCES)): "its descriptor is open for writing only; one that can be read, too, is completed"
        case .file(.system(EBUSY)): "it is still being written by a process that hangs"
        case .file(.system(ENODATA)): "nothing was written to it"
        case .file(let fault): fault.words
        case .foreign(let what, let place): "it is not a recording as they are made here: \(what), at byte \(place)"
        case .late: "looking at it took longer than \(Completer.timeMax / 1_000_000_000) s"
        }
    }
}

/// A recording's file for its completion: read anywhere, and then written in the order of its calls. `FileWriter` is the real
/// one; tests have one in memory.
package protocol LostFile: AnyObject {
    /// Waits until it is open: its size in bytes.
    func openedAgain() throws(FileFault) -> Int64
    /// As many bytes as there are, at most `CAMARB_WRITER_READ_MAX`.
    func read(_ count: Int, at offset: Int64) throws(FileFault) -> [UInt8]
    func put(_ bytes: UnsafeRawBufferPointer, at offset: Int64)
    func truncate(to offset: Int64)
    /// The orders so far are to be answered.
    func wantAnswer()
    /// Waits until they are answered. Returns the first failure, if any.
    func settle() -> FileFault?
}

extension FileWriter: LostFile {}
