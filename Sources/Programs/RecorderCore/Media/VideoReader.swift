package import CMedia

/// Decodes the video of a file, over and over: at its end it begins again, and its clock runs on.
///
/// Only local files are opened, so that a path can never make the recorder fetch something.
/// Threading: one thread at a time.
package final class VideoReader {
    package let width, height: Int
    /// Frames a second, by the file's header.
    let frameRate: Double
    /// Nanoseconds, by the file's header, where that contains it.
    package let duration: Int64?

    private var format: UnsafeMutablePointer<AVFormatContext>?
    private var decoder: UnsafeMutablePointer<AVCodecContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private let loops: Bool
    private let streamIndex: Int32
    private let secondsPerTick: Double
    private var isDraining = false
    private var framesThisRound = 0
    /// Nanoseconds: the beginning of this round, and the presentation time of the last frame in it.
    private var roundBegan: Int64 = 0
    private var firstTick: Int64?
    private var lastTime: Int64 = 0

    /// For a file without a frame rate in its header.
    private static let frameRateUsual = 25.0

    /// - Throws: when the file is missing, is no video, or has a codec that libav cannot decode.
    package init(path: String, loops: Bool = true) throws(MediaFault) {
        self.loops = loops
        camarb_av_quiet()
        var options: OpaquePointer?
        av_dict_set(&options, "protocol_whitelist", "file", 0)
        defer { av_dict_free(&options) }
        var format: UnsafeMutablePointer<AVFormatContext>?
        try checked("opening \(path)", avformat_open_input(&format, "file:" + path, nil, &options))
        var decoder: UnsafeMutablePointer<AVCodecContext>?
        do throws(MediaFault) {
            let opened = try allocated("opening \(path)", format)
            try checked("reading \(path)", avformat_find_stream_info(opened, nil))
            var codec: UnsafePointer<AVCodec>?
            streamIndex = try checked(
                "looking for video in \(path)", av_find_best_stream(opened, AVMEDIA_TYPE_VIDEO, -1, -1, &codec, 0))
            let stream = try allocated("looking for video in \(path)", opened.pointee.streams[Int(streamIndex)])
            decoder = try allocated("making a decoder", avcodec_alloc_context3(codec))
            try checked("preparing the decoder", avcodec_parameters_to_context(decoder, stream.pointee.codecpar))
            // One thread: several would hold back as many frames, and the capture thread is the only consumer.
            decoder?.pointee.thread_count = 1
            try checked("opening the decoder", avcodec_open2(decoder, codec, nil))
            let rate = av_q2d(stream.pointee.avg_frame_rate)
            frameRate = rate.isFinite && rate > 0 ? rate : Self.frameRateUsual
            secondsPerTick = av_q2d(stream.pointee.time_base)
            let length = opened.pointee.duration
            // In microseconds, libav's own unit.
            duration = length == camarb_AV_NOPTS_VALUE || length < 0 ? nil : length * 1000
            width = Int(decoder?.pointee.width ?? 0)
            height = Int(decoder?.pointee.height ?? 0)
            // Two pixels make one of chroma; less is no picture.
            guard width >= 2, height >= 2 else { throw MediaFault("\(path) has no picture", camarb_AVERROR_EOF) }
            packet = try allocated("making a packet", av_packet_alloc())
            frame = try allocated("making a frame", av_frame_alloc())
        } catch {
            avcodec_free_context(&decoder)
            avformat_close_input(&format)
            throw error
        }
        self.format = format
        self.decoder = decoder
    }

    deinit {
        av_frame_free(&frame)
        av_packet_free(&packet)
        avcodec_free_context(&decoder)
        avformat_close_input(&format)
    }

    /// Decodes the next frame, which `picture` then is. At the end it begins again, or throws where it does not loop.
    /// - Returns: when it is shown, in nanoseconds since the first frame of the first round.
    package func next() throws(MediaFault) -> Int64 {
        while true {
            let result = avcodec_receive_frame(decoder, frame)
            if result == 0 { return time() }
            if result == camarb_AVERROR_EOF, loops {
                try beginAgain()
            } else if result == camarb_AVERROR_EAGAIN {
                try feed()
            } else {
                throw MediaFault("decoding", result)
            }
        }
    }

    /// The last frame's picture. Valid until the next call of `next`.
    package func picture() throws(MediaFault) -> (
        planes: Scaler.Planes, format: AVPixelFormat.RawValue, isFullRange: Bool
    ) {
        let shown = try allocated("showing a frame", frame).pointee
        let planes = Scaler.Planes(
            data: [shown.data.0, shown.data.1, shown.data.2, shown.data.3].map { plane in
                plane.map { UnsafePointer($0) }
            }, strides: [shown.linesize.0, shown.linesize.1, shown.linesize.2, shown.linesize.3])
        let isFullRange = shown.color_range == AVCOL_RANGE_JPEG
        return (planes, AVPixelFormat.RawValue(shown.format), isFullRange)
    }

    private func feed() throws(MediaFault) {
        guard !isDraining else { throw MediaFault("decoding", camarb_AVERROR_EOF) }
        while true {
            let result = av_read_frame(format, packet)
            guard result >= 0 else {
                // A file that was cut short is played as far as it goes.
                isDraining = true
                try checked("draining the decoder", avcodec_send_packet(decoder, nil))
                return
            }
            defer { av_packet_unref(packet) }
            guard packet?.pointee.stream_index == streamIndex else { continue }
            // A broken packet costs its frame, not the camera.
            _ = avcodec_send_packet(decoder, packet)
            return
        }
    }

    private func beginAgain() throws(MediaFault) {
        guard framesThisRound > 0 else { throw MediaFault("decoding: there is no whole frame", camarb_AVERROR_EOF) }
        (framesThisRound, isDraining, firstTick) = (0, false, nil)
        roundBegan = lastTime + Int64(1e9 / frameRate)
        try checked("going back to the beginning", avformat_seek_file(format, streamIndex, .min, 0, 0, 0))
        avcodec_flush_buffers(decoder)
    }

    private func time() -> Int64 {
        framesThisRound += 1
        let tick = frame?.pointee.best_effort_timestamp ?? camarb_AV_NOPTS_VALUE
        if tick == camarb_AV_NOPTS_VALUE {
            lastTime = framesThisRound == 1 ? roundBegan : lastTime + Int64(1e9 / frameRate)
        } else {
            let first = firstTick ?? tick
            firstTick = first
            let time = roundBegan + Int64(Double(tick - first) * secondsPerTick * 1e9)
            // Footage with times that go back would stand still for ever.
            lastTime = framesThisRound == 1 ? time : max(time, lastTime + 1)
        }
        return lastTime
    }
}
