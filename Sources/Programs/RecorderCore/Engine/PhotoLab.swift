import ArbiterProtocol
import FrameStream
import Glibc

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
