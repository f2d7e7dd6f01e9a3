import CMedia
package import FrameStream

/// Encodes NV12 pictures as JPEG.
/// Threading: one thread at a time.
package final class JPEGEncoder {
    private let handle = tjInitCompress()
    private var planar: [UInt8] = []

    package init() {}
    deinit { if let handle { tjDestroy(handle) } }

    /// Encodes a picture and gives the JPEG's bytes to `body`, valid until it returns.
    package func encode<R>(
        _ picture: UnsafeRawBufferPointer, _ layout: PictureLayout, quality: Int32 = JPEGQuality.most,
        _ body: (UnsafeRawBufferPointer) throws(MediaFault) -> R
    ) throws(MediaFault) -> R {
        let (width, height) = (layout.width, layout.height)
        let count = width * height + 2 * (width / 2 * (height / 2))
        if planar.count != count { planar = Array(repeating: 0, count: count) }
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
            // libturbojpeg describes an error only in words, and nothing can fail but memory.
            guard result == 0, let jpeg, count > 2 else { throw MediaFault("encoding a JPEG", camarb_AVERROR_ENOMEM) }
            return try body(UnsafeRawBufferPointer(start: jpeg, count: Int(count)))
        }
    }
}

/// The quality of a recording's next JPEG, so that JPEGs stay within a size.
///
/// Sizes follow the picture, and the picture changes slowly: a little over the budget lowers the quality at once, and it rises
/// only after a while well below, so that it does not swing. A pure value.
package struct JPEGQuality: Hashable {
    package private(set) var quality = Self.most
    /// Bytes that one picture may have.
    private let budget: Double
    /// Bytes of the last few pictures at this quality, on average; 0 before the first.
    private var average = 0.0
    private var calm = 0

    /// Photographs begin to look untouched, and blocks begin to show.
    package static let most: Int32 = 90
    package static let least: Int32 = 60
    /// Of a new size in the average: about eight pictures, a quarter of a second.
    private static let weight = 0.125
    /// Parts of the budget: above the first the quality falls, below the second it may rise. A point of quality changes the size
    /// by 2 to 6 %, less than the difference of the two, so that a step never calls for the one back.
    private static let high = 0.97
    private static let low = 0.85
    /// Pictures at one quality before it rises by a point: a second or less, so that a bright flash does not show in it.
    private static let calmMin = 15

    package init(budget: Double) { self.budget = budget }

    package mutating func note(_ bytes: Int) {
        average = average == 0 ? Double(bytes) : average + Self.weight * (Double(bytes) - average)
        calm += 1
        if average > Self.high * budget, quality > Self.least {
            // A point for each 4 % too much, and one: a large excess is over in a few pictures.
            let excess = average / (Self.high * budget) - 1
            step(to: max(Self.least, quality - 1 - Int32(min(excess / 0.04, 30))))
        } else if average < Self.low * budget, quality < Self.most, calm >= Self.calmMin {
            step(to: quality + 1)
        }
    }

    /// The sizes at another quality mean too little for this one.
    private mutating func step(to next: Int32) { (average, calm, quality) = (0, 0, next) }
}
