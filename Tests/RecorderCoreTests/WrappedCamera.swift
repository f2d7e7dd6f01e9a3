import ArbiterProtocol
import FrameStream
import RecorderCore

/// A simulated camera to which a test does something: all that is asked of it is asked of the camera inside.
protocol WrappedCamera: CameraSource {
    var camera: SimulatedCamera { get }
}

extension WrappedCamera {
    var capabilities: CameraCapabilities { camera.capabilities }
    var showsText: Bool { camera.showsText }
    func start() throws(BrokerError) { try camera.start() }
    func stop() { camera.stop() }
    func select(format: CameraFormat, zoom: Double, frameRate: Double) throws(BrokerError) {
        try camera.select(format: format, zoom: zoom, frameRate: frameRate)
    }
    func goOn(_ settings: CaptureSettings, zoom: Double) throws(BrokerError) -> Bool {
        try camera.goOn(settings, zoom: zoom)
    }
    func nextDue(after previous: Int64?, interval: Int64, now: Int64) throws(BrokerError) -> Int64 {
        try camera.nextDue(after: previous, interval: interval, now: now)
    }
    func render(into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout) throws(BrokerError) {
        try camera.render(into: picture, layout: layout)
    }
}
