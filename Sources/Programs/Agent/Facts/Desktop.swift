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

/// As a compositor's JSON has it; a wrong number is 0.
extension Window.Frame {
    init(_ said: JSON?) {
        func number<Number: FixedWidthInteger>(_ key: String) -> Number {
            said?[key]?.integer.map { Number(clamping: $0) } ?? 0
        }
        self.init(x: number("x"), y: number("y"), width: number("width"), height: number("height"))
    }
}
