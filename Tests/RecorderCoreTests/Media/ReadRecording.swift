import CLibav
import RecorderCore
import Testing

/// A recording as libav reads it from outside: its tracks, what they hold, and what it says of itself.
struct ReadRecording {
    struct Track: Hashable {
        var codec: String
        /// Of text: the kind of metadata.
        var title: String?
        var isDefault: Bool
        /// Hz and their number; 0 of others.
        var sampleRate: Int32
        var channels: Int32
        /// Matrix, primaries and transfer, as libav calls them; of pictures.
        var colour: [String]
    }
    struct Packet: Hashable {
        var track: Int
        /// Milliseconds, Matroska's own unit.
        var time: Int64
        var bytes: [UInt8]
        var isKey: Bool
    }

    private(set) var tracks: [Track] = []
    private(set) var packets: [Packet] = []
    private(set) var tags: [String: String] = [:]
    /// Milliseconds, as the file says it of itself.
    private(set) var duration: Int64?

    init(_ path: String) throws {
        var format: UnsafeMutablePointer<AVFormatContext>?
        try #require(avformat_open_input(&format, "file:" + path, nil, nil) == 0, "libav does not open it")
        defer { avformat_close_input(&format) }
        let context = try #require(format)
        try #require(avformat_find_stream_info(context, nil) >= 0)
        tags = Self.tags(context.pointee.metadata)
        duration = context.pointee.duration == camarb_AV_NOPTS_VALUE ? nil : context.pointee.duration / 1000
        for number in 0..<Int(context.pointee.nb_streams) {
            let stream = try #require(context.pointee.streams[number]).pointee
            let parameters = try #require(stream.codecpar).pointee
            tracks.append(
                Track(
                    codec: String(cString: avcodec_get_name(parameters.codec_id)),
                    title: Self.tags(stream.metadata)["title"],
                    isDefault: stream.disposition & AV_DISPOSITION_DEFAULT != 0,
                    sampleRate: parameters.sample_rate, channels: parameters.ch_layout.nb_channels,
                    colour: [
                        av_color_space_name(parameters.color_space),
                        av_color_primaries_name(parameters.color_primaries),
                        av_color_transfer_name(parameters.color_trc),
                    ].map { $0.map { String(cString: $0) } ?? "" }))
        }
        var packet = av_packet_alloc()
        defer { av_packet_free(&packet) }
        let read = try #require(packet)
        while av_read_frame(context, read) == 0 {
            defer { av_packet_unref(read) }
            packets.append(
                Packet(
                    track: Int(read.pointee.stream_index),
                    time: av_rescale_q(
                        read.pointee.pts,
                        try #require(context.pointee.streams[Int(read.pointee.stream_index)]).pointee.time_base,
                        AVRational(num: 1, den: 1000)),
                    bytes: Array(UnsafeBufferPointer(start: read.pointee.data, count: Int(read.pointee.size))),
                    isKey: read.pointee.flags & AV_PKT_FLAG_KEY != 0))
        }
    }

    private static func tags(_ dictionary: OpaquePointer?) -> [String: String] {
        var tags: [String: String] = [:]
        var entry: UnsafeMutablePointer<AVDictionaryEntry>?
        while true {
            entry = av_dict_get(dictionary, "", entry, AV_DICT_IGNORE_SUFFIX)
            guard let entry else { return tags }
            tags[String(cString: entry.pointee.key)] = String(cString: entry.pointee.value)
        }
    }

    /// A track's times, in milliseconds.
    func times(_ track: Int) -> [Int64] { packets.filter { $0.track == track }.map(\.time) }
    /// A track's packets as text, with their times.
    func samples(_ track: Int) -> [String] {
        packets.filter { $0.track == track }.map { "\($0.time) \(String(decoding: $0.bytes, as: UTF8.self))" }
    }

    /// A sound track, decoded: frames as they are heard, the first at time 0 of the file. What is before it is left out.
    static func sound(_ path: String, track: Int = 1) throws -> [Float] {
        var format: UnsafeMutablePointer<AVFormatContext>?
        try #require(avformat_open_input(&format, "file:" + path, nil, nil) == 0)
        defer { avformat_close_input(&format) }
        let context = try #require(format)
        let parameters = try #require(context.pointee.streams[track]?.pointee.codecpar)
        var decoder = avcodec_alloc_context3(avcodec_find_decoder(parameters.pointee.codec_id))
        defer { avcodec_free_context(&decoder) }
        try #require(avcodec_parameters_to_context(decoder, parameters) >= 0)
        try #require(avcodec_open2(decoder, nil, nil) == 0)
        var (packet, frame) = (av_packet_alloc(), av_frame_alloc())
        defer {
            av_packet_free(&packet)
            av_frame_free(&frame)
        }
        var samples: [Float] = []
        func receive() throws {
            while avcodec_receive_frame(decoder, frame) == 0 {
                let shown = try #require(frame).pointee
                let plane = UnsafeRawPointer(try #require(shown.data.0)).assumingMemoryBound(to: Float.self)
                // By its time: a packet that is missing would shift what follows.
                let place = Int(shown.pts) * Int(parameters.pointee.sample_rate) / 1000
                // A time is rounded to a millisecond; frames that follow one another do so without a gap.
                if place - samples.count > Int(parameters.pointee.sample_rate) / 500 {
                    samples += [Float](repeating: 0, count: place - samples.count)
                }
                samples += UnsafeBufferPointer(start: plane, count: Int(shown.nb_samples))
            }
        }
        while av_read_frame(context, packet) == 0 {
            defer { av_packet_unref(packet) }
            guard packet?.pointee.stream_index == Int32(track) else { continue }
            try #require(avcodec_send_packet(decoder, packet) == 0)
            try receive()
        }
        _ = avcodec_send_packet(decoder, nil)
        try receive()
        return samples
    }
}
