import CLibav
import CTurboJPEG
package import FrameStream

/// Encodes NV12 pictures as JPEG.
///
/// Threading: one thread at a time.
package final class JPEGEncoder {
    private let handle = tjInitCompress()
    private var planar: [UInt8] = []

    /// Where photographs begin to look untouched.
    package static let quality: Int32 = 90

    package init() {}

    deinit { if let handle { tjDestroy(handle) } }

    /// Encodes a picture and gives the JPEG's bytes to `body`, valid until it returns.
    package func encode<R>(
        _ picture: UnsafeRawBufferPointer, _ layout: PictureLayout, quality: Int32 = quality,
        _ body: (UnsafeRawBufferPointer) throws(MediaFault) -> R
    ) throws(MediaFault) -> R {
        let (width, height) = (layout.width, layout.height)
        let lumaBytes = width * height
        let chromaBytes = width / 2 * (height / 2)
        if planar.count != lumaBytes + 2 * chromaBytes {
            planar = Array(repeating: 0, count: lumaBytes + 2 * chromaBytes)
        }
        return try planar.withMutableMediaBytes { (bytes) throws(MediaFault) in
            guard let handle, let planes = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self),
                let source = picture.baseAddress?.assumingMemoryBound(to: UInt8.self), picture.count >= layout.bytes
            else { throw MediaFault("encoding a JPEG", camarb_AVERROR_ENOMEM) }
            camarb_nv12_to_jfif(
                source, Int32(layout.stride), Int32(width), Int32(height), layout.isFullRange ? 1 : 0, planes)
            var jpeg: UnsafeMutablePointer<UInt8>?
            var count: UInt = 0
            defer { tjFree(jpeg) }
            let result = tjCompressFromYUV(
                handle, planes, Int32(width), 1, Int32(height), Int32(TJSAMP_420.rawValue), &jpeg, &count, quality, 0)
            // libturbojpeg says what was wrong only in words, and nothing can be but memory.
            guard result == 0, let jpeg, count > 2 else { throw MediaFault("encoding a JPEG", camarb_AVERROR_ENOMEM) }
            return try body(UnsafeRawBufferPointer(start: jpeg, count: Int(count)))
        }
    }
}
