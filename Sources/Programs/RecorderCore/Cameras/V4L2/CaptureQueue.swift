import CMedia
import Glibc
import System

/// The driver's buffers while it streams: requested, mapped, handed over and taken back. When it goes, every buffer is
/// blanked before it is given back: a mapping that outlives it shows nothing.
final class CaptureQueue {
    let format: camarb_video_format
    private let device: any VideoDevice
    private var buffers: [UnsafeMutableRawBufferPointer] = []
    private var isRunning = false

    /// One on its way to each of a client's two unread frames, one kept as the newest, one being looked at, and two for
    /// the driver, which needs that many to go on while it fills one.
    static let buffersUsual = 6
    /// Fewer, and a driver cannot stream.
    static let buffersLeast = 2

    init(_ device: any VideoDevice, _ wanted: camarb_video_format, frameRate: Double) throws(VideoFault) {
        self.device = device
        let format = try device.set(wanted, onlyTry: false)
        self.format = format
        guard format.fourcc == wanted.fourcc, format.width == wanted.width, format.height == wanted.height else {
            throw VideoFault("set it to \(wanted.width)x\(wanted.height)", EINVAL)
        }
        // Rows that overlap would be read beyond a buffer's end.
        guard format.stride >= PictureConverter.rowBytesLeast(format) else {
            throw VideoFault("use its rows of \(format.stride) bytes for \(format.width) pixels", EINVAL)
        }
        do throws(VideoFault) { _ = try device.set(frameRate: frameRate) } catch {
            // Then frames are left out where the device is faster.
            guard [ENOTTY, EINVAL].contains(error.number) else { throw error }
        }
        do throws(VideoFault) {
            let count = try device.request(buffers: Self.buffersUsual)
            guard count >= Self.buffersLeast else { throw VideoFault("get buffers", ENOMEM) }
            for index in 0..<count { buffers.append(try device.map(index)) }
            for index in 0..<count { try handOver(index) }
            try device.stream(true)
            isRunning = true
        } catch {
            end()
            throw error
        }
    }

    deinit { end() }
    var count: Int { buffers.count }

    func bytes(of frame: camarb_video_frame) -> UnsafeRawBufferPointer {
        let whole = buffers[Int(frame.index)]
        return UnsafeRawBufferPointer(rebasing: whole.prefix(Int(frame.bytes)))
    }

    /// The next whole frame, if there is one.
    /// - Parameter damaged: counts frames that were not whole.
    func next(damaged: inout UInt64) throws(VideoFault) -> camarb_video_frame? {
        while let frame = try device.dequeue() {
            // A number from outside is checked before it is used.
            guard buffers.indices.contains(Int(frame.index)) else { throw VideoFault("take a frame", ERANGE) }
            let isWhole =
                frame.is_damaged == 0 && Int(frame.bytes) <= buffers[Int(frame.index)].count
                && Int(frame.bytes) >= PictureConverter.bytesLeast(format)
            if isWhole { return frame }
            damaged += 1
            try handOver(Int(frame.index))
        }
        return nil
    }

    /// Gives a buffer to the driver to fill. Once more where it refused: one slip is no reason to begin anew.
    func handOver(_ index: Int) throws(VideoFault) {
        do throws(VideoFault) { try device.queue(index) } catch {
            guard error.number != ENODEV else { throw error }
            try device.queue(index)
        }
    }

    func export(_ index: Int) throws(VideoFault) -> Int32 { try device.export(index) }

    /// Stops streaming, blanks the buffers and gives them back. Idempotent.
    func end() {
        // A device that is gone refuses all of this, and has let everything go by itself.
        if isRunning { try? device.stream(false) }
        isRunning = false
        let hadBuffers = !buffers.isEmpty
        for buffer in buffers {
            if let start = buffer.baseAddress { memset(start, 0, buffer.count) }
            device.unmap(buffer)
        }
        buffers = []
        if hadBuffers { _ = try? device.request(buffers: 0) }
    }
}
