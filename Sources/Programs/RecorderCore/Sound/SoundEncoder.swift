import CMedia

/// Encodes the pieces of a sound timeline as AAC, 64 kbit/s a channel.
///
/// Each piece fills exactly its frames of the timeline, by libswresample: it stretches sound by some frames, and where AAC has no
/// such rate, resamples it. Nothing is lost between pieces.
///
/// A stream of AAC begins with frames of nothing (`SoundTrack.primingFrames`), which a player has to leave out. Packets' times do
/// not count them: the first packet's is below 0, and the first sample that was put in plays at 0.
/// Threading: one thread at a time.
package final class SoundEncoder {
    package struct Packet: Hashable, Sendable {
        package var bytes: [UInt8]
        /// Of its first sample in the file, in nanoseconds. Below 0 for priming.
        package var time: Int64
        /// Nanoseconds of it that play; less than a whole frame of AAC for the last ones, 0 where none of it is left.
        package var duration: Int64
    }

    /// Bits a second for each channel. AAC has at most 6 bits a sample, so at 8 kHz it is 48,000 (see `track`); and below
    /// 16 kHz libavcodec finds no use for all of them, since its finest steps need fewer: 37,000, 50,000 and 55,000 were
    /// measured at 8, 11.025 and 12 kHz with speech in noise.
    package static let bitRateOfAChannel: Int64 = 64_000
    /// The rates that AAC has a number for, in Hz, but for 7,350. libavcodec's encoder takes no other, though the format has an
    /// escape: a source of another rate is resampled to the nearest of these.
    package static let rates = [
        8_000, 11_025, 12_000, 16_000, 22_050, 24_000, 32_000, 44_100, 48_000, 64_000, 88_200, 96_000,
    ]
    /// The most that AAC allows a frame of one channel, in bits, for its 1,024 samples.
    private static let frameBitsMax: Int64 = 6144
    private static let silenceAtOnce = 4096
    /// Frames that libswresample looks ahead; it has to make up for more.
    private static let owedMax: Int64 = 2

    package let sourceRate, sampleRate, channels: Int
    package private(set) var track: RecordingFile.SoundTrack

    private var encoder: UnsafeMutablePointer<AVCodecContext>?
    private var resampler: OpaquePointer?
    private var frame: UnsafeMutablePointer<AVFrame>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    /// Resampled, for each channel, and not yet a whole frame.
    private var pending: [[Float]]
    private var frameFrames = 1024
    /// Frames of pieces, of the resampler's output, and of the encoder's input.
    private var wanted, given, encoded: Int64
    private var hasEnded = false

    package static func streamRate(for sourceRate: Int) -> Int {
        rates.min { distance($0, sourceRate) < distance($1, sourceRate) } ?? 48_000
    }

    private static func distance(_ rate: Int, _ other: Int) -> Double {
        Double(max(rate, other)) / Double(min(rate, other))
    }

    /// - Parameter sourceRate: 8,000 to 96,000 Hz.
    /// - Parameter channels: 1 or 2.
    package init(sourceRate: Int, channels: Int) throws(MediaFault) {
        camarb_av_quiet()
        (self.sourceRate, self.channels, sampleRate) = (sourceRate, channels, Self.streamRate(for: sourceRate))
        let bitRate = min(Self.bitRateOfAChannel, Self.frameBitsMax * Int64(sampleRate) / 1024) * Int64(channels)
        pending = [[Float]](repeating: [], count: channels)
        (wanted, given, encoded) = (0, 0, 0)
        track = RecordingFile.SoundTrack(
            sampleRate: Int32(sampleRate), channels: Int32(channels), configuration: [], primingFrames: 0,
            bitRate: bitRate)
        // Where it throws from here on, `deinit` frees what there is.
        let codec = try allocated("finding the AAC encoder", avcodec_find_encoder_by_name("aac"))
        let encoder = try allocated("making the sound encoder", avcodec_alloc_context3(codec))
        self.encoder = encoder
        encoder.pointee.sample_rate = Int32(sampleRate)
        encoder.pointee.sample_fmt = AV_SAMPLE_FMT_FLTP
        av_channel_layout_default(&encoder.pointee.ch_layout, Int32(channels))
        encoder.pointee.bit_rate = bitRate
        encoder.pointee.time_base = AVRational(num: 1, den: Int32(sampleRate))
        // Files keep the configuration apart from the packets.
        encoder.pointee.flags |= AV_CODEC_FLAG_GLOBAL_HEADER
        encoder.pointee.thread_count = 1
        try checked("opening the sound encoder", avcodec_open2(encoder, codec, nil))
        frameFrames = Int(encoder.pointee.frame_size)
        track.primingFrames = Int(encoder.pointee.initial_padding)
        track.configuration = Array(
            UnsafeBufferPointer(start: encoder.pointee.extradata, count: Int(encoder.pointee.extradata_size)))
        try checked(
            "making the sound resampler",
            swr_alloc_set_opts2(
                &resampler, &encoder.pointee.ch_layout, AV_SAMPLE_FMT_FLTP, Int32(sampleRate),
                &encoder.pointee.ch_layout, AV_SAMPLE_FMT_S16, Int32(sourceRate), 0, nil))
        // Also where both rates are the same: it is there to stretch.
        av_opt_set_int(UnsafeMutableRawPointer(resampler), "flags", Int64(SWR_FLAG_RESAMPLE), 0)
        try checked("opening the sound resampler", swr_init(resampler))
        frame = try allocated("making a frame of sound", av_frame_alloc())
        packet = try allocated("making a packet of sound", av_packet_alloc())
    }

    deinit {
        av_packet_free(&packet)
        av_frame_free(&frame)
        swr_free(&resampler)
        avcodec_free_context(&encoder)
    }

    /// Encodes the next piece of the file; calls `body` with each packet that is whole.
    package func encode(_ piece: SoundTimeline.Piece, _ body: (Packet) throws(MediaFault) -> Void) throws(MediaFault) {
        switch piece {
        case .sound(let samples, let frames): try put(samples, filling: frames, body)
        case .silence(let frames):
            // By whole frames of the source, as long as these are frames of the file.
            var left = frames
            while left > 0 {
                let part = min(left, Int64(Self.silenceAtOnce))
                let source = Int((Double(part) * Double(sourceRate) / Double(sampleRate)).rounded(.up))
                try put([Int16](repeating: 0, count: source * channels), filling: part, body)
                left -= part
            }
        }
    }

    /// Ends the stream; nothing can be encoded afterwards.
    package func finish(_ body: (Packet) throws(MediaFault) -> Void) throws(MediaFault) {
        guard !hasEnded else { return }
        hasEnded = true
        // The frames that it has looked ahead come out.
        try convert(nil, count: 0, room: 4 * Self.silenceAtOnce)
        // Rounding may have left it a frame or two from the pieces' frames.
        let missing = Int(wanted - given)
        for channel in pending.indices {
            if missing > 0 {
                pending[channel] += [Float](repeating: 0, count: missing)
            } else {
                pending[channel].removeLast(min(-missing, pending[channel].count))
            }
        }
        given = wanted
        try encodeWholeFrames(body)
        if let left = pending.first?.count, left > 0 { try encodeFrame(left, body) }
        try checked("ending the sound", avcodec_send_frame(encoder, nil))
        try drain(body)
    }

    // MARK: Resampling

    private func put(
        _ samples: [Int16], filling frames: Int64, _ body: (Packet) throws(MediaFault) -> Void
    ) throws(MediaFault) {
        guard !hasEnded, let resampler else { return }
        let count = samples.count / channels
        guard count > 0 else { return }
        let nominal = (Double(count) * Double(sampleRate) / Double(sourceRate)).rounded()
        // Wanted frames, less its output, less the frames that it holds back until it has the next ones.
        let behind = wanted - given - swr_get_delay(resampler, Int64(sampleRate))
        let owed = abs(behind) > Self.owedMax ? behind : 0
        let stretch = frames - Int64(nominal) + owed
        try checked(
            "stretching sound",
            swr_set_compensation(resampler, Int32(clamping: stretch), stretch == 0 ? 0 : Int32(clamping: frames)))
        wanted += frames
        let bytes = samples.withUnsafeBytes { Array($0) }
        try bytes.withMediaBytes { (bytes) throws(MediaFault) in
            try convert(bytes.baseAddress, count: count, room: Int(frames) + abs(Int(stretch)) + Self.silenceAtOnce)
        }
        try encodeWholeFrames(body)
    }

    /// Puts `count` frames into the resampler and takes its output, `room` frames at the most.
    private func convert(_ samples: UnsafeRawPointer?, count: Int, room: Int) throws(MediaFault) {
        var outputs = [[Float]](repeating: [Float](repeating: 0, count: room), count: channels)
        // A second channel that is not there is not written.
        var second = channels > 1 ? outputs.removeLast() : []
        let result = outputs[0].withUnsafeMutableBytes { first in
            second.withUnsafeMutableBytes { second in
                var planes = [first.baseAddress, second.baseAddress].map { $0?.assumingMemoryBound(to: UInt8.self) }
                var sources = [samples?.assumingMemoryBound(to: UInt8.self)]
                return samples == nil
                    ? swr_convert(resampler, &planes, Int32(room), nil, 0)
                    : swr_convert(resampler, &planes, Int32(room), &sources, Int32(count))
            }
        }
        let got = Int(try checked("resampling sound", result))
        given += Int64(got)
        pending[0] += outputs[0].prefix(got)
        if channels > 1 { pending[1] += second.prefix(got) }
    }

    // MARK: Encoding

    private func encodeWholeFrames(_ body: (Packet) throws(MediaFault) -> Void) throws(MediaFault) {
        while let count = pending.first?.count, count >= frameFrames { try encodeFrame(frameFrames, body) }
    }

    private func encodeFrame(_ count: Int, _ body: (Packet) throws(MediaFault) -> Void) throws(MediaFault) {
        guard let encoder, let frame else { return }
        av_frame_unref(frame)
        frame.pointee.nb_samples = Int32(count)
        frame.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
        frame.pointee.sample_rate = Int32(sampleRate)
        try checked(
            "making a frame of sound", av_channel_layout_copy(&frame.pointee.ch_layout, &encoder.pointee.ch_layout))
        try checked("making a frame of sound", av_frame_get_buffer(frame, 0))
        frame.pointee.pts = encoded
        for channel in pending.indices {
            let plane = channel == 0 ? frame.pointee.data.0 : frame.pointee.data.1
            guard let plane else { throw MediaFault("making a frame of sound", camarb_AVERROR_ENOMEM) }
            pending[channel].withUnsafeBytes {
                UnsafeMutableRawPointer(plane).copyMemory(
                    from: $0.baseAddress ?? UnsafeRawPointer(plane), byteCount: count * MemoryLayout<Float>.stride)
            }
            pending[channel].removeFirst(count)
        }
        encoded += Int64(count)
        try checked("encoding sound", avcodec_send_frame(encoder, frame))
        try drain(body)
    }

    private func drain(_ body: (Packet) throws(MediaFault) -> Void) throws(MediaFault) {
        guard let packet else { return }
        while true {
            let result = avcodec_receive_packet(encoder, packet)
            if result == camarb_AVERROR_EAGAIN || result == camarb_AVERROR_EOF { return }
            try checked("encoding sound", result)
            defer { av_packet_unref(packet) }
            // libav counts from the first frame that was put in: the first packet's time is the priming's, below 0.
            let first = packet.pointee.pts
            let plays = min(encoded, first + Int64(frameFrames)) - first
            try body(
                Packet(
                    bytes: Array(UnsafeBufferPointer(start: packet.pointee.data, count: Int(packet.pointee.size))),
                    time: nanoseconds(first), duration: nanoseconds(max(0, plays))))
        }
    }

    private func nanoseconds(_ frames: Int64) -> Int64 {
        // By parts: a day of frames times 10⁹ has no room.
        let (seconds, rest) = (frames / Int64(sampleRate), frames % Int64(sampleRate))
        return seconds * 1_000_000_000 + rest * 1_000_000_000 / Int64(sampleRate)
    }
}
