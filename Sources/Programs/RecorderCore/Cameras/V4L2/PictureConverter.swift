import ArbiterProtocol
import CMedia
import FrameStream
import System

/// Makes the recorder core's NV12 of a device's picture, with a part of it magnified for a zoom.
final class PictureConverter {
    private let scaler = Scaler()
    /// libv4lconvert's pictures, of formats that libswscale does not read.
    private var planar: [UInt8] = []

    /// Bytes that a whole picture of the format has at least; 1 where that differs from picture to picture.
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

    /// A clause for people.
    struct Fault: Error { let words: String }

    /// - Parameter crop: the part that is shown, where it is not all of it.
    func convert(
        _ bytes: UnsafeRawBufferPointer, _ format: camarb_video_format, _ crop: SensorWindow.Crop?,
        on device: any VideoDevice, into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout
    ) throws(Fault) {
        do {
            switch PictureKind(format.fourcc) {
            case .direct? where format.lies(as: layout) && crop == nil:
                Self.copyRows(bytes, format, into: picture, layout: layout)
            case .direct(let kind)?: try scale(bytes, format, kind, crop, into: picture, layout: layout)
            case .converted?:
                let size = Int(format.width) * Int(format.height) * 3 / 2
                if planar.count != size { planar = Array(repeating: 0, count: size) }
                var yu12 = format
                (yu12.fourcc, yu12.stride) = (camarb_fourcc_yu12, format.width)
                try planar.withUnsafeMutableBytes { try device.convert(bytes, format, into: $0) }
                try planar.withUnsafeBytes {
                    try scale($0, yu12, AV_PIX_FMT_YUV420P.rawValue, crop, into: picture, layout: layout)
                }
            case nil: throw VideoFault("read its pictures", EINVAL)
            }
        } catch let fault as VideoFault { throw Fault(words: fault.words) } catch {
            throw Fault(words: (error as? MediaFault)?.description ?? "\(error)")
        }
    }

    private func scale(
        _ bytes: UnsafeRawBufferPointer, _ format: camarb_video_format, _ kind: AVPixelFormat.RawValue,
        _ crop: SensorWindow.Crop?, into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout
    ) throws(MediaFault) {
        var source = Self.planes(bytes, format)
        let part = crop ?? SensorWindow.Crop(x: 0, y: 0, width: Int(format.width), height: Int(format.height))
        if crop != nil { source.crop(part, kind) }
        try scaler.scale(
            source, into: Scaler.Planes(UnsafeRawBufferPointer(picture), layout),
            Scaler.Shape(part, kind, isFullRange: format.full_range != 0, layout))
    }

    private static func planes(_ bytes: UnsafeRawBufferPointer, _ format: camarb_video_format) -> Scaler.Planes {
        let first = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let stride = Int(format.stride)
        let second = first.map { $0 + stride * Int(format.height) }
        let third = second.map { $0 + stride / 2 * (Int(format.height) / 2) }
        let (whole, half) = (Int32(stride), Int32(stride / 2))
        return switch format.fourcc {
        case camarb_fourcc_nv12, camarb_fourcc_nv21:
            Scaler.Planes(data: [first, second, nil, nil], strides: [whole, whole, 0, 0])
        case camarb_fourcc_yu12: Scaler.Planes(data: [first, second, third, nil], strides: [whole, half, half, 0])
        case camarb_fourcc_yv12: Scaler.Planes(data: [first, third, second, nil], strides: [whole, half, half, 0])
        default: Scaler.Planes(data: [first, nil, nil, nil], strides: [whole, 0, 0, 0])
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

extension camarb_video_format {
    /// Whether its pictures are the layout's, but for the length of a row.
    func lies(as layout: PictureLayout) -> Bool {
        fourcc == camarb_fourcc_nv12 && Int(width) == layout.width && Int(height) == layout.height
            && (full_range != 0) == layout.isFullRange
    }
}
