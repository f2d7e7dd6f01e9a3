import ArbiterProtocol
import CMedia
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
        var packet: MediaPacket
        /// Nil: no picture.
        var pictureEnd: Int64?
        var time: Int64
    }
    private var interleaver: Interleaver<Entry>
    /// Ticks, of each track's last: times in a track never go back.
    private var lastTicks: [Int64]
    /// Something was written since the last flush; and the time of the file up to which everything is flushed.
    private var isUnflushed = false
    private var flushedTo: Int64 = 0
    private var durationWritten: Int64 = -1

    /// A header with its rooms, and a first frame: a smaller limit could hold nothing.
    package static let bytesLeast = Int64(RecordingOptions.bytesLeast)
    package static let metadataMax = 8
    /// Nanoseconds: so old the header's duration may be, and so much sound may lie unflushed where no picture comes.
    private static let oldMax: Int64 = 400_000_000

    private static let pictureStream: Int32 = 0
    private var firstTextStream: Int { sound == nil ? 1 : 2 }

    /// Writes the header. Throws where libav cannot. A file that could not be written to says so in `failure`.
    package init(file: OutputFile, _ plan: Plan) throws(MediaFault) {
        camarb_av_quiet()
        self.file = file
        sound = plan.sound
        kinds = Array(plan.metadata.prefix(Self.metadataMax))
        interleaver = Interleaver(hasSound: plan.sound != nil)
        lastTicks = Array(repeating: -1, count: (plan.sound == nil ? 1 : 2) + kinds.count)
        encoder = try VideoEncoder(plan)
        muxer = try RecordingMuxer(file, plan.fileType)
        try addTracks(plan)
        var tags = [(name: "creation_time", value: WallClock.writtenNow)]
        if let orientation = plan.orientation { tags.append(("ORIENTATION", String(orientation))) }
        try muxer.writeHeader(tags)
        // Where another libav writes its header otherwise, a killed recording has no duration, and is not completed.
        var header = ByteWindow(file.uncommitted)
        if plan.fileType == .matroska { layout = try? MatroskaLayout(&header) }
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

    // MARK: What comes

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
            packet.stamp(stream: Self.pictureStream, tick: tick, duration: max(1, interval / muxer.nanosecondsPerTick))
            let entry = Entry(packet: packet, pictureEnd: time + interval, time: time)
            interleaver.add(entry, .picture, at: time, bytes: packet.bytes)
        }
        return try writeKnown()
    }

    /// Appends a packet of sound.
    ///
    /// What ends before the file begins is left out: an encoder's first packet holds only what comes before the first sample
    /// (`primingFrames`), and no player but libav's would take it off again.
    /// - Parameter time: nanoseconds of the file, of its first sample as it is heard: the encoder's delay is taken off.
    /// - Parameter duration: in nanoseconds.
    package func appendSound(_ packet: [UInt8], at time: Int64, duration: Int64) throws(MediaFault) -> Bool {
        guard isOpen, sound != nil else { return false }
        guard time + duration / 2 >= 0 else { return try soundIsComplete(upTo: time + duration) }
        let packet = try packet.withMediaBytes { (bytes) throws(MediaFault) in try MediaPacket(bytes) }
        packet.pointer.pointee.flags |= AV_PKT_FLAG_KEY
        if let left = sound?.samplesLeftOver(of: duration) { try packet.discard(last: left) }
        stamp(packet, 1, time, duration / muxer.nanosecondsPerTick)
        interleaver.add(
            Entry(packet: packet, pictureEnd: nil, time: time), .sound, at: time, bytes: packet.bytes,
            until: time + duration)
        return try writeKnown()
    }

    /// No sound before `time` will come: pictures before it need not wait.
    /// - Returns: false when the file has come to its end.
    package func soundIsComplete(upTo time: Int64) throws(MediaFault) -> Bool {
        interleaver.soundIsComplete(upTo: time)
        guard isOpen else { return false }
        return try writeKnown()
    }

    /// Appends a sample of metadata, which counts until the kind's next.
    package func appendMetadata(kind: String, _ json: String, at time: Int64) throws(MediaFault) -> Bool {
        guard isOpen, let place = kinds.firstIndex(of: kind) else { return isOpen }
        let packet = try Array(json.utf8).withMediaBytes { (bytes) throws(MediaFault) in try MediaPacket(bytes) }
        packet.pointer.pointee.flags |= AV_PKT_FLAG_KEY
        stamp(packet, firstTextStream + place, max(0, time), 0)
        interleaver.add(
            Entry(packet: packet, pictureEnd: nil, time: time), .text, at: max(0, time), bytes: packet.bytes)
        return try writeKnown()
    }

    private func stamp(_ packet: MediaPacket, _ stream: Int, _ time: Int64, _ duration: Int64) {
        let tick = max(lastTicks[stream], max(0, time) / muxer.nanosecondsPerTick)
        lastTicks[stream] = tick
        packet.stamp(stream: Int32(stream), tick: tick, duration: duration)
    }

    /// Writes the file's tags anew, all of them. Where they do not fit into their room together, the longest are left out.
    package func setTags(_ tags: [RecordingTag: String]) {
        guard hasHeader, let layout else { return }
        for patch in layout.retagging(RecordingTags(tags)) { file.patch(patch.bytes, at: patch.offset) }
    }

    // MARK: Writing

    private var isOpen: Bool { hasHeader && file.failure == nil }

    private func writeKnown() throws(MediaFault) -> Bool {
        while let entry = interleaver.next() { guard try write(entry) else { return false } }
        return true
    }

    private func write(_ entry: Entry) throws(MediaFault) -> Bool {
        guard let end = entry.pictureEnd else {
            // A picture flushes what came before it; where none comes, this does.
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

    /// Ends the cluster, so that what is in it is whole in the file.
    private func flush(to time: Int64) throws(MediaFault) -> Bool {
        try muxer.flush()
        isUnflushed = false
        flushedTo = time
        return file.commit()
    }

    private func writeDuration() {
        guard let layout else { return }
        file.patch(MatroskaLayout.durationElement(nanoseconds: duration), at: layout.durationAt)
        durationWritten = duration
    }

    /// Writes what waits, index, sizes and duration. The file is whole afterwards, also when the disk is full.
    package func finish() {
        guard hasHeader else { return }
        do throws(MediaFault) {
            while isOpen, let entry = interleaver.rest() { guard try write(entry) else { break } }
            if isOpen, isUnflushed { _ = try flush(to: duration) }
        } catch {
            // What waited is lost; what is in the file is made whole.
        }
        if frames == 0, muxer.fileType != .matroska {
            // A header without a fragment is a file whose tracks are empty.
            return
        }
        if frames == 0 {
            // libav would spoil the header with an index of nothing, and readers want a cluster: an empty one.
            _ = file.seek(file.committed, SEEK_SET)
            MatroskaLayout.emptyCluster.withUnsafeBytes { file.take($0) }
            _ = file.commit()
            writeDuration()
            return
        }
        // libav's index would have an entry for each sample of metadata, and none at all where they are too many.
        file.sealed = [layout?.indexRoom, layout?.seekHeadRoom].compactMap { $0 }
        muxer.writeTrailer()
        _ = file.commit()
        guard let layout else { return }
        // Duration and size, too: libav would count a frame that did not fit.
        for patch in layout.completing(index, duration: duration, end: file.committed) {
            file.patch(patch.bytes, at: patch.offset)
        }
    }
}
