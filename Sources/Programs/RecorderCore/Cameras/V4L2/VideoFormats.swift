import ArbiterProtocol
import CMedia
import FrameStream

/// A format of the camera's, and the device's format that it is made from.
struct NativeFormat: Hashable {
    let format: CameraFormat
    let fourcc: UInt32
}

/// How a device's pictures become the recorder core's NV12.
enum PictureKind: Hashable {
    /// libswscale reads it as it is; for NV12 of the same size nothing but rows are copied.
    case direct(AVPixelFormat.RawValue)
    /// libv4lconvert makes YU12 of it first: an explicit further copy.
    case converted

    /// `nil` for a format that neither reads.
    init?(_ fourcc: UInt32) {
        guard let known = Self.known.first(where: { $0.fourcc == fourcc }) else { return nil }
        self = known.format.map { .direct($0) } ?? .converted
    }

    static func fourcc(_ text: StaticString) -> UInt32 {
        precondition(text.utf8CodeUnitCount == 4, "a fourcc has four characters")
        return text.withUTF8Buffer { bytes in bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } }
    }

    /// The cheapest to make NV12 of first. Compressed formats and mosaics are converted first, and have no format here.
    static let known: [(fourcc: UInt32, format: AVPixelFormat.RawValue?)] = [
        (camarb_fourcc_nv12, AV_PIX_FMT_NV12.rawValue), (camarb_fourcc_yu12, AV_PIX_FMT_YUV420P.rawValue),
        (camarb_fourcc_yv12, AV_PIX_FMT_YUV420P.rawValue), (camarb_fourcc_nv21, AV_PIX_FMT_NV21.rawValue),
        (camarb_fourcc_yuyv, AV_PIX_FMT_YUYV422.rawValue), (camarb_fourcc_uyvy, AV_PIX_FMT_UYVY422.rawValue),
        (fourcc("YVYU"), AV_PIX_FMT_YVYU422.rawValue), (fourcc("BGR3"), AV_PIX_FMT_BGR24.rawValue),
        (fourcc("RGB3"), AV_PIX_FMT_RGB24.rawValue), (camarb_fourcc_mjpg, nil), (camarb_fourcc_jpeg, nil),
        (fourcc("BA81"), nil), (fourcc("GBRG"), nil), (fourcc("GRBG"), nil), (fourcc("RGGB"), nil),
        (fourcc("GREY"), AV_PIX_FMT_GRAY8.rawValue),
    ]
}

struct VideoFormats {
    let device: any VideoDevice
    let zoom: VideoZoom.Range

    /// A device that names a range of sizes is asked for these.
    static let sizesUsual = [
        (3840, 2160), (2560, 1440), (1920, 1080), (1280, 960), (1280, 720), (960, 540), (640, 480), (640, 360),
        (320, 240),
    ]
    /// Rows of a frame at the greatest zoom: fewer show no picture any more.
    static let rowsMin = 16
    /// A device that names no frame rates is asked for these.
    static let ratesUsual = 1.0...30.0
    /// Frames a second; slower than this is a series of photos. Some drivers name intervals of minutes.
    static let rateMin = 0.01
    /// A rate that is higher by less than this is no reason for a format that costs more.
    static let worthwhile = 1.05

    /// The default first: the largest of at most HD that moves like film; then by size, the largest first.
    func all() -> [NativeFormat] {
        var found: [NativeFormat] = []
        let given = device.fourccs()
        for fourcc in PictureKind.known.map(\.fourcc) where given.contains(fourcc) {
            for (width, height) in sizes(of: fourcc) {
                let rates = rates(of: fourcc, width, height)
                // The same size faster is another format; as fast or slower it is only dearer.
                let isDearer = found.contains {
                    ($0.format.width, $0.format.height) == (width, height)
                        && rates.upperBound < $0.format.maxFrameRate * Self.worthwhile
                }
                if !isDearer, let native = native(fourcc, width, height, rates) { found.append(native) }
            }
        }
        func area(_ native: NativeFormat) -> Int { native.format.width * native.format.height }
        found.sort { a, b in
            area(a) == area(b) ? a.format.maxFrameRate < b.format.maxFrameRate : area(a) > area(b)
        }
        // Two formats of one name could not be told apart.
        var names: Set<String> = []
        found = Array(found.filter { names.insert($0.format.name).inserted }.prefix(CameraCapabilities.formatsMax))
        let usual = found.firstIndex { area($0) <= 1280 * 720 && $0.format.maxFrameRate >= 24 }
        if let usual { found.insert(found.remove(at: usual), at: 0) }
        return found
    }

