import ArbiterProtocol
import FrameStream

/// A device that pictures come from. The capture thread is its only user.
protocol CameraSource: AnyObject {
    /// What it can do; fixed while the process lives.
    var capabilities: CameraCapabilities { get }

    /// Whether frame number and time are also written out for people: test pictures have room for it.
    var showsText: Bool { get }

    /// Takes the device into use for a grant.
    func start() throws(BrokerError)

    /// Prepares for pictures of a format at a zoom. Nothing changes when it throws.
    func select(format: CameraFormat, zoom: Double) throws(BrokerError)

    /// When the next frame is due: nanoseconds of CLOCK_MONOTONIC.
    /// - Parameters:
    ///   - previous: when the last one was; nil for the first.
    ///   - interval: the least time between two frames, from the frame rate in force.
    func nextDue(after previous: Int64?, interval: Int64, now: Int64) throws(BrokerError) -> Int64

    /// Draws the frame that is due.
    func render(into picture: UnsafeMutableRawBufferPointer, layout: PictureLayout) throws(BrokerError)

    /// Lets the device go.
    func stop()
}

extension CameraSpec {
    func makeSource() throws(BrokerError) -> any CameraSource {
        switch self {
        case .simulated(let name):
            guard let model = SimulatedModel.named(name) else {
                throw BrokerError(.unknownCamera, "\(name.quotedShort) is no simulated camera.")
            }
            return SimulatedCamera(model)
        case .file(let path): return try FileCamera(path: path)
        }
    }
}
