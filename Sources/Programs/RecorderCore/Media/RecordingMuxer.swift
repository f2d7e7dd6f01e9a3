import ArbiterProtocol
import CMedia
import Glibc

/// libav's muxer over a recording's file: the header with its tracks, their packets, and the trailer.
///
/// Everything appended since the last flush is one cluster of Matroska, or one fragment of MP4 and QuickTime.
/// Threading: the writer thread only.
final class RecordingMuxer {
    private let file: OutputFile
    private var format: UnsafeMutablePointer<AVFormatContext>?
    private var output: UnsafeMutablePointer<AVIOContext>?

    let fileType: RecordingFileType
    /// Ticks a second of every time here: a millisecond is Matroska's own. In an MP4 file the place of sound follows from the
    /// durations of packets, and would be off by half a millisecond a packet.
    private let ticksPerSecond: Int32
    static func ticksPerSecond(of fileType: RecordingFileType) -> Int32 { fileType == .matroska ? 1000 : 1_000_000 }
    var nanosecondsPerTick: Int64 { 1_000_000_000 / Int64(ticksPerSecond) }
    /// Enough for an entry a second over forty minutes; a longer recording has fewer (`RecordingIndex`).
    private static let indexBytes = "65536"
    private static let bufferBytes: Int32 = 65_536

    init(_ file: OutputFile, _ fileType: RecordingFileType) throws(MediaFault) {
        (self.file, self.fileType) = (file, fileType)
        ticksPerSecond = Self.ticksPerSecond(of: fileType)
        let buffer = try allocated("making a buffer", av_malloc(Int(Self.bufferBytes)))
        // Unretained: this object holds the file longer than libav has the context.
        output = camarb_output_make(
            buffer.assumingMemoryBound(to: UInt8.self), Self.bufferBytes, Unmanaged.passUnretained(file).toOpaque(),
            outputFileWrite, outputFileSeek)
        try checked("making a file", avformat_alloc_output_context2(&format, nil, fileType.rawValue, nil))
        let context = try allocated("making a file", format)
        context.pointee.pb = try allocated("making an output", output)
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        context.pointee.metadata_header_padding = Int32(RecordingTags.roomBytes)
    }

    deinit {
        avformat_free_context(format)
        if let output { av_free(output.pointee.buffer) }
        avio_context_free(&output)
    }

    /// Adds a track. Its number in the file is one more than its place here.
    func addTrack(
        title: String? = nil, isDefault: Bool, orientation: Int? = nil,
        _ describe: (UnsafeMutablePointer<AVStream>, UnsafeMutablePointer<AVCodecParameters>) throws(MediaFault) -> Void
    ) throws(MediaFault) {
        let stream = try allocated("adding a stream", avformat_new_stream(format, nil))
        stream.pointee.time_base = AVRational(num: 1, den: ticksPerSecond)
        stream.pointee.disposition = isDefault ? AV_DISPOSITION_DEFAULT : 0
        if let title { av_dict_set(&stream.pointee.metadata, "title", title, 0) }
        try describe(stream, try allocated("adding a stream", stream.pointee.codecpar))
        // After the encoder's description, of which it is a part from libav 6.1 on.
        if let orientation { try checked("turning a track", camarb_stream_orient(stream, Int32(orientation))) }
    }

    /// Writes the header to memory: the file has it after its next commit.
    /// - Parameter tags: of the whole file.
    func writeHeader(_ tags: [(name: String, value: String)]) throws(MediaFault) {
        guard let format else { return }
        for tag in tags { av_dict_set(&format.pointee.metadata, tag.name, tag.value, 0) }
        var options: OpaquePointer?
        defer { av_dict_free(&options) }
        for (name, value) in [
            // A header that describes the tracks without their packets, and a fragment at each flush.
            ("movflags", "empty_moov+default_base_moof+frag_custom"), ("reserve_index_space", Self.indexBytes),
            // Otherwise the first text track would be a default one, and be shown as subtitles.
            ("default_mode", "passthrough"),
        ] { av_dict_set(&options, name, value, 0) }
        try checked("writing the header", avformat_write_header(format, &options))
        avio_flush(output)
    }

