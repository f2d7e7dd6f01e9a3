import ArbiterProtocol

/// A window of an app or of the desktop itself, as the X server and the window manager, or the compositor, describe it.
public struct Window: Hashable, Sendable {
    public var id: UInt32
    /// The process behind it, by the server's word; nil where the server cannot tell.
    public var process: Int32?
    public var kind: Kind
    /// Mapped, and so is everything around it.
    public var isViewable: Bool
    /// Minimized, by the window manager's word.
    public var isHidden: Bool
    public var isFullscreen: Bool
    /// Nil: on all workspaces, or the window manager has none.
    public var workspace: UInt32?
    public var frame: Frame
    /// Its number at an X server inside a Wayland compositor; nil for all others. Its process is that server's to say.
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
            self.x = x
            self.y = y
            self.width = width
            self.height = height
        }

        func contains(_ other: Frame) -> Bool {
            x <= other.x && y <= other.y
                && Int64(x) + Int64(width) >= Int64(other.x) + Int64(other.width)
                && Int64(y) + Int64(height) >= Int64(other.y) + Int64(other.height)
        }
    }

    package init(
        id: UInt32, process: Int32?, kind: Kind = .application, isViewable: Bool = true, isHidden: Bool = false,
        isFullscreen: Bool = false, workspace: UInt32? = nil, frame: Frame, x11: UInt32? = nil
    ) {
        self.id = id
        self.process = process
        self.kind = kind
        self.isViewable = isViewable
        self.isHidden = isHidden
        self.isFullscreen = isFullscreen
        self.workspace = workspace
        self.frame = frame
        self.x11 = x11
    }
}

/// The windows of one user's screen at one moment.
public struct Desktop: Hashable, Sendable {
    /// From the bottom of the stack to its top.
    public var windows: [Window]
    /// The window that the user works with; nil for none.
    public var active: UInt32?
    /// The workspace that is shown; nil where there are none.
    public var workspace: UInt32?

    public init(windows: [Window], active: UInt32?, workspace: UInt32? = nil) {
        self.windows = windows
        self.active = active
        self.workspace = workspace
    }

    /// Forgets the windows that are not among these.
    public mutating func keep(_ there: Set<UInt32>) { windows.removeAll { !there.contains($0.id) } }

    /// Where the app of a window is, by this window alone.
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
        // The user works with it: then it is seen, whatever the stack says for a moment.
        if isCovered && !isFocused { return .background }
        return Placement(.foreground(window.isFullscreen ? .fullscreen : .split), isFocused: isFocused)
    }
}
