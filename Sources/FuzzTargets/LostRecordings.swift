import CLinux
import RecorderCore

/// Recordings whose recorder core was lost, as anybody may have changed them since.
extension FuzzTarget {
    /// A file that is refused is as it was, byte for byte; one that was completed is complete to whoever looks again; one
    /// whose completion was lost as well, at any of its writes, is completed as it would have been; and past the deadline
    /// nothing is written.
    static func lostRecording(_ input: [UInt8]) {
        let bytes = expanded(input.dropFirst())
        // How far: of the writes, and of the looks at the clock.
        let stage = Int(input.first ?? 0)
        let file = FileInMemory(bytes)
        let whole = completed(file)
        if let whole {
            precondition(whole.bytes == Int64(file.bytes.count), "A completed file has another size than is said.")
            let first = file.bytes
            let again = completed(file)
            precondition(again == whole, "Completed again, a file has \(String(describing: again)), not \(whole).")
            precondition(file.bytes == first, "A file that is complete was changed.")
            let torn = FileInMemory(bytes, ordersMax: stage % 16)
            _ = completed(torn)
            let mended = completed(FileInMemory(torn.bytes))
            precondition(
                mended?.frames == whole.frames && mended?.duration == whole.duration,
                "A completion that was cut after \(stage % 16) writes leaves \(String(describing: mended)), not \(whole)."
            )
        }
        let late = FileInMemory(bytes)
        var looks: Int64 = 0
        let hurried = completed(late, until: Int64(stage)) {
            looks += 1
            return looks
        }
        precondition(hurried == whole || hurried == nil && late.bytes == bytes, "A late completion changed its file.")
    }

    /// - Returns: nil where it was refused, and nothing was written then.
    private static func completed(
        _ file: FileInMemory, until deadline: Int64 = 1, clock: @escaping () -> Int64 = { 0 }
    ) -> RecordingCompletion.Result? {
        let before = file.bytes
        do throws(CompletionFault) {
            return try RecordingCompletion.complete(file, until: deadline, clock: clock)
        } catch {
            precondition(file.bytes == before, "A file that was refused was changed: \(error.words)")
            return nil
        }
    }

    /// A recording's header has rooms of kilobytes with nothing in them: a mark and two bytes, the greater first, stand for so
    /// many zeros.
    private static func expanded(_ input: some Collection<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = Array(input)[...]
        while let byte = rest.popFirst() {
            guard byte == zerosMark[0], rest.first == zerosMark[1], rest.count >= 3, bytes.count < fileBytesMax else {
                bytes.append(byte)
                continue
            }
            let count = rest.dropFirst().prefix(2).reduce(0) { $0 << 8 | Int($1) }
            bytes += repeatElement(0, count: count)
            rest = rest.dropFirst(3)
        }
        return bytes
    }
    private static let zerosMark: [UInt8] = [0xde, 0xad]
    private static let fileBytesMax = 1 << 20
}

/// A file of a lost recording that is no file.
private final class FileInMemory: LostFile {
    private(set) var bytes: [UInt8]
    /// Writes that are still done: all behind them are lost with whoever writes.
    private var ordersLeft: Int

    init(_ bytes: [UInt8], ordersMax: Int = .max) {
        self.bytes = bytes
        ordersLeft = ordersMax
    }

    func openedAgain() -> Int64 { Int64(bytes.count) }

    func read(_ count: Int, at offset: Int64) -> [UInt8] {
        precondition(offset >= 0 && count <= Int(CAMARB_WRITER_READ_MAX), "\(count) bytes at \(offset) were asked for.")
        return Array(bytes.dropFirst(Int(offset)).prefix(count))
    }

    func put(_ new: UnsafeRawBufferPointer, at offset: Int64) {
        guard isDone() else { return }
        precondition(0...Int64(bytes.count) ~= offset, "Bytes were written at \(offset), behind the end.")
        let place = Int(offset)
        let end = min(place + new.count, bytes.count)
        bytes.replaceSubrange(place..<end, with: new)
    }

    func truncate(to offset: Int64) {
        guard isDone() else { return }
        precondition(0...Int64(bytes.count) ~= offset, "The file was cut at \(offset), behind its end.")
        bytes.removeLast(bytes.count - Int(offset))
    }

    func wantAnswer() {}
    func settle() -> FileFault? { nil }

    private func isDone() -> Bool {
        ordersLeft -= 1
        return ordersLeft >= 0
    }
}