    func append(_ packet: MediaPacket) throws(MediaFault) {
        if let format, let stream = format.pointee.streams[Int(packet.pointer.pointee.stream_index)] {
            // The header gave each track ticks of its own: of a sample, for MP4's sound.
            av_packet_rescale_ts(packet.pointer, AVRational(num: 1, den: ticksPerSecond), stream.pointee.time_base)
        }
        if fileType != .matroska { try keepTime(of: packet) }
        try checked("writing a packet", av_write_frame(format, packet.pointer))
    }

    /// Ends the cluster or fragment. In Matroska libav keeps the last sound packet back, into the next one.
    /// - Returns: where the next begins.
    @discardableResult
    func flush() throws(MediaFault) -> Int64 {
        try checked("flushing", av_write_frame(format, nil))
        avio_flush(output)
        return avio_seek(output, 0, SEEK_CUR)
    }

    /// Lets a fragment begin at its picture's own time, where libav would begin it at the sum of the durations before it, however
    /// late or early the picture was captured.
    ///
    /// libav takes the option over with a packet, after it has looked at that packet's time. So it comes with an empty packet,
    /// of which nothing gets into the file. Sound has no gaps.
    private func keepTime(of packet: MediaPacket) throws(MediaFault) {
        let (stream, time) = (packet.pointer.pointee.stream_index, packet.pointer.pointee.dts)
        guard let format, stream == 0, time > 0 else { return }
        try checked("keeping a time", av_opt_set(format.pointee.priv_data, "movflags", "+frag_discont", 0))
        let nothing = try MediaPacket()
        nothing.stamp(stream: stream, tick: time - 1, duration: 0)
        // Refused where two pictures are a tick apart: the second is then late by the first one's duration.
        _ = av_write_frame(format, nothing.pointer)
    }

    /// Writes the parts that libav determines only at the end: its last packet, and the length of each track.
    func writeTrailer() {
        // After a failed append libav is ahead of the file: bring it back to the last whole frame.
        avio_seek(output, file.committed, SEEK_SET)
        _ = av_write_trailer(format)
        avio_flush(output)
    }
}

extension RecordingFile {
    package struct SoundTrack {
        package var sampleRate, channels: Int32
        /// AudioSpecificConfig (ISO 14496-3), as MP4 and Matroska keep it.
        package var configuration: [UInt8]
        /// Samples that the encoder puts in front of the first.
        package var primingFrames: Int
        /// Bits a second, of all channels.
        package var bitRate: Int64

        /// Of AAC of low complexity.
        private static let samplesPerPacket: Int32 = 1024

        /// Samples of a packet that do not play; `nil` where it plays whole.
        /// - Parameter duration: in nanoseconds.
        func samplesLeftOver(of duration: Int64) -> UInt32? {
            let playing = (Double(duration) * Double(sampleRate) / 1e9).rounded()
            let left = Double(Self.samplesPerPacket) - playing
            return left >= 1 ? UInt32(left) : nil
        }

        func describe(_ parameters: UnsafeMutablePointer<AVCodecParameters>) throws(MediaFault) {
            parameters.pointee.codec_type = AVMEDIA_TYPE_AUDIO
            parameters.pointee.codec_id = AV_CODEC_ID_AAC
            parameters.pointee.profile = FF_PROFILE_AAC_LOW
            parameters.pointee.format = AV_SAMPLE_FMT_FLTP.rawValue
            parameters.pointee.sample_rate = sampleRate
            parameters.pointee.frame_size = Self.samplesPerPacket
            parameters.pointee.initial_padding = Int32(primingFrames)
            parameters.pointee.bit_rate = bitRate
            av_channel_layout_default(&parameters.pointee.ch_layout, channels)
            // libav frees it with the parameters, and reads a little past its end.
            let room = av_mallocz(configuration.count + Int(AV_INPUT_BUFFER_PADDING_SIZE))
            let extra = try allocated("describing sound", room).assumingMemoryBound(to: UInt8.self)
            for (place, byte) in configuration.enumerated() { extra[place] = byte }
            parameters.pointee.extradata = extra
            parameters.pointee.extradata_size = Int32(configuration.count)
        }
    }
}
