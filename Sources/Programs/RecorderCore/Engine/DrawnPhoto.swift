import ArbiterProtocol
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

    /// The same in a session's own picture.
    func scaled(to other: PictureLayout) -> DrawnPhoto {
        DrawnPhoto(other) { [layout, draw] (memory) throws(MediaFault) in
            let whole = try allocated("drawing a photo", malloc(layout.bytes))
            defer { free(whole) }
            let bytes = UnsafeMutableRawBufferPointer(start: whole, count: layout.bytes)
            try draw(bytes)
            try Scaler().scale(UnsafeRawBufferPointer(bytes), layout, into: memory, other)
        }
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
