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
/// programs find it free when no app of ours has it. A fault leaves it closed; the capture loop starts it again. Not in the
/// diagram: a fault that explains *why* there are no pictures (unplugged, held outside, privacy) also changes `condition`.
package final class V4L2Camera: CameraSource {
    package let capabilities: CameraCapabilities
    package let isMarked = false
    package let showsText = false
    package private(set) var condition = DeviceCondition.usable
    package private(set) var isGone = false
    /// Frames that came damaged, since the start of the process.
    package private(set) var damagedFrames: UInt64 = 0

    private let device: any VideoDevice
    private let natives: [NativeFormat]
    private let controlSet: VideoControls
    private let zoomer: VideoZoom
    private let converter = PictureConverter()
    /// It was free when it was opened for a grant: what is set there is ours to set, and to set back.
    private var isOurs = false
    private var queue: CaptureQueue?
    private var selected: (native: NativeFormat, frameRate: Double)?
    private var crop: SensorWindow.Crop?
    private var frame: camarb_video_frame?
    private var zoom = 1.0
    package private(set) var buffersBegun = 0
    private var lastTime: Int64 = 0
    /// CLOCK_MONOTONIC, in nanoseconds: frames up to this are another grant's, or older than this one's settings.
    private var countsFrom = Int64.min
    /// The queue's buffers may have frames of an earlier grant.
    private var isTakenOver = false
    /// A frame of this queue had a time of another clock.
    private var clockIsForeign = false
    private var news: [String] = []

    /// Without a frame for so many nanoseconds, the device is started again.
    package static let stallTimeUsual: Int64 = 3_000_000_000
    private let stallTime: Int64
    /// A slow camera may take this many frames' time.
    private static let stallFrames: Int64 = 4
    /// A frame's time that is older than this is of another clock; in nanoseconds.
    private static let ageMax: Int64 = 5_000_000_000

    package init(
        _ device: any VideoDevice, identity: String, stallTime: Int64 = V4L2Camera.stallTimeUsual
    ) throws(BrokerError) {
        (self.stallTime, self.device) = (stallTime, device)
        defer { device.close() }
        do throws(VideoFault) {
            try device.open()
            let found = try device.identify()
            guard found.canStream else { throw VideoFault("stream pictures from it", ENOTTY) }
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
            switch error.number {
            case ENOTTY: throw BrokerError(.unknownCamera, "\(identity) gives no stream of pictures.")
            case ENODEV, ENOENT: throw BrokerError(.unknownCamera, "\(identity) is not plugged in.")
            default: throw BrokerError(.deviceFault, "\(identity): \(error.words).")
            }
        }
        guard !natives.isEmpty else {
            throw BrokerError(.unknownCamera, "\(identity) gives pictures in no format that can be read.")
        }
    }

    /// Where it is on the machine, as far as its firmware reports it: few do.
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
            // The condition of a closed device may be past.
            condition = controlSet.isPrivate ? .privacyOn : .usable
        }
        if condition == .privacyOn {
            stop()
            throw fault("The privacy switch of \(capabilities.name) is on.")
        }
    }

    package func select(format: CameraFormat, zoom: Double, frameRate: Double) throws(BrokerError) {
        guard let native = natives.first(where: { $0.format == format }) else {
            throw BrokerError(.unsupportedConfiguration, "\(format.name) is not a format of \(capabilities.name).")
        }
        try attempt { () throws(VideoFault) in
            if queue == nil || selected?.native != native || selected?.frameRate != frameRate {
                // Two queues of one device cannot be: the old one goes first.
                letFrameGo()
                queue?.end()
                queue = nil
                queue = try CaptureQueue(
                    device, camarb_video_format(native.fourcc, format.width, format.height), frameRate: frameRate)
                buffersBegun += 1
                (countsFrom, isTakenOver, clockIsForeign) = (.min, false, false)
                selected = (native, frameRate)
                zoomer.begin()
            }
            setZoom(zoom, format)
        }
    }

    private func setZoom(_ zoom: Double, _ format: CameraFormat) {
        self.zoom = zoom
        let magnified = zoomer.set(zoom)
        let (width, height) = (format.width, format.height)
        let whole = SensorWindow(rasterWidth: width, rasterHeight: height, readWidth: width, readHeight: height)
        crop = magnified > 1 ? whole.crop(zoom: magnified).even : nil
    }

    package func set(_ settings: CaptureSettings) throws(BrokerError) {
        do throws(VideoFault) { try controlSet.apply(settings.controls) } catch {
            throw loss(error)
                ?? BrokerError(
                    .unsupportedConfiguration, "\(capabilities.name) refused: \(error.words). Nothing changed.")
        }
    }

    package func goOn(_ settings: CaptureSettings, zoom: Double) throws(BrokerError) -> Bool {
        takeControlNews()
        // By a foreign clock nobody can tell which frames were captured before this moment.
        guard queue != nil, selected?.native.format == settings.format, selected?.frameRate == settings.frameRate,
            !clockIsForeign, condition == .usable
        else { return false }
        letFrameGo()
        controlSet.beginAnew()
        try set(settings)
        setZoom(zoom, settings.format)
        guard !zoomer.isLeftOver else { return false }
        isTakenOver = true
        countsFrom = camarb_monotonic_ns()
        return true
    }

    package var controls: Configuration { device.descriptor < 0 ? Configuration() : controlSet.inForce }
    package func photoIsNext() { controlSet.strobe() }

    package func halt() {
        queue?.end()
        (frame, queue, selected) = (nil, nil, nil)
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
                if taken.time > countsFrom {
                    if !(now - Self.ageMax...now + Self.ageMax).contains(taken.time) { clockIsForeign = true }
                    let isOurClock = taken.time > now - Self.ageMax && taken.time <= now
                    let time = isOurClock ? taken.time : now
                    // A device may be faster than the rate in force. Three quarters of an interval, for one that is not quite even.
                    if time >= lastTime + interval / 4 * 3 {
                        (lastTime, frame) = (time, taken)
                        return time
                    }
                }
                try queue.handOver(Int(taken.index))
            }
            if !sawSomething, hasFailed() { throw VideoFault("take a frame", EIO) }
            return nil
        }
    }

    /// The queue is in error: another dequeue would keep the thread busy and give nothing.
    private func hasFailed() -> Bool {
        var polled = pollfd(fd: device.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&polled, 1, 0) > 0 && polled.revents & Int16(POLLERR | POLLHUP | POLLNVAL) != 0
    }

    package func render(into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout) throws(BrokerError) {
        guard let queue, let frame, let selected, selected.native.format.width == layout.width,
            selected.native.format.height == layout.height
        else { throw fault("\(capabilities.name) was asked for a picture without a frame.") }
        do throws(PictureConverter.Fault) {
            try converter.convert(queue.bytes(of: frame), queue.format, crop, on: device, into: picture, layout: layout)
        } catch { throw fault("\(capabilities.name): \(error.words).") }
    }

    package func frameIsDone() throws(BrokerError) {
        guard let done = frame else { return }
        frame = nil
        try takeBack(Int(done.index))
    }

    /// A frame that nobody finished: drawing it failed.
    private func letFrameGo() {
        if let frame { try? queue?.handOver(Int(frame.index)) }
        frame = nil
    }

    // MARK: The driver's own buffers on their way to a client

    package func lendBuffers(_ layout: PictureLayout) -> [Int32]? {
        guard let queue, !isTakenOver, crop == nil, queue.format.lies(as: layout),
            Int(queue.format.stride) == layout.stride, device.buffersCanOutliveTheirQueue,
            queue.count == CaptureQueue.buffersUsual
        else { return nil }
        var exported: [Int32] = []
        for index in 0..<queue.count {
            guard let descriptor = try? queue.export(index) else {
                // A driver that cannot gives copies.
                for descriptor in exported { close(descriptor) }
                return nil
            }
            exported.append(descriptor)
        }
        return exported
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

    // MARK: Condition: it goes, others take it or change it, or its switch is on

    private func takeControlNews() {
        while let (id, value) = device.news() {
            if id == camarb_cid_privacy {
                condition = value == 0 ? .usable : .privacyOn
            } else if let sentence = controlSet.changedOutside(id, value) {
                news.append(sentence)
            }
        }
    }

    package func takeNews() -> String? { news.isEmpty ? nil : news.removeFirst() }

    package func look() {
        do throws(VideoFault) {
            try device.open()
            defer { device.close() }
            _ = try device.identify()
            // A program about to request its own buffers might get none: only where there is no other way to find out.
            switch device.hasBuffers() {
            case true?: throw VideoFault("look at it", EBUSY)
            case false?: break
            case nil: try requireUnused()
            }
            isGone = false
            condition = controlSet.isPrivate ? .privacyOn : .usable
        } catch { _ = loss(error) }
    }

    package func watchNode(in queue: Int32) throws(BrokerError) {
        do throws(VideoFault) { try device.watch(in: queue) } catch {
            throw fault("\(capabilities.name): \(error.words).")
        }
    }

    package func opener() -> String? { device.otherHolder() }
    /// Throws `EBUSY` when another program has buffers, and so the device: before anything is set.
    private func requireUnused() throws(VideoFault) {
        _ = try device.request(buffers: 1)
        _ = try device.request(buffers: 0)
    }

    private func fault(_ sentence: String) -> BrokerError { BrokerError(.deviceFault, sentence) }

    private func attempt<R>(_ body: () throws(VideoFault) -> R) throws(BrokerError) -> R {
        do throws(VideoFault) { return try body() } catch {
            throw loss(error) ?? fault("\(capabilities.name): \(error.words).")
        }
    }

    /// The error for a fault that changes `condition`; `nil` for a fault that may be over with the next start.
    private func loss(_ fault: VideoFault) -> BrokerError? {
        let sentence: String
        switch fault.number {
        case ENODEV, ENXIO, ENOENT:
            sentence = "\(capabilities.name) is not plugged in any more."
            condition = .disconnected(sentence)
            isGone = fault.doing == "find it"
        case EBUSY:
            let holder = device.otherHolder() ?? "a program that cannot be seen from here"
            sentence = "\(capabilities.name) is held outside the broker by \(holder)."
            condition = .heldOutside(holder)
        default: return nil
        }
        // At once: a driver waits for the last one to let go before the device may come back.
        stop()
        return self.fault(sentence)
    }
}
