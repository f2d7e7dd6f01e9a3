public import ArbiterProtocol

/// A window of an app or of the desktop itself, as the X server and the window manager, or the compositor, describe it.
public struct Window: Hashable, Sendable {
    public var id: UInt32
    /// The process behind it, by the server's report; `nil` where the server cannot tell.
    public var process: Int32?
    public var kind: Kind
    /// Mapped, and so is everything around it.
    public var isViewable: Bool
    /// Minimized, by the window manager's report.
    public var isHidden: Bool
    public var isFullscreen: Bool
    /// `nil`: on all workspaces, or the window manager has none.
    public var workspace: UInt32?
    public var frame: Frame
    /// Its number at an X server inside a Wayland compositor; `nil` for all others. That server reports its process.
    public var x11: UInt32?

    public enum Kind: String, Hashable, Sendable {
        case application
        /// The desktop, panels, menus, notifications: no app is in front with one of these.
        case furniture
    }

    /// On the screen, in pixels.
    public struct Frame: Hashable, Sendable {
        public var x, y: Int32
        public var width, height: UInt32

        public init(x: Int32, y: Int32, width: UInt32, height: UInt32) {
            (self.x, self.y, self.width, self.height) = (x, y, width, height)
        }

        func contains(_ other: Frame) -> Bool {
            x <= other.x && y <= other.y && Int64(x) + Int64(width) >= Int64(other.x) + Int64(other.width)
                && Int64(y) + Int64(height) >= Int64(other.y) + Int64(other.height)
        }
    }

    package init(
        id: UInt32, process: Int32?, kind: Kind = .application, isViewable: Bool = true, isHidden: Bool = false,
        isFullscreen: Bool = false, workspace: UInt32? = nil, frame: Frame, x11: UInt32? = nil
    ) {
        (self.id, self.process, self.kind, self.isViewable) = (id, process, kind, isViewable)
        (self.isHidden, self.isFullscreen, self.workspace) = (isHidden, isFullscreen, workspace)
        (self.frame, self.x11) = (frame, x11)
    }
}

/// The windows of one user's screen at one moment.
public struct Desktop: Hashable, Sendable {
    /// From the bottom of the stack to its top.
    public var windows: [Window]
    /// The window that the user works with; `nil`: none.
    public var active: UInt32?
    /// The workspace that is shown; `nil`: there are none.
    public var workspace: UInt32?

    public init(windows: [Window], active: UInt32?, workspace: UInt32? = nil) {
        (self.windows, self.active, self.workspace) = (windows, active, workspace)
    }

    public mutating func keep(_ there: Set<UInt32>) { windows.removeAll { !there.contains($0.id) } }

    /// The placement of a window's app, by this window alone.
    ///
    /// A window is in the background when the user cannot see it: minimized, on another workspace, or behind one that
    /// fills its screen. Other windows that overlap it hide it only in part, or may be transparent, and do not count.
    public func placement(of place: Int) -> Placement {
        let window = windows[place]
        let isHere = window.workspace == nil || workspace == nil || window.workspace == workspace
        guard window.kind == .application, window.isViewable, !window.isHidden, isHere else { return .background }
        let isCovered = windows[(place + 1)...].contains { above in
            above.isFullscreen && above.isViewable && !above.isHidden && above.kind == .application
                && above.frame.contains(window.frame)
                && (above.workspace == nil || workspace == nil || above.workspace == workspace)
        }
        let isFocused = window.id == active
        // The user works with it: then it is visible, whatever the stack is for a moment.
        if isCovered && !isFocused { return .background }
        return Placement(.foreground(window.isFullscreen ? .fullscreen : .split), isFocused: isFocused)
    }
}

/// An app's placement for the broker.
///
/// X11 and sway have fullscreen windows and windows beside others: only `fullscreen` and `split` are ever sent.
public struct Placement: Hashable, Sendable, Comparable {
    public var presence: Presence
    public var isFocused: Bool

    public init(_ presence: Presence, isFocused: Bool = false) {
        self.presence = presence
        self.isFocused = isFocused && presence.isForeground
    }

    public static let background = Placement(.background)

    /// An app with several windows is where the strongest of them is: the focus first, then a window that fills the
    /// screen.
    public static func < (a: Placement, b: Placement) -> Bool { a.strength < b.strength }

    private var strength: Int {
        if isFocused { return 3 }
        return switch presence {
        case .background: 0
        case .foreground(.fullscreen): 2
        case .foreground: 1
        }
    }
}

/// Decides when a desktop that is read piece by piece has to be read again.
///
/// A reading takes as long as the X server's replies, and shows windows as they were at some moment of it. So a change
/// during one may be missing: it is read again as soon as this one is complete, without a further event, which might
/// never come.
public struct ReadingOrder: Hashable, Sendable {
    private var isStale = false

    public init() {}

    /// A reading was due.
    /// - Parameter begun: false: one was under way already.
    public mutating func wasDue(begun: Bool) { if !begun { isStale = true } }

    /// Whether a reading is due after an event.
    /// - Parameters:
    /// - changed: something that a reading depends on.
    /// - complete: the reading under way is complete.
    public mutating func isDue(changed: Bool, complete: Bool) -> Bool {
        guard changed || isStale && complete else { return false }
        isStale = false
        return true
    }
}

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

extension Window.Frame {
    fileprivate init(_ said: JSON?) {
        func number<Number: FixedWidthInteger>(_ key: String) -> Number {
            said?[key]?.integer.map { Number(clamping: $0) } ?? 0
        }
        self.init(x: number("x"), y: number("y"), width: number("width"), height: number("height"))
    }
}

/// The windows by our script inside KWin.
extension Desktop {
    /// More windows than anybody arranges, as on X11; of more, the script sends the topmost.
    public static let kwinWindowsMax = 512
    /// An object, its list, and an object for each window with its frame.
    package static let kwinDepthMax = 5

    /// `nil` where this is no output of the script. Only a window's wrong field is left out: another version of KWin
    /// may have fewer.
    package init?(kwin said: JSON) {
        guard let list = said["windows"]?.array else { return nil }
        let windows = list.suffix(Self.kwinWindowsMax).compactMap(Window.init(kwin:))
        let active = said["active"]?.integer.flatMap(UInt32.init(exactly:))
        self.init(windows: windows, active: active.flatMap { $0 == 0 ? nil : $0 })
    }
}

extension Window {
    fileprivate init?(kwin said: JSON) {
        guard let id = said["id"]?.integer.flatMap(UInt32.init(exactly:)) else { return nil }
        // Of an X11 program KWin has only the window's own claim.
        let x11 = said["x11"]?.integer.flatMap(UInt32.init(exactly:)).flatMap { $0 == 0 ? nil : $0 }
        let process = said["process"]?.integer.flatMap(Int32.init(exactly:)).flatMap { $0 > 0 ? $0 : nil }
        self.init(
            id: id, process: x11 == nil ? process : nil,
            kind: said["application"]?.bool == false ? .furniture : .application,
            isViewable: said["here"]?.bool ?? false, isHidden: said["hidden"]?.bool ?? false,
            isFullscreen: said["fullscreen"]?.bool ?? false, frame: Frame(said), x11: x11)
    }
}
