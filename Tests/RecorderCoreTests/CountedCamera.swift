import ArbiterProtocol
import CameraFile
import CaptureModel
import FrameStream
import RecorderCore
import Synchronization

/// A simulated camera that counts what is done to it.
final class CountedCamera: WrappedCamera {
    struct Counts {
        var starts = 0
        var stops = 0
        var wentOn = 0
    }

    let camera: SimulatedCamera
    private let counts: Counter

    final class Counter: Sendable {
        let counts = Mutex(Counts())
        func change(_ body: (inout Counts) -> Void) { counts.withLock { body(&$0) } }
    }

    init(_ model: CameraModel, _ counts: Counter) {
        camera = SimulatedCamera(model)
        self.counts = counts
    }

    func start() throws(BrokerError) {
        counts.change { $0.starts += 1 }
        try camera.start()
    }
    func stop() {
        counts.change { $0.stops += 1 }
        camera.stop()
    }
    func goOn(_ settings: CaptureSettings, zoom: Double) throws(BrokerError) -> Bool {
        counts.change { $0.wentOn += 1 }
        return try camera.goOn(settings, zoom: zoom)
    }
}
