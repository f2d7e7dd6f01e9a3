import Arbiter
import ArbiterProtocol

extension Event {
    /// The camera whose recorder core may have ended a cut.
    var recorderNewsOf: CameraID? {
        switch self {
        case .recorderCut(let camera, _), .recorderGone(let camera): camera
        default: nil
        }
    }
}
