import ArbiterProtocol
import VideoNodes

/// A camera of the machine, for lists that people read.
public struct MachineCamera: Hashable, Sendable {
    /// What `--camera ID=v4l2:` takes.
    public var identity: String
    /// Such as `/dev/video0`; another one after the next plugging in.
    public var node: String
    public var name: String

    /// Opens each node for a moment to see whether it gives pictures; one that cannot be opened is listed with the
    /// reason for a name.
    public static func all() -> [MachineCamera] {
        let nodes = VideoNodes()
        return nodes.all.compactMap { node in
            let identity = nodes.identity(of: node)
            do throws(BrokerError) {
                let camera = try V4L2Camera(KernelVideoDevice(identity: identity), identity: identity)
                return MachineCamera(identity: identity, node: node.path, name: camera.capabilities.name)
            } catch {
                guard error.kind != .unknownCamera else { return nil }
                return MachineCamera(identity: identity, node: node.path, name: "(\(error.message))")
            }
        }
    }
}
