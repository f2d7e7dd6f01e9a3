import CLibav
import CTurboJPEG
import FrameStream

/// Encodes NV12 pictures as JPEG.
///
/// Threading: one thread at a time.
final class JPEGEncoder {
    private let scaler = Scaler()
    private let handle = tjInitCompress()
    private var planar: [UInt8] = []

    /// Where photographs begin to look untouched; the speeds in docs were measured with it.
    static let quality: Int32 = 90

    deinit { if let handle { tjDestroy(handle) } }

    /// - Parameter exif: a segment to put behind the first two bytes, or nothing.
    func encode(_ picture: UnsafeRawBufferPointer, _ layout: PictureLayout, exif: [UInt8] = []) throws(MediaFault)
        -> [UInt8]
    {
        let (width, height) = (layout.width, layout.height)
        let lumaBytes = width * height
        let chromaWidth = width / 2
        let chromaBytes = chromaWidth * (height / 2)
        if planar.count != lumaBytes + 2 * chromaBytes {
            planar = Array(repeating: 0, count: lumaBytes + 2 * chromaBytes)
        }
        let source = Scaler.Planes(picture, layout)
        let isFullRange = layout.pixelFormat == "420f"
        return try planar.withMutableMediaBytes { (bytes) throws(MediaFault) in
            let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
            let planes = [start, start.map { $0 + lumaBytes }, start.map { $0 + lumaBytes + chromaBytes }]
            var readable = planes.map { plane in plane.map { UnsafePointer($0) } }
            let strides = [Int32(width), Int32(chromaWidth), Int32(chromaWidth)]
            // JFIF is full range and planar.
            try scaler.scale(
                source, into: Scaler.Planes(data: readable + [nil], strides: strides + [0]),
                Scaler.Shape(
                    sourceWidth: width, sourceHeight: height, sourceFormat: AV_PIX_FMT_NV12.rawValue,
                    sourceIsFullRange: isFullRange, width: width, height: height,
                    format: AV_PIX_FMT_YUVJ420P.rawValue, isFullRange: true))
            var jpeg: UnsafeMutablePointer<UInt8>?
            var count: UInt = 0
            defer { tjFree(jpeg) }
            let result = tjCompressFromYUVPlanes(
                handle, &readable, Int32(width), strides, Int32(height), Int32(TJSAMP_420.rawValue), &jpeg, &count,
                Self.quality, 0)
            guard result == 0, let jpeg, count > 2 else { throw MediaFault("encoding a JPEG", camarb_AVERROR_EOF) }
            let bytes = UnsafeBufferPointer(start: jpeg, count: Int(count))
            return Array(bytes.prefix(2)) + exif + Array(bytes.dropFirst(2))
        }
    }
}
