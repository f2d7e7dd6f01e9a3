import CMedia
package import FrameStream

/// Scales and converts pictures with libswscale; remakes its tables only when a size or a format changes.
/// Threading: one thread at a time.
package final class Scaler {
    private var context: OpaquePointer?
    private var shape: Shape?

    package struct Shape: Hashable {
        var sourceWidth, sourceHeight: Int
        var sourceFormat: AVPixelFormat.RawValue
        var sourceIsFullRange: Bool
        var width, height: Int
        var format: AVPixelFormat.RawValue
        var isFullRange: Bool
    }

    package struct Planes {
        package var data: [UnsafePointer<UInt8>?]
        package var strides: [Int32]
    }

    package init() {}
    package static let gray = AV_PIX_FMT_GRAY8.rawValue
    static let nv12 = AV_PIX_FMT_NV12.rawValue
    deinit { sws_freeContext(context) }

    package func scale(_ source: Planes, into destination: Planes, _ wanted: Shape) throws(MediaFault) {
        if wanted != shape {
            sws_freeContext(context)
            context = nil
            shape = nil
            // Area averaging is what a sensor's binning does; magnified, bicubic is what a camera's pipeline does.
            let shrinks = wanted.width <= wanted.sourceWidth && wanted.height <= wanted.sourceHeight
            context = try allocated(
                "making a scaler",
                camarb_sws_make(
                    camarb_sws_side(
                        width: Int32(wanted.sourceWidth), height: Int32(wanted.sourceHeight),
                        format: AVPixelFormat(wanted.sourceFormat), is_full: wanted.sourceIsFullRange ? 1 : 0),
                    camarb_sws_side(
                        width: Int32(wanted.width), height: Int32(wanted.height), format: AVPixelFormat(wanted.format),
                        is_full: wanted.isFullRange ? 1 : 0), Int32(shrinks ? SWS_AREA : SWS_BICUBIC)))
            shape = wanted
        }
        let planes = destination.data.map { UnsafeMutablePointer<UInt8>(mutating: $0) }
        try checked(
            "scaling a picture",
            sws_scale(context, source.data, source.strides, 0, Int32(wanted.sourceHeight), planes, destination.strides))
    }
}

extension Scaler.Shape {
    init(_ part: SensorWindow.Crop, _ format: AVPixelFormat.RawValue, isFullRange: Bool, _ layout: PictureLayout) {
        self.init(
            sourceWidth: part.width, sourceHeight: part.height, sourceFormat: format, sourceIsFullRange: isFullRange,
            width: layout.width, height: layout.height, format: AV_PIX_FMT_NV12.rawValue,
            isFullRange: layout.isFullRange)
    }
}

extension Scaler.Planes {
    package init(_ picture: UnsafeRawBufferPointer, _ layout: PictureLayout) {
        let start = picture.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let stride = Int32(layout.stride)
        self.init(data: [start, start.map { $0 + layout.lumaBytes }, nil, nil], strides: [stride, stride, 0, 0])
    }

    init(gray start: UnsafeRawPointer?, _ stride: Int) {
        self.init(
            data: [start?.assumingMemoryBound(to: UInt8.self), nil, nil, nil], strides: [Int32(stride), 0, 0, 0])
    }

    /// Moves the planes' beginnings to a crop's corner, which lies on even coordinates.
    mutating func crop(_ crop: SensorWindow.Crop, _ format: AVPixelFormat.RawValue) {
        guard let description = av_pix_fmt_desc_get(AVPixelFormat(Int32(format))) else { return }
        let components = description.pointee
        let list = [components.comp.0, components.comp.1, components.comp.2, components.comp.3]
        var moved: Set<Int32> = []
        for (index, component) in list.prefix(Int(components.nb_components)).enumerated()
        where moved.insert(component.plane).inserted {
            let isChroma = index == 1 || index == 2
            let x = isChroma ? crop.x >> Int(components.log2_chroma_w) : crop.x
            let y = isChroma ? crop.y >> Int(components.log2_chroma_h) : crop.y
            let plane = Int(component.plane)
            data[plane] = data[plane].map { $0 + y * Int(strides[plane]) + x * Int(component.step) }
        }
    }
}
