import CLibav
import FrameStream

/// Turns pictures into packets for a recording: H.264 where one core keeps up with it, else JPEGs.
///
/// x264 runs `ultrafast` with `zerolatency`: no frame is held back, so a killed recording misses none.
///
/// Threading: the writer thread only.
package final class VideoEncoder {
    let layout: PictureLayout
    let isMJPEG: Bool
    private(set) var context: UnsafeMutablePointer<AVCodecContext>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private let jpeg = JPEGEncoder()

    /// Ticks a second of every time here: Matroska's own.
    static let ticksPerSecond: Int32 = 1000
    /// A key frame at least every 30 frames.
    private static let keyFrameInterval: Int32 = 30
    /// Pixels a second up to which x264 keeps up on one core with noisy footage (122 frames of 720p were measured).
    private static let h264PixelsPerSecondMax = 100e6

    /// Bits a second: pixels × 11.4 from 640x480 up and × 4.05 below; from 1080p up the published sizes instead
    /// (130 MB a minute for 1080p30, 375 MB for 4K30), in proportion to the frame rate.
    package static func bitRate(width: Int, height: Int, frameRate: Double) -> Int64 {
        let pixels = Double(width * height)
        let full = 1920.0 * 1080
        if pixels >= 4 * full { return Int64(375e6 * 8 / 60 * frameRate / 30) }
        if pixels >= full { return Int64(130e6 * 8 / 60 * frameRate / 30) }
        return Int64(pixels * (pixels >= 640 * 480 ? 11.4 : 4.05))
    }

    init(layout: PictureLayout, frameRate: Double) throws(MediaFault) {
        self.layout = layout
        isMJPEG = Double(layout.width * layout.height) * frameRate > Self.h264PixelsPerSecondMax
        guard !isMJPEG else { return }
        let codec = try allocated("finding libx264", avcodec_find_encoder_by_name("libx264"))
        let context = try allocated("making the encoder", avcodec_alloc_context3(codec))
        self.context = context
        context.pointee.width = Int32(layout.width)
        context.pointee.height = Int32(layout.height)
        context.pointee.pix_fmt = AV_PIX_FMT_NV12
        context.pointee.time_base = AVRational(num: 1, den: Self.ticksPerSecond)
        context.pointee.framerate = av_d2q(frameRate, 100_000)
        context.pointee.bit_rate = Self.bitRate(width: layout.width, height: layout.height, frameRate: frameRate)
        context.pointee.gop_size = Self.keyFrameInterval
        context.pointee.max_b_frames = 0
        context.pointee.thread_count = 1
        context.pointee.color_range = layout.pixelFormat == "420f" ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        context.pointee.colorspace = AVCOL_SPC_BT709
        // Matroska keeps the parameter sets in its header.
        context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        av_opt_set(context.pointee.priv_data, "preset", "ultrafast", 0)
        av_opt_set(context.pointee.priv_data, "tune", "zerolatency", 0)
        try checked("opening the encoder", avcodec_open2(context, codec, nil))
        frame = try allocated("making a frame", av_frame_alloc())
    }

    deinit {
        av_frame_free(&frame)
        avcodec_free_context(&context)
    }

    /// Writes the stream's parameters for a muxer.
    func describe(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(MediaFault) {
        if let context {
            try checked("describing the stream", avcodec_parameters_from_context(parameters, context))
        } else {
            parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
            parameters.pointee.codec_id = AV_CODEC_ID_MJPEG
            parameters.pointee.width = Int32(layout.width)
            parameters.pointee.height = Int32(layout.height)
            parameters.pointee.format = AV_PIX_FMT_YUVJ420P.rawValue
        }
    }

    /// Encodes one picture shown at `time` (in ticks); gives each packet to `body`.
    func encode(
        _ picture: UnsafeRawBufferPointer, time: Int64, into packet: UnsafeMutablePointer<AVPacket>,
        _ body: () throws(MediaFault) -> Void
    ) throws(MediaFault) {
        guard let context, let frame else {
            try jpeg.encode(picture, layout) { (bytes) throws(MediaFault) in
                let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
                try checked("keeping a JPEG", camarb_packet_from_bytes(packet, start, Int32(bytes.count)))
            }
            packet.pointee.pts = time
            packet.pointee.dts = time
            packet.pointee.flags = AV_PKT_FLAG_KEY
            defer { av_packet_unref(packet) }
            return try body()
        }
        let planes = Scaler.Planes(picture, layout)
        frame.pointee.width = Int32(layout.width)
        frame.pointee.height = Int32(layout.height)
        frame.pointee.format = AV_PIX_FMT_NV12.rawValue
        frame.pointee.color_range = context.pointee.color_range
        frame.pointee.pts = time
        // Without a buffer of its own the frame is copied by libav before the call returns.
        frame.pointee.data.0 = UnsafeMutablePointer(mutating: planes.data[0])
        frame.pointee.data.1 = UnsafeMutablePointer(mutating: planes.data[1])
        frame.pointee.linesize.0 = planes.strides[0]
        frame.pointee.linesize.1 = planes.strides[1]
        try checked("encoding", avcodec_send_frame(context, frame))
        try drain(into: packet, body)
    }

    private func drain(
        into packet: UnsafeMutablePointer<AVPacket>, _ body: () throws(MediaFault) -> Void
    ) throws(MediaFault) {
        while true {
            let result = avcodec_receive_packet(context, packet)
            if result == camarb_AVERROR_EAGAIN || result == camarb_AVERROR_EOF { return }
            try checked("encoding", result)
            defer { av_packet_unref(packet) }
            try body()
        }
    }
}
