import ArbiterProtocol
import CLinux
import FrameStream
import Glibc

/// Photos on their way to their files: a few are written at a time, and none is waited for.
///
/// Threading: the writer thread only.
final class PhotoDesk {
    struct Order {
        var id: PhotoID
        var envelope: Int32
        var picture: KeptPicture
        var cameraName: String
    }

    private struct Writing {
        var captured: PhotoCaptured
        var writer: FileWriter
    }

    /// Photos that are written at the same time: each is a process and a JPEG in memory.
    static let atOnceMax = 8

    private let house: FileWriters
    private let done: (PhotoCaptured) -> Void
    private var waiting: [Order] = []
    private var writing: [Writing] = []
    private lazy var jpeg = JPEGEncoder()

    /// - Parameter done: once for each order, whatever became of it.
    init(_ house: FileWriters, done: @escaping (PhotoCaptured) -> Void) {
        self.house = house
        self.done = done
    }

    var isEmpty: Bool { waiting.isEmpty && writing.isEmpty }

    func take(_ order: Order) { waiting.append(order) }

    /// Begins what may be begun, and ends what is written or hangs. Never waits.
    func turn() {
        while writing.count < Self.atOnceMax, !waiting.isEmpty { begin(waiting.removeFirst()) }
        for photo in writing { photo.writer.turn() }
        let settled = writing.filter(\.writer.isSettled)
        writing.removeAll(where: \.writer.isSettled)
        for photo in settled { finish(photo) }
    }

    /// Waits until `descriptor` can be read, a file's process answers, or one is given up.
    func wait(beside descriptor: Int32) {
        var polled = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        polled += writing.map { pollfd(fd: $0.writer.descriptor, events: $0.writer.events, revents: 0) }
        let deadline = writing.map(\.writer.deadline).min()
        _ = camarb_poll(&polled, polled.count, deadline.map { max(0, $0 - camarb_monotonic_ns()) } ?? -1)
    }

    private func begin(_ order: Order) {
        let layout = order.picture.layout
        var captured = PhotoCaptured(
            photo: order.id, width: UInt32(layout.width), height: UInt32(layout.height), bytes: 0)
        do throws(FileFault) {
            let writer = try house.start(order.envelope)
            do throws(MediaFault) {
                let exif = ExifSegment.make(make: "camarb", model: order.cameraName, seconds: Int(time(nil)))
                try jpeg.encode(order.picture.bytes, layout) { (bytes) throws(MediaFault) in
                    // The segment goes behind a JPEG's first two bytes.
                    writer.put(UnsafeRawBufferPointer(rebasing: bytes.prefix(2)), at: 0)
                    exif.withUnsafeBytes { writer.put($0, at: 2) }
                    writer.put(UnsafeRawBufferPointer(rebasing: bytes.dropFirst(2)), at: Int64(2 + exif.count))
                    captured.bytes = UInt64(bytes.count + exif.count)
                }
            } catch {
                captured.bytes = 0
                captured.error = "The photo could not be encoded: \(error.description)."
            }
            writer.wantAnswer()
            writing.append(Writing(captured: captured, writer: writer))
        } catch {
            captured.error = Self.sentence(error)
            done(captured)
        }
    }

    private func finish(_ photo: Writing) {
        var captured = photo.captured
        if let fault = photo.writer.takeFault() {
            // A part of it may have reached the file.
            photo.writer.truncate(to: 0)
            photo.writer.turn()
            captured.bytes = 0
            captured.error = captured.error ?? Self.sentence(fault)
        }
        done(captured)
    }

    private static func sentence(_ fault: FileFault) -> String { "The photo could not be written: \(fault.words)." }
}