    private func sizes(of fourcc: UInt32) -> [(Int, Int)] {
        var sizes: [(Int, Int)] = []
        for range in device.sizes(of: fourcc) {
            if range.is_stepwise == 0 {
                sizes.append((Int(range.least_width), Int(range.least_height)))
                continue
            }
            func has(_ side: Int, _ least: UInt32, _ most: UInt32, _ step: UInt32) -> Bool {
                let (least, most) = (Int(least), Int(most))
                return side >= least && side <= most && (side - least) % max(1, Int(step)) == 0
            }
            let largest = (Int(range.most_width), Int(range.most_height))
            for size in [largest] + Self.sizesUsual
            where has(size.0, range.least_width, range.most_width, range.step_width)
                && has(size.1, range.least_height, range.most_height, range.step_height)
                && !sizes.contains(where: { $0 == size })
            { sizes.append(size) }
        }
        // NV12 has even sides; and the broker believes in no sensor that is wider.
        func isPossible(_ side: Int) -> Bool { 16...PictureLayout.sideMax ~= side && side % 2 == 0 }
        return sizes.filter { isPossible($0.0) && isPossible($0.1) }
    }

    private func rates(of fourcc: UInt32, _ width: Int, _ height: Int) -> ClosedRange<Double> {
        var rates: [Double] = []
        func add(_ numerator: UInt32, _ denominator: UInt32) {
            guard numerator > 0, denominator > 0 else { return }
            // 29.97 is enough of 29.97002997: the name of a format is for people.
            rates.append((Double(denominator) / Double(numerator) * 100).rounded() / 100)
        }
        for interval in device.intervals(of: fourcc, width: width, height: height) {
            add(interval.shortest_numerator, interval.shortest_denominator)
            add(interval.longest_numerator, interval.longest_denominator)
        }
        guard let most = rates.max(), most >= Self.rateMin else { return Self.ratesUsual }
        // Frames can be left out, so that every rate below the highest can be had.
        return max(Self.rateMin, min(1, rates.min() ?? most))...most
    }

    private func native(_ fourcc: UInt32, _ width: Int, _ height: Int, _ rates: ClosedRange<Double>) -> NativeFormat? {
        let wanted = camarb_video_format(fourcc, width, height)
        // A driver lists at times a format that it does not have just now.
        guard let real = try? device.set(wanted, onlyTry: true), real.fourcc == fourcc, real.width == wanted.width,
            real.height == wanted.height
        else { return nil }
        let lossless = max(1, max(zoom.byControl, zoom.sensorWidth.map { Double($0) / Double(width) } ?? 1))
        let keepsRange = fourcc == camarb_fourcc_nv12 && real.full_range != 0
        return NativeFormat(
            format: CameraFormat(
                pixelFormat: keepsRange ? "420f" : "420v", width: width, height: height,
                minFrameRate: rates.lowerBound, maxFrameRate: rates.upperBound,
                videoMaxZoomFactor: max(1, Double(height) / Double(Self.rowsMin)) * lossless,
                videoZoomFactorUpscaleThreshold: (lossless * 10_000).rounded(.down) / 10_000,
                // V4L2 has no word for it.
                fieldOfView: 0), fourcc: fourcc)
    }
}

extension camarb_video_format {
    init(_ fourcc: UInt32, _ width: Int, _ height: Int) {
        self.init()
        (self.fourcc, self.width, self.height) = (fourcc, UInt32(width), UInt32(height))
    }
}
