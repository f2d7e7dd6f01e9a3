import CMedia
import Glibc

/// A recording's file, of which every committed byte belongs to a whole frame.
///
/// libav appends to memory; `commit()` moves that to the file in one go. When the disk is full or a limit is met,
/// the file is cut back to the last commit, later appends are dropped, and places before it can still be patched:
/// so the trailer succeeds and the file plays. Writes go to an offset of their own, because the client shares the
/// descriptor's. All of it is done by another process (`FileWriter`), and a commit counts when that has answered.
/// Threading: the writer thread only.
package final class OutputFile {
    /// `nil` where none could be started.
    private let writer: FileWriter?
    /// The greatest size, in bytes.
    private let bytesMax: Int64?
    package private(set) var committed: Int64 = 0
    package private(set) var failure: FileFault?
    /// Places of the file that are patched, and that libav must not overwrite.
    var sealed: [Range<Int64>] = []
    private(set) var uncommitted: [UInt8] = []
    private var position: Int64 = 0

    /// Opens the file of an envelope in a process of its own, and empties it.
    /// - Parameter envelope: this object's from here on.
    package init(_ envelope: Int32, in house: FileWriters, bytesMax: Int64?) {
        self.bytesMax = bytesMax
        do throws(FileFault) {
            let writer = try house.start(envelope)
            self.writer = writer
            writer.wantAnswer()
            failure = writer.settle()
        } catch { (writer, failure) = (nil, error) }
    }

    private var end: Int64 { committed + Int64(uncommitted.count) }

    /// Takes bytes from libav. Nothing is refused: an error would stick to libav's context.
    func take(_ bytes: UnsafeRawBufferPointer) {
        let before = bytes.prefix(Int(min(Int64(bytes.count), max(0, committed - position))))
        if !before.isEmpty, !sealed.contains(where: { $0.contains(position) }) {
            // A patch that fails leaves the former bytes, which are playable too.
            _ = put(UnsafeRawBufferPointer(rebasing: before), at: position)
        }
        position += Int64(before.count)
        let rest = bytes.dropFirst(before.count)
        if !rest.isEmpty, failure == nil {
            let offset = Int(position - committed)
            if offset > uncommitted.count { uncommitted += repeatElement(0, count: offset - uncommitted.count) }
            let overlap = min(uncommitted.count - offset, rest.count)
            for index in 0..<overlap { uncommitted[offset + index] = rest[rest.startIndex + index] }
            uncommitted += rest.dropFirst(overlap)
        }
        position += Int64(rest.count)
    }

    /// Carries out libav's seek, `AVSEEK_SIZE` included.
    func seek(_ offset: Int64, _ whence: Int32) -> Int64 {
        switch whence & ~AVSEEK_FORCE {
        case AVSEEK_SIZE: return end
        case SEEK_CUR: position += offset
        case SEEK_END: position = end + offset
        default: position = offset
        }
        return position
    }

    /// Moves the appended bytes into the file, whole or not at all.
    /// - Returns: false when the file has come to its end; see `failure`.
    func commit() -> Bool {
        guard failure == nil else { return false }
        let isTooLong = bytesMax.map { end > $0 } ?? false
        failure = isTooLong ? .sizeLimit : uncommitted.withUnsafeBytes { put($0, at: committed) }
        if failure == nil {
            committed = end
        } else {
            // Part of a frame may have reached the file.
            writer?.truncate(to: committed)
            writer?.wantAnswer()
            _ = writer?.settle()
        }
        uncommitted.removeAll(keepingCapacity: true)
        return failure == nil
    }

    func patch(_ bytes: [UInt8], at offset: Int64) {
        guard offset >= 0, offset + Int64(bytes.count) <= committed else { return }
        _ = bytes.withUnsafeBytes { put($0, at: offset) }
    }

    /// How many bytes may still be written where the file lies; `nil` where that is not known, which does not end the recording.
    package func freeBytes() -> Int64? { try? writer?.freeBytes() }

    /// Waits until it is written: committed bytes survive this process. Returns the failure, if any.
    private func put(_ bytes: UnsafeRawBufferPointer, at offset: Int64) -> FileFault? {
        guard let writer else { return .gone }
        if bytes.isEmpty { return nil }
        writer.put(bytes, at: offset)
        writer.wantAnswer()
        return writer.settle()
    }
}

/// libav's callbacks. At file scope, so that they belong to no actor.
func outputFileWrite(_ opaque: UnsafeMutableRawPointer?, _ bytes: UnsafePointer<UInt8>?, _ count: Int32) -> Int32 {
    guard let opaque, let bytes else { return 0 }
    Unmanaged<OutputFile>.fromOpaque(opaque).takeUnretainedValue()
        .take(UnsafeRawBufferPointer(start: bytes, count: Int(count)))
    return count
}

func outputFileSeek(_ opaque: UnsafeMutableRawPointer?, _ offset: Int64, _ whence: Int32) -> Int64 {
    guard let opaque else { return -1 }
    return Unmanaged<OutputFile>.fromOpaque(opaque).takeUnretainedValue().seek(offset, whence)
}
