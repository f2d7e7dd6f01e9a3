import Arbiter
import ArbiterProtocol
import Glibc
import System

/// The machine's cameras as they come and go, and the present node of each.
///
/// It opens nothing. udev reports what comes and goes, after its rules have run; without udev, `/dev` is watched and
/// `/sys` read. Its recorder core finds out a node's capabilities.
///
/// A camera keeps its id over every plugging: the one it was given (`--camera front=v4l2:IDENTITY`), else its identity.
final class CamerasFollowed {
    private unowned let broker: Broker
    private let followsAll: Bool
    private var monitor: DeviceMonitor?
    private var watch: FolderObserver?
    private var again: Timer?
    private var present: [CameraID: PluggedNode] = [:]
    private var warnedOfTooMany = false

    /// A node may have come before udev's rules gave it its rights: without udev, it is looked at again so many nanoseconds later.
    private static let settleTime: Int64 = 200_000_000
    /// Cameras that were ever there: one without a serial number is another one at each port.
    private static let knownMax = 256

    init(_ broker: Broker, followsAll: Bool) {
        self.broker = broker
        self.followsAll = followsAll
        begin()
        look()
    }

    private func begin() {
        do throws(SystemFault) {
            if DeviceMonitor.isThere {
                monitor = try DeviceMonitor(subsystem: "video4linux", on: broker.loop) { [unowned self] in look() }
            } else {
                again = try broker.loop.addTimer { [unowned self] in look() }
                watch = try FolderObserver("/dev", on: broker.loop) { [unowned self] in
                    look()
                    again?.arm(at: EventLoop.now + Self.settleTime)
                }
                broker.journal.send(.notice, "udev does not run: cameras are found in /sys, and /dev is watched")
            }
        } catch {
            broker.journal.send(
                .warning, "cameras that are plugged in or out are not noticed until the broker starts again: \(error)")
        }
    }

    private func look() {
        let nodes = VideoNodes()
        let capture = nodes.all.filter(Self.mayCapture).map(PluggedNode.init)
        for (camera, known) in present.sorted(by: { $0.key.name < $1.key.name })
        where !capture.contains(where: known.isStill) {
            gone(camera)
        }
        for found in capture where !present.values.contains(where: { $0.node == found.node }) {
            let node = found.node
            for link in links(of: node, among: nodes) {
                present[link.camera] = found
                link.seat = Self.seat(of: node)
                link.nodeUsersPath = DriverUsers.path(ofNode: node.sysPath)
                let name = Journal.printable(node.name, keepLines: false)
                link.log(.info, "camera “\(link.camera.name)” is \(node.path) (\(name))")
                link.setPresent(true)
            }
        }
        for (camera, known) in present { lookAtRights(camera, known.node) }
        for link in broker.cameras.order where link.isFollowed && present[link.camera] == nil { link.isNotThere() }
    }

    private static func seat(of node: VideoNode) -> SeatID {
        switch DeviceMonitor.property("ID_SEAT", of: node.sysPath) {
        case .value(let name): SeatID(name)
        case .absent, .unknown: .usual
        }
    }

    /// A camera has further nodes, for metadata or output.
    private static func mayCapture(_ node: VideoNode) -> Bool {
        switch DeviceMonitor.property("ID_V4L_CAPABILITIES", of: node.sysPath) {
        case .value(let list): list.holds(":capture:")
        case .absent: false
        // Where udev runs its event follows; where it does not, the recorder core finds out.
        case .unknown: !DeviceMonitor.isThere
        }
    }

    /// The cameras of a node: named ones, else one of its own where all are followed.
    private func links(of node: VideoNode, among nodes: VideoNodes) -> [CameraLink] {
        let named = broker.cameras.order.filter { link in
            guard let identity = link.identity else { return false }
            return nodes.node(identity) == node
        }
        // A node that a program makes up is open to everybody by udev's rule. Only where it was named it is a camera.
        if !named.isEmpty || !followsAll || node.isMadeUp { return named }
        let identity = nodes.identity(of: node)
        // Two that nothing tells apart are one camera, which is the first of them.
        guard broker.cameras[CameraID(identity)] == nil else { return [] }
        // A camera that is not there costs only a name: it keeps out none that is.
        let there = broker.cameras.order.count { !$0.isFollowed || present[$0.camera] != nil }
        guard there < BrokerOptions.camerasMax, broker.cameras.order.count < Self.knownMax else {
            if !warnedOfTooMany {
                warnedOfTooMany = true
                broker.journal.send(
                    .warning,
                    "there are more than \(BrokerOptions.camerasMax) cameras, or were more than \(Self.knownMax); \(identity) and others are left out"
                )
            }
            return []
        }
        return [broker.cameras.add(CameraID(identity), spec: "v4l2:\(identity)")]
    }

    /// Whether apps can go past the broker. udev reports a change of a node's rights.
    private func lookAtRights(_ camera: CameraID, _ node: VideoNode) {
        guard let link = broker.cameras[camera], let rights = NodeAccess.Rights(ofPath: node.path) else { return }
        let found = NodeAccess.bypass(node.path, rights, broker: (geteuid(), getegid()), NodeAccess.system)
        guard found != link.bypass else { return }
        link.bypass = found
        if let found {
            link.log(.warning, "camera “\(camera.name)” is bypassable: \(found)")
        } else {
            broker.journal.send(.info, "camera “\(camera.name)” is in nobody's hands but the broker's")
        }
    }

    private func gone(_ camera: CameraID) {
        guard let known = present.removeValue(forKey: camera) else { return }
        broker.journal.send(
            .info, "camera “\(camera.name)” was unplugged (it was \(known.node.path))", [("CAMARB_CAMERA", camera.name)]
        )
        broker.cameras[camera]?.bypass = nil
        broker.cameras[camera]?.setPresent(false)
    }
}

private struct PluggedNode {
    let node: VideoNode
    /// The inode of its folder in sysfs, another one for each plugging in: a device that is back already is not its former
    /// plugging, whose end udev may report later.
    let number: UInt64

    init(_ node: VideoNode) {
        self.node = node
        var found = stat()
        number = stat(node.sysPath, &found) == 0 ? UInt64(found.st_ino) : 0
    }

    func isStill(_ other: PluggedNode) -> Bool {
        node.path == other.node.path && node.sysPath == other.node.sysPath && number == other.number
    }
}

extension CameraLink {
    /// `nil` for a camera that is none of the machine's.
    var identity: String? { spec.hasPrefix("v4l2:") ? String(spec.dropFirst("v4l2:".count)) : nil }

    var isFollowed: Bool { identity != nil }
}
