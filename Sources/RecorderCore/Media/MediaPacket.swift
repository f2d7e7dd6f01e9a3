import CLibav

/// What libav takes and gives as one piece of a track, with its memory.
///
/// Threading: one thread at a time.
final class MediaPacket {
    let pointer: UnsafeMutablePointer<AVPacket>

    init() throws(MediaFault) { pointer = try allocated("making a packet", av_packet_alloc()) }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&packet)
    }

    /// A packet with a copy of these bytes.
    init(_ bytes: UnsafeRawBufferPointer) throws(MediaFault) {
        pointer = try allocated("making a packet", av_packet_alloc())
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        try checked("keeping a packet", camarb_packet_from_bytes(pointer, start, Int32(bytes.count)))
    }

    /// The last samples of sound in it do not play: the muxer writes that down (DiscardPadding).
    func discard(last samples: UInt32) throws(MediaFault) {
        try checked("cutting a packet of sound", camarb_packet_discard(pointer, samples))
    }

    var bytes: Int { Int(pointer.pointee.size) }
    var isKey: Bool { pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }

    /// - Parameters:
    ///   - tick: when it is shown, and in the order of which it is decoded.
    ///   - duration: in ticks; 0: until the next.
    func stamp(stream: Int32, tick: Int64, duration: Int64) {
        pointer.pointee.stream_index = stream
        pointer.pointee.pts = tick
        pointer.pointee.dts = tick
        pointer.pointee.duration = duration
    }
}
