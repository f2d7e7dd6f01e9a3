import Agent
import ArbiterProtocol

/// Processes by number: an app and a parent each.
struct FakeProcesses: ProcessTable {
    var all: [Int32: (app: String, parent: Int32)]
    func app(of process: Int32) -> String? { all[process]?.app }
    func parent(of process: Int32) -> Int32? { all[process]?.parent }
    /// Of those that are in one.
    var units: [Int32: String] = [:]
    func appUnit(of process: Int32) -> String? { units[process] }
    var inTerminals: Set<Int32> = []
    func hasTerminal(_ process: Int32) -> Bool { inTerminals.contains(process) }

    /// A session manager (10), a terminal (20) with a shell (21) and a program in it (22), a browser (30) with a process
    /// for the camera (31), an editor (40).
    static let usual = FakeProcesses(all: [
        10: ("session", 1), 20: ("terminal", 10), 21: ("sh", 20), 22: ("camclient", 21), 30: ("browser", 10),
        31: ("capture", 30), 40: ("editor", 10),
    ])
}

extension Window {
    static let screen = Frame(x: 0, y: 0, width: 1000, height: 800)

    static func of(
        _ process: Int32?, id: UInt32? = nil, kind: Kind = .application, hidden: Bool = false, fullscreen: Bool = false,
        workspace: UInt32? = nil, viewable: Bool = true, frame: Frame = Frame(x: 10, y: 10, width: 300, height: 200)
    ) -> Window {
        Window(
            id: id ?? UInt32(process ?? 0), process: process, kind: kind, isViewable: viewable, isHidden: hidden,
            isFullscreen: fullscreen, workspace: workspace, frame: fullscreen ? screen : frame)
    }
}

extension Placement {
    static let inFront = Placement(.foreground(.split))
    static let focused = Placement(.foreground(.split), isFocused: true)
}

extension Desktop {
    /// Where each window is; of one number the first.
    var places: [UInt32: Placement] {
        Dictionary(windows.indices.map { (windows[$0].id, placement(of: $0)) }, uniquingKeysWith: { first, _ in first })
    }
}
