package import ArbiterProtocol
import CVideo4Linux
package import FrameStream
import Glibc

/// The driver's own buffers on their way to a client: nothing is copied.
extension V4L2Camera {
    package func lendBuffers(_ layout: PictureLayout) -> [Int32]? {
        guard let queue, lends(layout, queue) else { return nil }
        var exported: [Int32] = []
        for index in 0..<queue.count {
            do throws(VideoFault) { exported.append(try queue.export(index)) } catch {
                // A driver that cannot gives copies.
                for descriptor in exported { close(descriptor) }
                return nil
            }
        }
        return exported
    }

    private func lends(_ layout: PictureLayout, _ queue: CaptureQueue) -> Bool {
        let format = queue.format
        // What waits in buffers that were taken over was captured for somebody else.
        return !isTakenOver && format.fourcc == camarb_fourcc_nv12 && crop == nil && Int(format.width) == layout.width
            && Int(format.height) == layout.height && Int(format.stride) == layout.stride
            && (format.full_range != 0) == layout.isFullRange && device.buffersCanOutliveTheirQueue
            && queue.count == CaptureQueue.buffersUsual
    }

    package var frameBuffer: Int? { crop == nil ? frame.map { Int($0.index) } : nil }

    package func keepOut() { frame = nil }

    package func takeBack(_ buffer: Int) throws(BrokerError) {
        guard let queue, buffer < queue.count else { return }
        try attempt { () throws(VideoFault) in try queue.handOver(buffer) }
    }

    package func renewBuffers() throws(BrokerError) {
        guard let selected else { return }
        halt()
        try select(format: selected.native.format, zoom: zoom, frameRate: selected.frameRate)
    }
}
