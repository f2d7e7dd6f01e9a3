package import JSONText

/// sway's tree of outputs, workspaces and containers, as windows.
extension Desktop {
    /// More windows than anybody arranges, as on X11; of more, those that are seen come first.
    public static let swayWindowsMax = 512
    /// Each container around a window is two levels of JSON: thirty containers, one in another.
    package static let swayDepthMax = 72

    /// Nil where this is no tree at all. What a node says wrongly is left out of it, and nothing else.
    ///
    /// sway says itself what can be seen (`visible`): not what lies on another workspace, in another tab, on the
    /// scratchpad, or behind a window that fills the screen. What is seen beside one that fills its screen belongs to it,
    /// so those lie at the bottom of the stack.
    package init?(swayTree tree: JSON) {
        guard tree["type"]?.string == "root", tree["nodes"]?.array != nil else { return nil }
        var windows: [Window] = []
        var active: UInt32?
        // By hand, as the tree is somebody else's: what is left to look at, the next one last.
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

    /// With the processes of windows that are an X11 server's inside this desktop, by that server's word; nil for those
    /// that it does not know.
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
    /// Nil where a node is none: outputs, workspaces, and containers around others have no process.
    fileprivate init?(swayNode node: JSON) {
        guard let type = node["type"]?.string, type == "con" || type == "floating_con", node["pid"] != nil,
            let id = node["id"]?.integer.flatMap(UInt32.init(exactly:))
        else { return nil }
        // Of an X11 program sway knows only what the window says of itself.
        let x11 = node["window"]?.integer.flatMap(UInt32.init(exactly:))
        let process = node["pid"]?.integer.flatMap(Int32.init(exactly:))
        let frame = node["rect"]
        func number<Number: FixedWidthInteger>(_ key: String) -> Number {
            frame?[key]?.integer.map { Number(clamping: $0) } ?? 0
        }
        self.init(
            id: id, process: x11 == nil ? process.flatMap { $0 > 0 ? $0 : nil } : nil,
            isViewable: node["visible"]?.bool ?? false, isFullscreen: (node["fullscreen_mode"]?.integer ?? 0) > 0,
            frame: Frame(x: number("x"), y: number("y"), width: number("width"), height: number("height")), x11: x11)
    }
}
