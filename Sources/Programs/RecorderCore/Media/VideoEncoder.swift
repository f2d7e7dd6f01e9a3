import ArbiterProtocol
import CMedia
import FrameStream

/// Turns pictures into packets for a recording: H.264 where one core keeps up with it, else JPEGs.
///
/// x264 runs `ultrafast` with `zerolatency`: no frame is held back, so a killed recording misses none.
/// Threading: the writer thread only.
package final class VideoEncoder {
    private let layout: PictureLayout
    private var context: UnsafeMutablePointer<AVCodecContext>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private let jpeg = JPEGEncoder()
    private var quality: JPEGQuality

    private static let keyFrameInterval: Int32 = 30
    /// Pixels a second up to which x264 keeps up on one core with noisy footage (122 frames of 720p were measured).
    private static let h264PixelsPerSecondOfOneCore = 100e6
    /// The same on two cores, each with a slice of every picture: 1080p60 (124 million) is the most that they do.
    private static let h264PixelsPerSecondMax = 130e6
    /// JPEGs may have so many times the bytes that were published for the size: none is predicted from another.
    private static let jpegExcess: Int64 = 2

    /// Bits a second: pixels × 11.4 from 640x480 up and × 4.05 below; from 1080p up the published sizes instead
    /// (130 MB a minute for 1080p30, 375 MB for 4K30), in proportion to the frame rate.
    package static func bitRate(width: Int, height: Int, frameRate: Double) -> Int64 {
        let pixels = Double(width * height)
        let full = 1920.0 * 1080
        if pixels >= 4 * full { return Int64(375e6 * 8 / 60 * frameRate / 30) }
        if pixels >= full { return Int64(130e6 * 8 / 60 * frameRate / 30) }
        return Int64(pixels * (pixels >= 640 * 480 ? 11.4 : 4.05))
    }

    init(_ plan: RecordingFile.Plan) throws(MediaFault) {
        layout = plan.layout
        let pixelsPerSecond = Double(layout.width * layout.height) * plan.frameRate
        let codec = plan.codec ?? (pixelsPerSecond > Self.h264PixelsPerSecondMax ? .mjpeg : .h264)
        let published = Self.bitRate(width: layout.width, height: layout.height, frameRate: plan.frameRate)
        quality = JPEGQuality(budget: Double(plan.bitRate ?? published * Self.jpegExcess) / 8 / max(1, plan.frameRate))
        guard codec == .h264 else { return }
        // `deinit` frees them where opening fails.
        let encoder = try allocated("finding libx264", avcodec_find_encoder_by_name("libx264"))
        let context = try allocated("making the encoder", avcodec_alloc_context3(encoder))
        self.context = context
        context.pointee.width = Int32(layout.width)
        context.pointee.height = Int32(layout.height)
        context.pointee.pix_fmt = AV_PIX_FMT_NV12
        context.pointee.time_base = AVRational(num: 1, den: RecordingMuxer.ticksPerSecond(of: plan.fileType))
        context.pointee.framerate = av_d2q(plan.frameRate, 100_000)
        context.pointee.bit_rate = plan.bitRate ?? published
        context.pointee.gop_size = Self.keyFrameInterval
        context.pointee.max_b_frames = 0
        context.pointee.thread_count = pixelsPerSecond > Self.h264PixelsPerSecondOfOneCore ? 2 : 1
        context.pointee.thread_type = FF_THREAD_SLICE
        context.pointee.color_range = layout.isFullRange ? AVCOL_RANGE_JPEG : AVCOL_RANGE_MPEG
        context.pointee.color_primaries = AVCOL_PRI_BT709
        context.pointee.color_trc = AVCOL_TRC_BT709
        context.pointee.colorspace = AVCOL_SPC_BT709
        // All file types keep the parameter sets in their header.
        context.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        av_opt_set(context.pointee.priv_data, "preset", "ultrafast", 0)
        av_opt_set(context.pointee.priv_data, "tune", "zerolatency", 0)
        try checked("opening the encoder", avcodec_open2(context, encoder, nil))
        frame = try allocated("making a frame", av_frame_alloc())
    }

    deinit {
        av_frame_free(&frame)
        avcodec_free_context(&context)
    }

    func describe(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(MediaFault) {
        if let context {
            try checked("describing the stream", avcodec_parameters_from_context(parameters, context))
        } else {
            parameters.pointee.codec_type = AVMEDIA_TYPE_VIDEO
            parameters.pointee.codec_id = AV_CODEC_ID_MJPEG
            parameters.pointee.width = Int32(layout.width)
            parameters.pointee.height = Int32(layout.height)
            parameters.pointee.format = AV_PIX_FMT_YUVJ420P.rawValue
            parameters.pointee.color_range = AVCOL_RANGE_JPEG
            // Only the range is converted for a JPEG (`camarb_nv12_to_jfif`).
            parameters.pointee.color_primaries = AVCOL_PRI_BT709
            parameters.pointee.color_trc = AVCOL_TRC_BT709
            parameters.pointee.color_space = AVCOL_SPC_BT709
        }
    }

    /// Encodes one picture shown at a tick; gives its packets, without stream and duration.
    func encode(_ picture: UnsafeRawBufferPointer, tick: Int64) throws(MediaFault) -> [MediaPacket] {
        guard let context, let frame else {
            let packet = try jpeg.encode(picture, layout, quality: quality.quality) { (bytes) throws(MediaFault) in
                try MediaPacket(bytes)
            }
            quality.note(packet.bytes)
            return [packet]
        }
        let planes = Scaler.Planes(picture, layout)
        frame.pointee.width = Int32(layout.width)
        frame.pointee.height = Int32(layout.height)
        frame.pointee.format = AV_PIX_FMT_NV12.rawValue
        frame.pointee.color_range = context.pointee.color_range
        frame.pointee.color_primaries = context.pointee.color_primaries
        frame.pointee.color_trc = context.pointee.color_trc
        frame.pointee.colorspace = context.pointee.colorspace
        frame.pointee.pts = tick
        // Without a buffer of its own the frame is copied by libav before the call returns.
        frame.pointee.data.0 = UnsafeMutablePointer(mutating: planes.data[0])
        frame.pointee.data.1 = UnsafeMutablePointer(mutating: planes.data[1])
        frame.pointee.linesize.0 = planes.strides[0]
        frame.pointee.linesize.1 = planes.strides[1]
        try checked("encoding", avcodec_send_frame(context, frame))
        var packets: [MediaPacket] = []
        while true {
            let packet = try MediaPacket()
            let result = avcodec_receive_packet(context, packet.pointer)
            if result == camarb_AVERROR_EAGAIN || result == camarb_AVERROR_EOF { return packets }
            try checked("encoding", result)
            packets.append(packet)
        }
    }
}
