import ArbiterProtocol
import CLinux
import CMedia
package import FrameStream
import Glibc

/// A photo that is not simply its frame: drawn on the photos' thread, so that no frame waits for it.
package struct DrawnPhoto: Sendable {
    package let layout: PictureLayout
    package let draw: @Sendable (UnsafeMutableRawBufferPointer) throws(MediaFault) -> Void

    package init(
        _ layout: PictureLayout, draw: @escaping @Sendable (UnsafeMutableRawBufferPointer) throws(MediaFault) -> Void
    ) {
        (self.layout, self.draw) = (layout, draw)
    }
}

/// An ordered photo. Its file is an envelope, and the writer's to close in the end.
struct PhotoOrder: Sendable {
    enum Picture: Sendable {
        case frame(KeptPicture)
        case drawn(DrawnPhoto)
    }

    let id: PhotoID
    let envelope: Int32
    let picture: Picture
    let plan: PhotoPlan
    let cameraName: String
    /// Since 1970.
    let seconds: Int
}

/// Photos on their way from their frames to the writer: drawn where they have to be, and encoded, one after the other.
/// It has a thread of its own: a large photo takes as long as several frames, and neither capturing nor recording waits
/// for it. It pauses while the writer has `PhotoDesk.atOnceMax` of its photos, each of which is a JPEG in memory.
final class PhotoLab {
    private let commands: Mailbox<PhotoLab>
    private let writer: Mailbox<WriterLoop>
    private var isStopping = false
    private var waiting: [PhotoOrder] = []
    private var beingWritten = 0
    /// Kept while there is work: its memory is as large as the largest photo.
    private var jpeg: JPEGEncoder?

    init(_ commands: Mailbox<PhotoLab>, writer: Mailbox<WriterLoop>) {
        (self.commands, self.writer) = (commands, writer)
    }

    func take(_ order: PhotoOrder) { waiting.append(order) }
    func isWritten() { beingWritten -= 1 }
    func stop() { isStopping = true }

    private var mayBegin: Bool { !waiting.isEmpty && beingWritten < PhotoDesk.atOnceMax }

    func run() {
        while !isStopping || !waiting.isEmpty {
            if waiting.isEmpty { jpeg = nil }
            if !mayBegin { commands.wait() }
            commands.runAll(on: self)
            if mayBegin {
                beingWritten += 1
                let photo = develop(waiting.removeFirst())
                writer.post { $0.write(photo) }
            }
        }
        writer.post { $0.stop() }
    }

    private func develop(_ order: PhotoOrder) -> PhotoDesk.Order {
        var captured = PhotoCaptured(photo: order.id, width: 0, height: 0, bytes: 0, metadata: order.plan.metadata)
        var bytes: [UInt8] = []
        do throws(MediaFault) {
            bytes = try encoded(order, &captured)
            captured.bytes = UInt64(bytes.count)
        } catch {
            captured.error = "The photo could not be encoded: \(error.description)."
            captured.metadata = nil
        }
        return PhotoDesk.Order(envelope: order.envelope, bytes: bytes, captured: captured)
    }

    private func encoded(_ order: PhotoOrder, _ captured: inout PhotoCaptured) throws(MediaFault) -> [UInt8] {
        switch order.picture {
        case .frame(let picture): return try encoded(picture.bytes, picture.layout, order, &captured)
        case .drawn(let photo):
            // Freed after each: large ones are rare.
            let memory = try allocated("drawing a photo", malloc(photo.layout.bytes))
            defer { free(memory) }
            let bytes = UnsafeMutableRawBufferPointer(start: memory, count: photo.layout.bytes)
            try photo.draw(bytes)
            return try encoded(UnsafeRawBufferPointer(bytes), photo.layout, order, &captured)
        }
    }

    private func encoded(
        _ picture: UnsafeRawBufferPointer, _ layout: PictureLayout, _ order: PhotoOrder, _ captured: inout PhotoCaptured
    ) throws(MediaFault) -> [UInt8] {
        (captured.width, captured.height) = (UInt32(layout.width), UInt32(layout.height))
        let exif = ExifSegment.make(
            make: "camarb", model: order.cameraName, seconds: order.seconds, width: layout.width,
            height: layout.height, order.plan)
        let encoder = jpeg ?? JPEGEncoder()
        jpeg = encoder
        return try encoder.encode(picture, layout) { (jpeg) throws(MediaFault) in
            // The segment goes behind a JPEG's first two bytes.
            var bytes: [UInt8] = []
            bytes.reserveCapacity(jpeg.count + exif.count)
            bytes += jpeg.prefix(2)
            bytes += exif
            bytes += jpeg.dropFirst(2)
            return bytes
        }
    }
}

/// Photos on their way to their files: a few are written at a time, and none is waited for. Threading: the writer
/// thread only.
final class PhotoDesk {
    struct Order: Sendable {
        let envelope: Int32
        /// The whole file; none where the photo could not be made.
        let bytes: [UInt8]
        let captured: PhotoCaptured
    }

    /// Photos that are written at the same time: each is a process and a JPEG in memory.
    static let atOnceMax = 8

    private let house: FileWriters
    private let done: (PhotoCaptured) -> Void
    private var waiting: [Order] = []
    private var writing: [(captured: PhotoCaptured, writer: FileWriter)] = []

    /// - Parameter done: once for each order, whatever became of it.
    init(_ house: FileWriters, done: @escaping (PhotoCaptured) -> Void) { (self.house, self.done) = (house, done) }

    var isEmpty: Bool { waiting.isEmpty && writing.isEmpty }
    func take(_ order: Order) { waiting.append(order) }

    /// Begins what may be begun, and ends what is written or hangs. Never waits.
    func turn() {
        while writing.count < Self.atOnceMax, !waiting.isEmpty { begin(waiting.removeFirst()) }
        for photo in writing { photo.writer.turn() }
        let settled = writing.filter(\.writer.isSettled)
        writing.removeAll(where: \.writer.isSettled)
        for (captured, writer) in settled { finish(captured, writer) }
    }

    /// Waits until `descriptor` can be read, a file's process answers, or one is given up.
    func wait(beside descriptor: Int32) {
        var polled = [pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)]
        polled += writing.map { pollfd(fd: $0.writer.descriptor, events: $0.writer.events, revents: 0) }
        let deadline = writing.map(\.writer.deadline).min()
        _ = camarb_poll(&polled, polled.count, deadline.map { max(0, $0 - house.now()) } ?? -1)
    }

    private func begin(_ order: Order) {
        do throws(FileFault) {
            let writer = try house.start(order.envelope)
            order.bytes.withUnsafeBytes { writer.put($0, at: 0) }
            writer.wantAnswer()
            writing.append((order.captured, writer))
        } catch { fail(order.captured, error) }
    }

    private func finish(_ captured: PhotoCaptured, _ writer: FileWriter) {
        guard let fault = writer.takeFault() else { return done(captured) }
        // A part of it may have reached the file.
        writer.truncate(to: 0)
        writer.turn()
        fail(captured, fault)
    }

    private func fail(_ photo: PhotoCaptured, _ fault: FileFault) {
        var captured = photo
        (captured.bytes, captured.metadata) = (0, nil)
        captured.error = captured.error ?? "The photo could not be written: \(fault.words)."
        done(captured)
    }
}
