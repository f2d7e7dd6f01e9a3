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
        self.layout = layout
        self.draw = draw
    }
}

/// What one photo is made of. Its file is an envelope, and the writer's to close in the end.
struct PhotoOrder: Sendable {
    enum Picture: Sendable {
        case frame(KeptPicture)
        case drawn(DrawnPhoto)
    }

    var id: PhotoID
    var envelope: Int32
    var picture: Picture
    var plan: PhotoPlan
    var cameraName: String
    /// Since 1970.
    var seconds: Int
}

/// Photos on their way from their frames to the writer: drawn where they have to be, and encoded, one after the other.
/// It has a thread of its own: a large photo takes as long as several frames, and neither capturing nor recording waits
/// for it. It goes on while the writer has only so many of its photos, each of which is a JPEG in memory.
final class PhotoLab {
    enum Work: Sendable {
        case take(PhotoOrder)
        case isWritten
        case stop
    }

    private let mailbox: Mailbox<Work>
    private let writer: Mailbox<WriterWork>
    private var waiting: [PhotoOrder] = []
    private var beingWritten = 0
    /// Kept while there is work: its memory is as large as the largest photo.
    private var jpeg: JPEGEncoder?

    init(_ mailbox: Mailbox<Work>, writer: Mailbox<WriterWork>) {
        self.mailbox = mailbox
        self.writer = writer
    }

    func run() {
        var isStopping = false
        while !isStopping || !waiting.isEmpty {
            let mayBegin = !waiting.isEmpty && beingWritten < PhotoDesk.atOnceMax
            if !mayBegin {
                jpeg = waiting.isEmpty ? nil : jpeg
                var waited = pollfd(fd: mailbox.descriptor, events: Int16(POLLIN), revents: 0)
                _ = camarb_poll(&waited, 1, -1)
            }
            for work in mailbox.takeAll() {
                switch work {
                case .take(let order): waiting.append(order)
                case .isWritten: beingWritten -= 1
                case .stop: isStopping = true
                }
            }
            if beingWritten < PhotoDesk.atOnceMax, !waiting.isEmpty {
                beingWritten += 1
                writer.post(.photo(develop(waiting.removeFirst())))
            }
        }
        writer.post(.stop)
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
            guard let memory = malloc(photo.layout.bytes) else {
                throw MediaFault("drawing a photo", camarb_AVERROR_ENOMEM)
            }
            defer { free(memory) }
            let bytes = UnsafeMutableRawBufferPointer(start: memory, count: photo.layout.bytes)
            try photo.draw(bytes)
            return try encoded(UnsafeRawBufferPointer(bytes), photo.layout, order, &captured)
        }
    }

    private func encoded(
        _ picture: UnsafeRawBufferPointer, _ layout: PictureLayout, _ order: PhotoOrder, _ captured: inout PhotoCaptured
    ) throws(MediaFault) -> [UInt8] {
        captured.width = UInt32(layout.width)
        captured.height = UInt32(layout.height)
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
