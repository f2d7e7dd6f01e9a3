import CLibav
import Glibc

/// libav's Matroska muxer over a recording's file: the header with its tracks, what they hold, and the trailer.
///
/// Everything appended since the last flush is one cluster.
///
/// Threading: the writer thread only.
final class MatroskaMuxer {
    private let file: OutputFile
    private var format: UnsafeMutablePointer<AVFormatContext>?
    private var output: UnsafeMutablePointer<AVIOContext>?

    /// Ticks a second of every time here: Matroska's own.
    static let ticksPerSecond: Int32 = 1000
    static let nanosecondsPerTick = Int64(1_000_000_000 / Int64(ticksPerSecond))
    /// Enough for an entry a second over forty minutes; a longer recording has fewer (`RecordingIndex`).
    private static let indexBytes = "65536"
    private static let bufferBytes: Int32 = 65_536

    init(_ file: OutputFile) throws(MediaFault) {
        self.file = file
        let buffer = try allocated("making a buffer", av_malloc(Int(Self.bufferBytes)))
        // Unretained: this object holds the file longer than libav has the context.
        output = avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), Self.bufferBytes, 1, Unmanaged.passUnretained(file).toOpaque(),
            nil, outputFileWrite, outputFileSeek)
        try checked("making a Matroska file", avformat_alloc_output_context2(&format, nil, "matroska", nil))
        let context = try allocated("making a Matroska file", format)
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
    /// - Parameters:
    ///   - title: nil for none.
    ///   - isDefault: it is played unless somebody asks for another.
    func addTrack(
        title: String? = nil, isDefault: Bool,
        _ describe: (UnsafeMutablePointer<AVStream>, UnsafeMutablePointer<AVCodecParameters>) throws(MediaFault) -> Void
    ) throws(MediaFault) {
        let stream = try allocated("adding a stream", avformat_new_stream(format, nil))
        stream.pointee.time_base = AVRational(num: 1, den: Self.ticksPerSecond)
        stream.pointee.disposition = isDefault ? AV_DISPOSITION_DEFAULT : 0
        if let title { av_dict_set(&stream.pointee.metadata, "title", title, 0) }
        try describe(stream, try allocated("adding a stream", stream.pointee.codecpar))
    }

    /// Writes the header to memory: the file has it after its next commit.
    /// - Parameter tags: of the whole file.
    func writeHeader(_ tags: [(name: String, value: String)]) throws(MediaFault) {
        guard let format else { return }
        for tag in tags { av_dict_set(&format.pointee.metadata, tag.name, tag.value, 0) }
        var options: OpaquePointer?
        av_dict_set(&options, "reserve_index_space", Self.indexBytes, 0)
        // Otherwise the first text track would be a default one, and be shown as subtitles.
        av_dict_set(&options, "default_mode", "passthrough", 0)
        defer { av_dict_free(&options) }
        try checked("writing the header", avformat_write_header(format, &options))
        avio_flush(output)
    }

    func append(_ packet: MediaPacket) throws(MediaFault) {
        try checked("writing a packet", av_write_frame(format, packet.pointer))
    }

    /// Ends the cluster. libav keeps the last sound packet back, into the next one.
    /// - Returns: where the next cluster begins.
    @discardableResult
    func flush() throws(MediaFault) -> Int64 {
        try checked("flushing", av_write_frame(format, nil))
        avio_flush(output)
        return avio_seek(output, 0, SEEK_CUR)
    }

    /// Writes what libav knows only at the end: its last packet, and how long each track is.
    func writeTrailer() {
        // After a failed append libav is ahead of the file: bring it back to the last whole frame.
        avio_seek(output, file.committed, SEEK_SET)
        _ = av_write_trailer(format)
        avio_flush(output)
    }
}
