package import ArbiterProtocol

/// sway's tree of outputs, workspaces and containers, as windows.
extension Desktop {
    /// More windows than anybody arranges, as on X11; of more, the visible ones come first.
    public static let swayWindowsMax = 512
    /// Each container around a window is two levels of JSON: thirty containers, one in another.
    package static let swayDepthMax = 72

    /// `nil` where this is no tree at all. A wrong field of a node is left out, and nothing else. sway itself reports
    /// visibility. Windows beside one that fills its screen are hidden by it, so those lie at the bottom of the stack.
    package init?(swayTree tree: JSON) {
        guard tree["type"]?.string == "root", tree["nodes"]?.array != nil else { return nil }
        var windows: [Window] = []
        var active: UInt32?
        // By hand, as the tree comes from outside: the nodes still to visit, the next one last.
        var rest = [tree]
        while let node = rest.popLast() {
            for inside in ["floating_nodes", "nodes"] { rest += (node[inside]?.array ?? []).reversed() }
            guard let window = Window(swayNode: node) else { continue }
            windows.append(window)
            if node["focused"]?.bool == true { active = window.id }
        }
        let seen = windows.filter(\.isViewable)
        let ordered = seen.filter(\.isFullscreen) + seen.filter { !$0.isFullscreen } + windows.filter { !$0.isViewable }
        self.init(windows: Array(ordered.prefix(Self.swayWindowsMax)), active: active)
    }

    /// The desktop with processes of windows that belong to an X11 server inside it; `nil` for unknown ones.
    public func naming(fromX11 other: Desktop?) -> Desktop {
        var named = self
        var processes: [UInt32: Int32] = [:]
        for window in other?.windows ?? [] { processes[window.id] = window.process }
        for place in named.windows.indices {
            if let number = named.windows[place].x11 { named.windows[place].process = processes[number] }
        }
        return named
    }
}

extension Window {
    /// `nil` for a node that is no window: outputs, workspaces, and containers around others have no process.
    fileprivate init?(swayNode node: JSON) {
        guard let type = node["type"]?.string, type == "con" || type == "floating_con", node["pid"] != nil,
            let id = node["id"]?.integer.flatMap(UInt32.init(exactly:))
        else { return nil }
        // Of an X11 program sway has only the window's own claim.
        let x11 = node["window"]?.integer.flatMap(UInt32.init(exactly:))
        let process = node["pid"]?.integer.flatMap(Int32.init(exactly:))
        self.init(
            id: id, process: x11 == nil ? process.flatMap { $0 > 0 ? $0 : nil } : nil,
            isViewable: node["visible"]?.bool ?? false, isFullscreen: (node["fullscreen_mode"]?.integer ?? 0) > 0,
            frame: Frame(node["rect"]), x11: x11)
    }
}
