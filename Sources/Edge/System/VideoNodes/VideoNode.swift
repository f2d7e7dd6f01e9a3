import Glibc

/// One node of the machine's video subsystem, and its identity, as `/sys` says. Nothing is opened to know it.
///
/// The number in a node's name is given in the order of appearance and means nothing. A camera is known by two names
/// that last: the serial number its maker gave it, where it has one, and the place it is plugged in at.
public struct VideoNode: Hashable, Sendable {
    /// Such as `/dev/video0`; another one after the next plugging in.
    public var path: String
    /// What the driver calls the node.
    public var name: String
    /// Bus and port, as udev's `ID_PATH` has it, and for what has no port of its own the driver's name of the node.
    public var place: String
    /// Maker, model and serial number, where the device has one.
    public var serial: String?
    /// The folder in `/sys` that describes it, without links.
    public var sysPath: String

    /// No device is behind it: a program makes up its pictures, as OBS does with `v4l2loopback`. sysfs has such nodes below
    /// `devices/virtual`.
    // `strstr`, for the reason that the vocabulary has its `holds`, which nothing here imports.
    public var isMadeUp: Bool { strstr(sysPath, "/devices/virtual/video4linux/") != nil }

    /// Whether an identity that somebody wrote down means this node.
    public func answers(to identity: String) -> Bool { identity == serial || identity == place }
}

/// All nodes that there are at one moment.
public struct VideoNodes: Sendable {
    /// Ordered by place, so that the same machine always gives the same list.
    public private(set) var all: [VideoNode]

    public init(_ nodes: [VideoNode]) { all = nodes.sorted { $0.place < $1.place } }

    /// Reads them.
    /// - Parameters:
    ///   - sys: where sysfs is; another folder in tests.
    ///   - devices: where the nodes are.
    public init(sys: String = "/sys", devices: String = "/dev") {
        let tree = SysTree(root: sys)
        self.init(
            tree.names(in: "class/video4linux").filter { $0.hasPrefix("video") }.compactMap { name in
                tree.node(name, devices: devices)
            })
    }
}
