import CMedia
import RecorderCore
import Testing

/// A recording as libav reads it from outside: its tracks, what they hold, and what it says of itself.
struct ReadRecording {
    struct Track {
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
    struct Packet {
        var track: Int
        /// Milliseconds, Matroska's own unit.
        var time: Int64
        var bytes: [UInt8]
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
                    bytes: Array(UnsafeBufferPointer(start: read.pointee.data, count: Int(read.pointee.size)))))
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

    func times(_ track: Int) -> [Int64] { packets.filter { $0.track == track }.map(\.time) }
    /// A track's packets as text, with their times.
    func samples(_ track: Int) -> [String] {
        packets.filter { $0.track == track }.map { "\($0.time) \(String(decoding: $0.bytes, as: UTF8.self))" }
    }
}
