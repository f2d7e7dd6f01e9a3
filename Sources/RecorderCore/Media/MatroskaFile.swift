import ArbiterProtocol
import CLibav
package import FrameStream
import Glibc

/// A Matroska file that plays whatever happens: each frame is a cluster of its own, flushed as soon as it is encoded.
///
/// The header's place for the duration is overwritten every second, so that a killed recording has one too, and
/// room for the index is reserved in front, so that a full disk cannot take it.
///
/// Threading: the writer thread only.
package final class MatroskaFile {
    package let file: OutputFile
    package private(set) var frames: UInt64 = 0
    /// Nanoseconds, to the end of the last frame.
    package private(set) var duration: Int64 = 0
    /// Of the last frame, in nanoseconds of CLOCK_MONOTONIC; 0: there is none.
    package private(set) var lastCapture: Int64 = 0

    private let encoder: VideoEncoder
    private var format: UnsafeMutablePointer<AVFormatContext>?
    private var output: UnsafeMutablePointer<AVIOContext>?
    private var packet: UnsafeMutablePointer<AVPacket>?
    private var durationAt: Int64?
    private var checksumAt: Int64?
    private var firstCapture: Int64?
    private var lastTime: Int64 = -1
    private var hasHeader = false

    /// Enough for an entry a second over fifty minutes. A longer recording is searched without an index.
    private static let indexBytes = "65536"
    private static let bufferBytes: Int32 = 65_536
    /// A header with its index, and a first frame: a smaller limit could hold nothing.
    package static let bytesLeast = Int64(RecordingOptions.bytesLeast)

    /// Writes the header.
    package init(file: OutputFile, layout: PictureLayout, frameRate: Double) throws(MediaFault) {
        self.file = file
        camarb_av_quiet()
        encoder = try VideoEncoder(layout: layout, frameRate: frameRate)
        packet = try allocated("making a packet", av_packet_alloc())
        let buffer = try allocated("making a buffer", av_malloc(Int(Self.bufferBytes)))
        // Unretained: this object holds the file longer than libav has the context.
        output = avio_alloc_context(
            buffer.assumingMemoryBound(to: UInt8.self), Self.bufferBytes, 1, Unmanaged.passUnretained(file).toOpaque(),
            nil, outputFileWrite, outputFileSeek)
        try checked(
            "making a Matroska file", avformat_alloc_output_context2(&format, nil, "matroska", nil))
        let context = try allocated("making a Matroska file", format)
        context.pointee.pb = try allocated("making an output", output)
        context.pointee.flags |= AVFMT_FLAG_CUSTOM_IO
        let stream = try allocated("adding a stream", avformat_new_stream(context, nil))
        if let parameters = stream.pointee.codecpar { try encoder.describe(parameters) }
        stream.pointee.time_base = AVRational(num: 1, den: VideoEncoder.ticksPerSecond)
        stream.pointee.avg_frame_rate = av_d2q(frameRate, 100_000)
        av_dict_set(&context.pointee.metadata, "creation_time", Self.now(), 0)
        var options: OpaquePointer?
        av_dict_set(&options, "reserve_index_space", Self.indexBytes, 0)
        defer { av_dict_free(&options) }
        try checked("writing the header", avformat_write_header(context, &options))
        avio_flush(output)
        // Where another libav writes its header otherwise, a killed recording has no duration, and is not completed.
        var header = ByteWindow(file.uncommitted)
        if let layout = try? MatroskaLayout(&header) {
            (durationAt, checksumAt) = (layout.durationAt, layout.checksumAt)
        }
        hasHeader = file.commit()
    }

    deinit {
        av_packet_free(&packet)
        avformat_free_context(format)
        if let output { av_free(output.pointee.buffer) }
        avio_context_free(&output)
    }

    /// Encodes, appends and flushes one frame.
    /// - Parameters:
    ///   - captured: nanoseconds of CLOCK_MONOTONIC.
    ///   - interval: how long it is shown if no further one comes, in nanoseconds.
    /// - Returns: false when the file has come to its end; the frame is then not in it.
    package func append(_ picture: UnsafeRawBufferPointer, captured: Int64, interval: Int64) throws(MediaFault) -> Bool
    {
        guard hasHeader, file.failure == nil, let packet else { return false }
        let first = firstCapture ?? captured
        // Times grow, also where two captures fall into one tick.
        let ticksPerNanosecond = Int64(1_000_000_000 / Int64(VideoEncoder.ticksPerSecond))
        let time = max(lastTime + 1, (captured - first) / ticksPerNanosecond)
        var isKey = false
        try encoder.encode(picture, time: time, into: packet) { () throws(MediaFault) in
            packet.pointee.stream_index = 0
            packet.pointee.duration = max(1, interval / ticksPerNanosecond)
            isKey = isKey || packet.pointee.flags & AV_PKT_FLAG_KEY != 0
            try checked("writing a frame", av_write_frame(format, packet))
        }
        // Ends the cluster, so that the frame is whole in the file.
        try checked("flushing a frame", av_write_frame(format, nil))
        avio_flush(output)
        guard file.commit() else { return false }
        firstCapture = first
        lastTime = time
        frames += 1
        duration = captured - first + interval
        lastCapture = captured
        if isKey { writeDuration() }
        return true
    }

    /// What the duration would be with one more frame.
    func durationAfter(captured: Int64, interval: Int64) -> Int64 { captured - (firstCapture ?? captured) + interval }

    /// Writes index, sizes and duration. The file is whole afterwards, also when the disk is full.
    package func finish() {
        guard hasHeader else { return }
        if frames == 0 {
            // libav would spoil the header with an index of nothing, and readers want a cluster: an empty one.
            _ = file.seek(file.committed, SEEK_SET)
            MatroskaLayout.emptyCluster.withUnsafeBytes { file.take($0) }
            _ = file.commit()
            writeDuration()
            return
        }
        // After a failed append libav is ahead of the file: bring it back to the last whole frame.
        avio_seek(output, file.committed, SEEK_SET)
        _ = av_write_trailer(format)
        avio_flush(output)
        _ = file.commit()
        // libav's own duration would count a frame that did not fit; and its checksum is of that one.
        writeDuration()
        if let checksumAt { file.patch(MatroskaLayout.noChecksum, at: checksumAt) }
    }

    private func writeDuration() {
        if let durationAt { file.patch(MatroskaLayout.durationElement(nanoseconds: duration), at: durationAt) }
    }

    private static func now() -> String {
        var seconds = time(nil)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        let day = "\(parts.tm_year + 1900)-\(two(parts.tm_mon + 1))-\(two(parts.tm_mday))"
        return "\(day)T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
