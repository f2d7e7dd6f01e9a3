import ArbiterProtocol
import CameraFile
import CaptureModel
import FrameStream
import RecorderCore
import Synchronization

/// A simulated camera that counts what is done to it.
final class CountedCamera: CameraSource {
    struct Counts {
        var starts = 0
        var stops = 0
        var wentOn = 0
    }

    private let camera: SimulatedCamera
    private let counts: Counter

    final class Counter: Sendable {
        let counts = Mutex(Counts())
        func change(_ body: (inout Counts) -> Void) { counts.withLock { body(&$0) } }
    }

    init(_ model: CameraModel, _ counts: Counter) {
        camera = SimulatedCamera(model)
        self.counts = counts
    }

    var capabilities: CameraCapabilities { camera.capabilities }
    var showsText: Bool { camera.showsText }
    func start() throws(BrokerError) {
        counts.change { $0.starts += 1 }
        try camera.start()
    }
    func stop() {
        counts.change { $0.stops += 1 }
        camera.stop()
    }
    func select(format: CameraFormat, zoom: Double, frameRate: Double) throws(BrokerError) {
        try camera.select(format: format, zoom: zoom, frameRate: frameRate)
    }
    func goOn(_ settings: CaptureSettings, zoom: Double) throws(BrokerError) -> Bool {
        counts.change { $0.wentOn += 1 }
        return try camera.goOn(settings, zoom: zoom)
    }
    func nextDue(after previous: Int64?, interval: Int64, now: Int64) throws(BrokerError) -> Int64 {
        try camera.nextDue(after: previous, interval: interval, now: now)
    }
    func render(into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout) throws(BrokerError) {
        try camera.render(into: picture, layout: layout)
    }
}
