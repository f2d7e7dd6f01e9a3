import Glibc

/// One node of the machine's video subsystem, and its identity, from `/sys`. Nothing is opened for it.
///
/// The number in a node's name is given in the order of appearance and means nothing. A camera has two names that last:
/// its maker's serial number, where it has one, and the place of its port.
public struct VideoNode: Hashable, Sendable {
    /// Such as `/dev/video0`; another one after the next plugging in.
    public var path: String
    /// The driver's name of the node.
    public var name: String
    /// Bus and port, as udev's `ID_PATH` has it, and without a port the driver's name of the node.
    public var place: String
    /// Maker, model and serial number, where the device has one.
    public var serial: String?
    /// Its folder in `/sys`, without links.
    public var sysPath: String

    /// A program makes its pictures, as OBS does with `v4l2loopback`, and no device. sysfs has such nodes below
    /// `devices/virtual`.
    // `strstr`, for the same reason as the vocabulary's `holds`, which nothing here imports.
    public var isMadeUp: Bool { strstr(sysPath, "/devices/virtual/video4linux/") != nil }

    /// Whether a written identity means this node.
    public func answers(to identity: String) -> Bool { identity == serial || identity == place }
}

/// All present nodes.
public struct VideoNodes: Sendable {
    /// Ordered by place, so that the same machine always gives the same list.
    public private(set) var all: [VideoNode]

    public init(_ nodes: [VideoNode]) { all = nodes.sorted { $0.place < $1.place } }

    /// Reads them.
    /// - Parameters:
    /// - sys: the folder of sysfs; another one in tests.
    /// - devices: the folder of the nodes.
    public init(sys: String = "/sys", devices: String = "/dev") {
        let tree = SysTree(root: sys)
        self.init(
            tree.names(in: "class/video4linux").filter { $0.hasPrefix("video") }.compactMap { name in
                tree.node(name, devices: devices)
            })
    }
}
