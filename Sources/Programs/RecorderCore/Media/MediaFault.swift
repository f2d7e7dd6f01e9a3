import ArbiterProtocol
import CMedia

package struct MediaFault: Error, Hashable {
    let operation: String
    let code: Int32

    init(_ operation: String, _ code: Int32) { (self.operation, self.code) = (operation, code) }

    var description: String {
        // libav's longest message has 64 bytes.
        var text = [CChar](repeating: 0, count: 128)
        camarb_av_error(code, &text, text.count)
        return "\(operation): \(String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self))"
    }
}

@discardableResult
func checked(_ operation: String, _ result: Int32) throws(MediaFault) -> Int32 {
    guard result >= 0 else { throw MediaFault(operation, result) }
    return result
}

func allocated<T>(_ operation: String, _ pointer: T?) throws(MediaFault) -> T {
    guard let pointer else { throw MediaFault(operation, camarb_AVERROR_ENOMEM) }
    return pointer
}

extension Array where Element == UInt8 {
    /// The bytes, for a body that throws media faults (the standard library's own forms lose the type).
    func withMediaBytes<R>(_ body: (UnsafeRawBufferPointer) throws(MediaFault) -> R) throws(MediaFault) -> R {
        try withUnsafeBytes { bytes in Result { () throws(MediaFault) in try body(bytes) } }.get()
    }

    mutating func withMutableMediaBytes<R>(
        _ body: (UnsafeMutableRawBufferPointer) throws(MediaFault) -> R
    ) throws(MediaFault) -> R {
        try withUnsafeMutableBytes { bytes in Result { () throws(MediaFault) in try body(bytes) } }.get()
    }
}

/// A packet of a track for libav, with its memory. Threading: one thread at a time.
final class MediaPacket {
    let pointer: UnsafeMutablePointer<AVPacket>

    init() throws(MediaFault) { pointer = try allocated("making a packet", av_packet_alloc()) }

    deinit {
        var packet: UnsafeMutablePointer<AVPacket>? = pointer
        av_packet_free(&packet)
    }

    /// A packet that can be decoded without any other, with a copy of the bytes.
    convenience init(_ bytes: UnsafeRawBufferPointer) throws(MediaFault) {
        try self.init()
        let start = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self)
        try checked("keeping a packet", camarb_packet_from_bytes(pointer, start, Int32(bytes.count)))
        pointer.pointee.flags |= AV_PKT_FLAG_KEY
    }

    convenience init(_ bytes: [UInt8]) throws(MediaFault) {
        try self.init()
        try checked("keeping a packet", camarb_packet_from_bytes(pointer, bytes, Int32(bytes.count)))
        pointer.pointee.flags |= AV_PKT_FLAG_KEY
    }

    /// The last samples of sound in it do not play, which the muxer writes to the file (DiscardPadding).
    func discard(last samples: UInt32) throws(MediaFault) {
        try checked("cutting a packet of sound", camarb_packet_discard(pointer, samples))
    }

    var bytes: Int { Int(pointer.pointee.size) }
    var isKey: Bool { pointer.pointee.flags & AV_PKT_FLAG_KEY != 0 }

    /// - Parameter tick: when it is shown; packets are decoded in the same order.
    /// - Parameter duration: in ticks; 0: until the next.
    func stamp(stream: Int32, tick: Int64, duration: Int64) {
        pointer.pointee.stream_index = stream
        pointer.pointee.pts = tick
        pointer.pointee.dts = tick
        pointer.pointee.duration = duration
    }
}
