import ArbiterProtocol
import CMedia
import FrameStream
import System

/// Makes the recorder's NV12 of a device's picture, with a part of it magnified for a zoom.
final class PictureConverter {
    private let scaler = Scaler()
    /// What libv4lconvert makes of formats that libswscale does not read.
    private var planar: [UInt8] = []

    /// Bytes that a whole picture of the format has at least; 0 where that differs from picture to picture.
    static func bytesLeast(_ format: camarb_video_format) -> Int {
        guard case .direct(let kind)? = PictureKind(format.fourcc) else { return 1 }
        let rows = Int(format.stride) * Int(format.height)
        let isPlanar = [AV_PIX_FMT_NV12, AV_PIX_FMT_NV21, AV_PIX_FMT_YUV420P].contains { $0.rawValue == kind }
        return isPlanar ? rows + rows / 2 : rows
    }

    /// Bytes that a row of the format's first plane has at least; 0 where there are no rows.
    static func rowBytesLeast(_ format: camarb_video_format) -> UInt32 {
        guard case .direct(let kind)? = PictureKind(format.fourcc) else { return 0 }
        return UInt32(max(0, av_image_get_linesize(AVPixelFormat(rawValue: kind), Int32(clamping: format.width), 0)))
    }

    /// - Parameter crop: the part that is shown; nil: all of it.
    func convert(
        _ bytes: UnsafeRawBufferPointer, _ format: camarb_video_format, _ crop: SensorWindow.Crop?,
        on device: any VideoDevice, into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout
    ) throws(PictureFault) {
        let isFull = format.full_range != 0
        switch PictureKind(format.fourcc) {
        case .direct(let kind)?:
            if format.fourcc == camarb_fourcc_nv12, crop == nil, Int(format.width) == layout.width,
                Int(format.height) == layout.height, isFull == layout.isFullRange
            {
                return Self.copyRows(bytes, format, into: picture, layout: layout)
            }
            try scale(Self.planes(bytes, format), kind, isFull, format, crop, into: picture, layout: layout)
        case .converted?:
            let (width, height) = (Int(format.width), Int(format.height))
            if planar.count != width * height * 3 / 2 { planar = Array(repeating: 0, count: width * height * 3 / 2) }
            let made = planar.withUnsafeMutableBytes { target in
                Result { () throws(VideoFault) in try device.convert(bytes, format, into: target) }
            }
            if case .failure(let fault) = made { throw .device(fault) }
            var yu12 = format
            yu12.fourcc = camarb_fourcc_yu12
            yu12.stride = format.width
            let done = planar.withUnsafeBytes { source in
                Result { () throws(PictureFault) in
                    try scale(
                        Self.planes(source, yu12), AV_PIX_FMT_YUV420P.rawValue, isFull, yu12, crop, into: picture,
                        layout: layout)
                }
            }
            try done.get()
        case nil: throw .device(VideoFault("read its pictures", EINVAL))
        }
    }

    private func scale(
        _ source: Scaler.Planes, _ kind: AVPixelFormat.RawValue, _ isFull: Bool, _ format: camarb_video_format,
        _ crop: SensorWindow.Crop?, into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout
    ) throws(PictureFault) {
        var source = source
        let part = crop ?? SensorWindow.Crop(x: 0, y: 0, width: Int(format.width), height: Int(format.height))
        if crop != nil { source.crop(part, kind) }
        do throws(MediaFault) {
            try scaler.scale(
                source, into: Scaler.Planes(UnsafeRawBufferPointer(picture), layout),
                Scaler.Shape(
                    sourceWidth: part.width, sourceHeight: part.height, sourceFormat: kind, sourceIsFullRange: isFull,
                    width: layout.width, height: layout.height, format: AV_PIX_FMT_NV12.rawValue,
                    isFullRange: layout.isFullRange))
        } catch { throw .media(error) }
    }

    private static func planes(_ bytes: UnsafeRawBufferPointer, _ format: camarb_video_format) -> Scaler.Planes {
        let first = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let stride = Int(format.stride)
        let luma = stride * Int(format.height)
        let quarter = stride / 2 * (Int(format.height) / 2)
        switch format.fourcc {
        case camarb_fourcc_nv12, camarb_fourcc_nv21:
            return Scaler.Planes(
                data: [first, first.map { $0 + luma }, nil, nil], strides: [Int32(stride), Int32(stride), 0, 0])
        case camarb_fourcc_yu12, camarb_fourcc_yv12:
            let (second, third) = (first.map { $0 + luma }, first.map { $0 + luma + quarter })
            let isSwapped = format.fourcc == camarb_fourcc_yv12
            return Scaler.Planes(
                data: [first, isSwapped ? third : second, isSwapped ? second : third, nil],
                strides: [Int32(stride), Int32(stride / 2), Int32(stride / 2), 0])
        default: return Scaler.Planes(data: [first, nil, nil, nil], strides: [Int32(stride), 0, 0, 0])
        }
    }

    private static func copyRows(
        _ bytes: UnsafeRawBufferPointer, _ format: camarb_video_format, into picture: UnsafeMutableRawBufferPointer,
        layout: PictureLayout
    ) {
        let stride = Int(format.stride)
        if stride == layout.stride {
            picture.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes.prefix(layout.bytes)))
            return
        }
        // Luma rows, and behind them half as many of chroma.
        for row in 0..<(layout.height + layout.height / 2) {
            let source = UnsafeRawBufferPointer(rebasing: bytes[(row * stride)..<(row * stride + layout.width)])
            let start = row * layout.stride
            UnsafeMutableRawBufferPointer(rebasing: picture[start..<(start + layout.width)]).copyMemory(from: source)
        }
    }
}

enum PictureFault: Error {
    case device(VideoFault)
    case media(MediaFault)
}
