import CMedia
import RecorderCore
import Testing

/// The sound of a file as libav plays it: the left channel, and when each frame of it plays.
struct DecodedSound {
    private(set) var sampleRate = 0.0
    /// When the file's first picture is shown, in seconds: sound's times are of the same clock.
    private(set) var pictureStart = 0.0
    /// Runs of samples, and when the first of each plays, in seconds.
    private(set) var runs: [(time: Double, samples: [Float])] = []

    init(_ path: String) throws {
        var format: UnsafeMutablePointer<AVFormatContext>?
        try #require(avformat_open_input(&format, "file:" + path, nil, nil) == 0)
        defer { avformat_close_input(&format) }
        try #require(avformat_find_stream_info(format, nil) >= 0)
        var codec: UnsafePointer<AVCodec>?
        let index = av_find_best_stream(format, AVMEDIA_TYPE_AUDIO, -1, -1, &codec, 0)
        let picture = av_find_best_stream(format, AVMEDIA_TYPE_VIDEO, -1, -1, nil, 0)
        let streams = try #require(format?.pointee.streams)
        let stream = try #require(streams[Int(index)])
        let pictures = try #require(streams[Int(picture)])
        pictureStart = Double(pictures.pointee.start_time) * av_q2d(pictures.pointee.time_base)
        var decoder = avcodec_alloc_context3(codec)
        var packet = av_packet_alloc()
        var frame = av_frame_alloc()
        defer {
            avcodec_free_context(&decoder)
            av_packet_free(&packet)
            av_frame_free(&frame)
        }
        try #require(avcodec_parameters_to_context(decoder, stream.pointee.codecpar) >= 0)
        decoder?.pointee.pkt_timebase = stream.pointee.time_base
        try #require(avcodec_open2(decoder, codec, nil) == 0)
        sampleRate = Double(decoder?.pointee.sample_rate ?? 0)
        let tick = av_q2d(stream.pointee.time_base)
        while av_read_frame(format, packet) >= 0 {
            defer { av_packet_unref(packet) }
            guard packet?.pointee.stream_index == index else { continue }
            try #require(avcodec_send_packet(decoder, packet) == 0)
            take(decoder, frame, tick)
        }
        avcodec_send_packet(decoder, nil)
        take(decoder, frame, tick)
    }

    private mutating func take(
        _ decoder: UnsafeMutablePointer<AVCodecContext>?, _ frame: UnsafeMutablePointer<AVFrame>?, _ tick: Double
    ) {
        while avcodec_receive_frame(decoder, frame) == 0, let shown = frame?.pointee {
            guard let plane = shown.data.0 else { continue }
            let samples = plane.withMemoryRebound(to: Float.self, capacity: Int(shown.nb_samples)) {
                Array(UnsafeBufferPointer(start: $0, count: Int(shown.nb_samples)))
            }
            runs.append((Double(shown.pts) * tick, samples))
        }
    }

    /// When it ends, in seconds.
    var end: Double { runs.last.map { $0.time + Double($0.samples.count) / sampleRate } ?? 0 }

    /// All of it in a row, by its times: a packet that is missing would shift what follows. Times are rounded to a
    /// millisecond; runs that follow one another do so without a gap.
    var samples: [Float] {
        var samples: [Float] = []
        for run in runs {
            let missing = Int((run.time * sampleRate).rounded()) - samples.count
            if missing > Int(sampleRate) / 500 { samples += [Float](repeating: 0, count: missing) }
            samples += run.samples
        }
        return samples
    }

    /// When it becomes loud after a tenth of a second of quiet, each time, in seconds.
    func beeps(above level: Float) -> [Double] {
        var found: [Double] = []
        var quietSince = -1.0
        for run in runs {
            for (place, sample) in run.samples.enumerated() where abs(sample) > level {
                let time = run.time + Double(place) / sampleRate
                if time - quietSince > 0.1 { found.append(time) }
                quietSince = time
            }
        }
        return found
    }
}
