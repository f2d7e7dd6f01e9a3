package import ArbiterProtocol
import CMedia
package import FrameStream
import Glibc
import System

/// A file that plays whatever happens: each picture ends a cluster of Matroska, or a fragment of MP4, flushed as soon as it and
/// the sound up to it are there.
///
/// Matroska's place for the duration is overwritten while the file grows, so that a killed recording has one too, and room
/// for tags and for the index is reserved in front, so that a full disk cannot take it. Readers of MP4 take the duration from the
/// fragments; an index of these is behind them, where there is room for it.
///
/// All times are nanoseconds of the file, of which 0 is the first picture's; a pause is no part of them.
/// Threading: the writer thread only.
package final class RecordingFile {
    package let file: OutputFile
    package private(set) var frames: UInt64 = 0
    /// Nanoseconds, to the end of the last of them.
    package private(set) var duration: Int64 = 0
    package var bytes: Int64 { file.committed }

    private let encoder: VideoEncoder
    private let muxer: RecordingMuxer
    private let sound: SoundTrack?
    private let kinds: [String]
    private var layout: MatroskaLayout?
    private var index = RecordingIndex()
    private var hasHeader = false

    private struct Entry {
        let packet: MediaPacket
        let time: Int64
        /// `nil` where it is no picture.
        var pictureEnd: Int64?
    }
    private var interleaver: Interleaver<Entry>
    /// Ticks, of each track's last packet: times in a track never go back.
    private var lastTicks: [Int64]
    /// Something was written since the last flush; and the time of the file up to which everything is flushed.
    private var isUnflushed = false
    private var flushedTo: Int64 = 0
    private var durationWritten: Int64 = -1

    /// A header with its rooms, and a first frame: a smaller limit could hold nothing.
    package static let bytesLeast = Int64(RecordingOptions.bytesLeast)
    package static let metadataMax = 8
    /// Nanoseconds: the greatest age of the header's duration, and the most sound that lies unflushed where no picture comes.
    private static let oldMax: Int64 = 400_000_000

    package struct Plan {
        package var layout: PictureLayout
        /// Pictures a second.
        package var frameRate: Double
        package var fileType: RecordingFileType
        /// `nil`: H.264 where the machine keeps up with it, else JPEGs.
        package var codec: VideoCodec?
        /// Bits a second of the picture; `nil`: as published for its size.
        package var bitRate: Int64?
        package var sound: SoundTrack?
        /// Kinds of metadata, each of which gets a track of text with that title; at most `metadataMax`.
        package var metadata: [String]
        /// As Exif numbers it, 1...8; `nil` for a file without orientation.
        package var orientation: Int?

        package init(
            layout: PictureLayout, frameRate: Double, fileType: RecordingFileType = .matroska, codec: VideoCodec? = nil,
            bitRate: Int64? = nil, sound: SoundTrack? = nil, metadata: [String] = [], orientation: Int? = nil
        ) {
            (self.layout, self.frameRate, self.fileType) = (layout, frameRate, fileType)
            (self.codec, self.bitRate, self.sound) = (codec, bitRate, sound)
            (self.metadata, self.orientation) = (metadata, orientation)
        }
    }

    /// Writes the header. Throws where libav cannot. A file that could not be written to has a `failure`.
    package init(file: OutputFile, _ plan: Plan) throws(MediaFault) {
        camarb_av_quiet()
        (self.file, sound, kinds) = (file, plan.sound, Array(plan.metadata.prefix(Self.metadataMax)))
        interleaver = Interleaver(hasSound: plan.sound != nil)
        lastTicks = Array(repeating: -1, count: (plan.sound == nil ? 1 : 2) + kinds.count)
        encoder = try VideoEncoder(plan)
        muxer = try RecordingMuxer(file, plan.fileType)
        try addTracks(plan)
        var tags = [(name: "creation_time", value: WallClock.writtenNow)]
        if let orientation = plan.orientation { tags.append(("ORIENTATION", String(orientation))) }
        try muxer.writeHeader(tags)
        // Where another libav writes its header otherwise, a killed recording has no duration, and is not completed.
        if plan.fileType == .matroska { layout = try? MatroskaLayout(ByteWindow(file.uncommitted)) }
        hasHeader = file.commit()
    }

    private func addTracks(_ plan: Plan) throws(MediaFault) {
        try muxer.addTrack(isDefault: true, orientation: plan.orientation) { (stream, parameters) throws(MediaFault) in
            try encoder.describe(parameters)
            stream.pointee.avg_frame_rate = av_d2q(plan.frameRate, 100_000)
        }
        if let sound {
            try muxer.addTrack(isDefault: true) { (_, parameters) throws(MediaFault) in try sound.describe(parameters) }
        }
        for kind in kinds {
            try muxer.addTrack(title: kind, isDefault: false) { (_, parameters) in
                parameters.pointee.codec_type = AVMEDIA_TYPE_SUBTITLE
                parameters.pointee.codec_id = AV_CODEC_ID_TEXT
            }
        }
    }

    // MARK: Appending

    /// Encodes a picture and appends it as soon as the sound up to it is there.
    /// - Parameter time: nanoseconds of the file, after the last picture's.
    /// - Parameter interval: how long it is shown if no further one comes, in nanoseconds.
    package func appendPicture(
        _ picture: UnsafeRawBufferPointer, at time: Int64, interval: Int64
    ) throws(MediaFault) -> Bool {
        guard isOpen else { return false }
        // Times grow, also where two captures fall into one tick.
        let tick = max(lastTicks[0] + 1, time / muxer.nanosecondsPerTick)
        let packets = try encoder.encode(picture, tick: tick)
        lastTicks[0] = tick
        for packet in packets {
            packet.stamp(stream: 0, tick: tick, duration: max(1, interval / muxer.nanosecondsPerTick))
            let entry = Entry(packet: packet, time: time, pictureEnd: time + interval)
            interleaver.add(entry, .picture, at: time, bytes: packet.bytes)
        }
        return try writeKnown()
    }

    /// Appends a packet of sound.
    ///
    /// A packet that ends before the file begins is left out: an encoder's first packet holds only frames before the first sample
    /// (`primingFrames`), and no player but libav's would take it off again.
    /// - Parameter time: nanoseconds of the file, of its first sample as it is heard: the encoder's delay is taken off.
    /// - Parameter duration: in nanoseconds.
    package func appendSound(_ packet: [UInt8], at time: Int64, duration: Int64) throws(MediaFault) -> Bool {
        guard isOpen, let sound else { return false }
        guard time + duration / 2 >= 0 else { return try soundIsComplete(upTo: time + duration) }
        let packet = try MediaPacket(packet)
        if let left = sound.samplesLeftOver(of: duration) { try packet.discard(last: left) }
        return try append(packet, .sound, stream: 1, at: time, duration: duration)
    }

    /// No sound before `time` will come: pictures before it need not wait.
    /// - Returns: false when the file has come to its end.
    package func soundIsComplete(upTo time: Int64) throws(MediaFault) -> Bool {
        interleaver.soundIsComplete(upTo: time)
        return isOpen ? try writeKnown() : false
    }

    /// Appends a sample of metadata, which counts until the kind's next.
    package func appendMetadata(kind: String, _ json: String, at time: Int64) throws(MediaFault) -> Bool {
        guard isOpen, let place = kinds.firstIndex(of: kind) else { return isOpen }
        let stream = lastTicks.count - kinds.count + place
        return try append(try MediaPacket(Array(json.utf8)), .text, stream: stream, at: max(0, time), duration: 0)
    }

    private func append(
        _ packet: MediaPacket, _ track: Interleaver<Entry>.Track, stream: Int, at time: Int64, duration: Int64
    ) throws(MediaFault) -> Bool {
        let tick = max(lastTicks[stream], max(0, time) / muxer.nanosecondsPerTick)
        lastTicks[stream] = tick
        packet.stamp(stream: Int32(stream), tick: tick, duration: duration / muxer.nanosecondsPerTick)
        interleaver.add(
            Entry(packet: packet, time: time), track, at: time, bytes: packet.bytes, until: time + duration)
        return try writeKnown()
    }

    /// Writes all of the file's tags anew. Where they do not fit into their room together, the longest are left out.
    package func setTags(_ tags: [RecordingTag: String]) {
        guard hasHeader, let layout else { return }
        patch(layout.retagging(RecordingTags(tags)))
    }

    // MARK: Writing

    private var isOpen: Bool { hasHeader && file.failure == nil }

    private func patch(_ patches: [MatroskaLayout.Patch]) {
        for patch in patches { file.patch(patch.bytes, at: patch.offset) }
    }

    private func writeKnown() throws(MediaFault) -> Bool {
        while let entry = interleaver.next() { guard try write(entry) else { return false } }
        return true
    }

    private func write(_ entry: Entry) throws(MediaFault) -> Bool {
        guard let end = entry.pictureEnd else {
            // A picture flushes the packets before it; where none comes, this does.
            if isUnflushed, entry.time - flushedTo > Self.oldMax, try !flush(to: entry.time) { return false }
            try muxer.append(entry.packet)
            isUnflushed = true
            return true
        }
        if entry.packet.isKey {
            // It begins a cluster, so that the index can name it.
            let cluster = try muxer.flush()
            if let layout { index.note(entry.packet.pointer.pointee.pts, cluster - layout.segmentBody) }
        }
        try muxer.append(entry.packet)
        guard try flush(to: entry.time) else { return false }
        frames += 1
        duration = end
        if duration - durationWritten > Self.oldMax { writeDuration() }
        return true
    }

    /// Ends the cluster, so that it is whole in the file.
    private func flush(to time: Int64) throws(MediaFault) -> Bool {
        try muxer.flush()
        (isUnflushed, flushedTo) = (false, time)
        return file.commit()
    }

    private func writeDuration() {
        guard let layout else { return }
        file.patch(MatroskaLayout.durationElement(nanoseconds: duration), at: layout.durationAt)
        durationWritten = duration
    }

    /// Writes waiting packets, index, sizes and duration. The file is whole afterwards, also when the disk is full.
    package func finish() {
        guard hasHeader else { return }
        do throws(MediaFault) {
            while isOpen, let entry = interleaver.rest() { guard try write(entry) else { break } }
            if isOpen, isUnflushed { _ = try flush(to: duration) }
        } catch {
            // Waiting packets are lost; the file is made whole without them.
        }
        guard frames > 0 else {
            // A header without a fragment is a file whose tracks are empty.
            guard muxer.fileType == .matroska else { return }
            // libav would spoil the header with an index of nothing, and readers want a cluster: an empty one.
            _ = file.seek(file.committed, SEEK_SET)
            MatroskaLayout.emptyCluster.withUnsafeBytes { file.take($0) }
            _ = file.commit()
            return writeDuration()
        }
        // libav's index would have an entry for each sample of metadata, and none at all where they are too many.
        file.sealed = [layout?.indexRoom, layout?.seekHeadRoom].compactMap { $0 }
        muxer.writeTrailer()
        _ = file.commit()
        // Duration and size, too: libav would count a frame that did not fit.
        if let layout { patch(layout.completing(index, duration: duration, end: file.committed)) }
    }
}
