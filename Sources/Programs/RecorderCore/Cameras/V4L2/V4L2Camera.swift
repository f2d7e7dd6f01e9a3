package import ArbiterProtocol
import CLinux
import CMedia
package import FrameStream
import Glibc
import System

/// A camera of the machine, over Video4Linux.
///
///     closed ──start──▶ open ──select──▶ streaming ──stop──▶ closed
///
/// It is open only during a grant, and for a moment when it is described or looked at, so that its light is off and other
/// programs find it free when no app of ours has it. A fault leaves it closed; whoever has the grant starts it again. Not in
/// the diagram: a fault that says *why* there are no pictures (unplugged, held outside, privacy) also changes `condition`.
package final class V4L2Camera: CameraSource {
    package let capabilities: CameraCapabilities
    package let isMarked = false
    package let showsText = false
    package internal(set) var condition = DeviceCondition.usable
    package internal(set) var isGone = false
    /// Frames that came damaged, since the start of the process.
    package private(set) var damagedFrames: UInt64 = 0

    let device: any VideoDevice
    private let identity: String
    private let natives: [NativeFormat]
    let controlSet: VideoControls
    let zoomer: VideoZoom
    private let converter = PictureConverter()
    /// It was free when it was opened for a grant: what is set there is ours to set, and to set back.
    private var isOurs = false
    var queue: CaptureQueue?
    var selected: (native: NativeFormat, frameRate: Double)?
    var crop: SensorWindow.Crop?
    var frame: camarb_video_frame?
    var zoom = 1.0
    package private(set) var buffersBegun = 0
    private var lastTime: Int64 = 0
    /// The grant has only frames whose time is later than this: those before were captured for another one, or before
    /// everything was set for this one. Nanoseconds of CLOCK_MONOTONIC.
    var countsFrom = Int64.min
    /// The queue was taken over from an earlier grant, and has that one's pictures in buffers that wait.
    var isTakenOver = false
    /// A frame of this queue had a time of another clock.
    private(set) var clockIsForeign = false
    var news: [String] = []

    /// Without a frame for this long, the device is started again; in nanoseconds.
    package static let stallTimeUsual: Int64 = 3_000_000_000
    private let stallTime: Int64
    /// A slow camera may take this many frames' time.
    static let stallFrames: Int64 = 4
    /// A frame's time that is older than this is of another clock; in nanoseconds.
    static let ageMax: Int64 = 5_000_000_000

    /// Opens it, asks what it can do, and lets it go.
    package init(
        _ device: any VideoDevice, identity: String, stallTime: Int64 = V4L2Camera.stallTimeUsual
    ) throws(BrokerError) {
        (self.stallTime, self.device, self.identity) = (stallTime, device, identity)
        do throws(VideoFault) {
            try device.open()
            let found = try device.identify()
            guard found.canStream else {
                device.close()
                throw VideoFault("stream pictures from it", ENOTTY)
            }
            controlSet = VideoControls(device)
            zoomer = VideoZoom(device)
            natives = VideoFormats(device: device, zoom: zoomer.range).all()
            let largest = natives.max { $0.format.width * $0.format.height < $1.format.width * $1.format.height }
            capabilities = CameraCapabilities(
                name: found.card.isEmpty ? identity : found.card, position: Self.position(device),
                sensorWidth: max(largest?.format.width ?? 1, zoomer.range.sensorWidth ?? 1),
                sensorHeight: largest?.format.height ?? 1, formats: natives.map(\.format), controls: controlSet.list)
            if controlSet.isPrivate { condition = .privacyOn }
        } catch {
            device.close()
            if error.number == ENOTTY { throw BrokerError(.unknownCamera, "\(identity) gives no stream of pictures.") }
            if error.number == ENODEV || error.number == ENOENT {
                throw BrokerError(.unknownCamera, "\(identity) is not plugged in.")
            }
            throw BrokerError(.deviceFault, "\(identity): \(error.words).")
        }
        device.close()
        guard !natives.isEmpty else {
            throw BrokerError(.unknownCamera, "\(identity) gives pictures in no format that can be read.")
        }
    }

    /// Where it is on the machine, as far as its firmware told the kernel: few do.
    private static func position(_ device: any VideoDevice) -> CameraPosition {
        guard device.control(camarb_cid_camera_orientation) != nil,
            let value = try? device.value(of: camarb_cid_camera_orientation)
        else { return .external }
        return value == 0 ? .front : value == 1 ? .back : .external
    }

    package var descriptor: Int32? { queue == nil ? -1 : device.descriptor }

    // MARK: A grant

    package func start() throws(BrokerError) {
        try attempt { () throws(VideoFault) in
            try device.open()
            _ = try device.identify()
            try requireUnused()
            isOurs = true
            controlSet.subscribe()
            // It was seen when the device was closed, and may be past.
            condition = controlSet.isPrivate ? .privacyOn : .usable
        }
        if condition == .privacyOn {
            stop()
            throw BrokerError(.deviceFault, "The privacy switch of \(capabilities.name) is on.")
        }
    }

    package func select(format: CameraFormat, zoom: Double, frameRate: Double) throws(BrokerError) {
        guard let native = natives.first(where: { $0.format == format }) else {
            throw BrokerError(.unsupportedConfiguration, "\(format.name) is no format of \(capabilities.name).")
        }
        try attempt { () throws(VideoFault) in
            if queue == nil || selected?.native != native || selected?.frameRate != frameRate {
                // Two queues of one device cannot be: the old one goes first.
                letFrameGo()
                queue?.end()
                queue = nil
                var wanted = camarb_video_format()
                wanted.fourcc = native.fourcc
                wanted.width = UInt32(format.width)
                wanted.height = UInt32(format.height)
                queue = try CaptureQueue(device, wanted, frameRate: frameRate)
                buffersBegun += 1
                countsFrom = .min
                isTakenOver = false
                clockIsForeign = false
                selected = (native, frameRate)
                zoomer.begin()
            }
            self.zoom = zoom
            let magnified = zoomer.set(zoom)
            crop = magnified > 1 ? Self.window(format, zoom: magnified) : nil
        }
    }

    static func window(_ format: CameraFormat, zoom: Double) -> SensorWindow.Crop {
        SensorWindow(
            rasterWidth: format.width, rasterHeight: format.height, readWidth: format.width, readHeight: format.height
        ).crop(zoom: zoom).even
    }

    package func set(_ settings: CaptureSettings) throws(BrokerError) {
        do throws(VideoFault) { try controlSet.apply(settings.controls) } catch {
            if let lost = loss(error) { throw lost }
            throw BrokerError(
                .unsupportedConfiguration, "\(capabilities.name) refused: \(error.words). Nothing changed."
            )
        }
    }

    package var controls: Configuration { device.descriptor < 0 ? Configuration() : controlSet.inForce }
    package func photoIsNext() { controlSet.strobe() }

    package func halt() {
        frame = nil
        queue?.end()
        queue = nil
        selected = nil
    }

    package func stop() {
        halt()
        if device.descriptor >= 0, isOurs {
            // A zoom or a torch of one app is not the next one's, nor another program's.
            zoomer.reset()
            controlSet.reset()
        }
        isOurs = false
        device.close()
    }

    // MARK: Frames

    package func nextDue(after previous: Int64?, interval: Int64, now: Int64) throws(BrokerError) -> Int64 {
        due(now, after: previous, interval: interval, now: now)
    }

    package func due(_ due: Int64, after previous: Int64?, interval: Int64, now: Int64) -> Int64 {
        now + max(stallTime, interval * Self.stallFrames)
    }

    package func takeFrame(interval: Int64, now: Int64) throws(BrokerError) -> Int64? {
        try attempt { () throws(VideoFault) -> Int64? in
            takeControlNews()
            guard let queue else { throw VideoFault("take a frame", EIO) }
            letFrameGo()
            var sawSomething = false
            while let taken = try queue.next(damaged: &damagedFrames) {
                sawSomething = true
                if taken.time <= countsFrom {
                    try queue.handOver(Int(taken.index))
                    continue
                }
                if !(now - Self.ageMax...now + Self.ageMax).contains(taken.time) { clockIsForeign = true }
                let isOurClock = taken.time > now - Self.ageMax && taken.time <= now
                let time = isOurClock ? taken.time : now
                // A device that is faster than asked. Three quarters of an interval, for one that is not quite even.
                if time >= lastTime + interval / 4 * 3 {
                    lastTime = time
                    frame = taken
                    return time
                }
                try queue.handOver(Int(taken.index))
            }
            if !sawSomething, hasFailed() { throw VideoFault("take a frame", EIO) }
            return nil
        }
    }

    /// The queue is in error: asking it again would keep the thread busy and give nothing.
    private func hasFailed() -> Bool {
        var polled = pollfd(fd: device.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) > 0 && polled.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
    }

    package func render(into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout) throws(BrokerError) {
        guard let queue, let frame, let selected, selected.native.format.width == layout.width,
            selected.native.format.height == layout.height
        else { throw BrokerError(.deviceFault, "\(capabilities.name) was asked for a picture without a frame.") }
        do throws(PictureFault) {
            try converter.convert(queue.bytes(of: frame), queue.format, crop, on: device, into: picture, layout: layout)
        } catch {
            switch error {
            case .device(let fault):
                throw BrokerError(.deviceFault, "\(capabilities.name): \(fault.words).")
            case .media(let fault): throw BrokerError(.deviceFault, "\(capabilities.name): \(fault.description).")
            }
        }
    }

    package func frameIsDone() throws(BrokerError) {
        guard let done = frame, let queue else { return }
        frame = nil
        try attempt { () throws(VideoFault) in try queue.handOver(Int(done.index)) }
    }

    /// A frame that nobody finished: drawing it failed.
    func letFrameGo() {
        if let frame { try? queue?.handOver(Int(frame.index)) }
        frame = nil
    }

}

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
