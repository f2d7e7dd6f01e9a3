import System

/// A source that is followed on the loop, and opened again by itself, ever more rarely, while it fails.
package class Followed<Seen: Equatable> {
    /// `nil` while it is not known; `trouble` then has the reason.
    private(set) final var seen: Seen?
    package private(set) final var trouble: String?
    final let loop: EventLoop
    final var source: IOSource?
    final var backOff: BackOff
    private var retry: Timer?
    private let onChange: () -> Void

    init(on loop: EventLoop, backOff: BackOff = .desktop, onChange: @escaping () -> Void) throws(SystemFault) {
        (self.loop, self.backOff, self.onChange) = (loop, backOff, onChange)
        retry = try loop.addTimer { [unowned self] in open() }
    }

    package func open() {}

    func close() {
        source?.cancel()
        source = nil
    }

    package final var isSettled: Bool { seen != nil || trouble != nil }

    final func know(_ seen: Seen?, _ trouble: String?) {
        guard seen != self.seen || trouble != self.trouble else { return }
        self.seen = seen
        self.trouble = trouble
        onChange()
    }

    final func lost(_ why: String) {
        close()
        tryLater()
        know(nil, why)
    }

    final func tryLater() { retry?.arm(at: EventLoop.now + backOff.wait().nanoseconds) }
    final func tryNoMore() { retry?.arm(at: nil) }
}

package class DesktopSource: Followed<Desktop> {
    /// From the first event of a change to the look at it: a change of focus is several events, with no focus between
    /// them. Later events do not move it, so that no program can hold a look off by changing something all the time.
    private static let settleTime: Int64 = 50_000_000

    package final var desktop: Desktop? { seen }
    package internal(set) final var name: String
    private var settling: Timer?
    /// The X server inside a Wayland session, which alone knows the processes of its windows.
    private var xwayland: X11Source?

    init(
        _ name: String, on loop: EventLoop, backOff: BackOff = .desktop, onChange: @escaping () -> Void
    ) throws(SystemFault) {
        self.name = name
        try super.init(on: loop, backOff: backOff, onChange: onChange)
        settling = try loop.addTimer { [unowned self] in look() }
    }

    func look() {}

    override func close() {
        super.close()
        settling?.arm(at: nil)
    }

    /// Looks after a moment; a look that is due already comes soon enough.
    final func lookSoon(at moment: Int64? = nil) {
        if settling?.deadline == nil { settling?.arm(at: moment ?? EventLoop.now + Self.settleTime) }
    }

    final func know(own: Desktop, onX11: @escaping () -> Void) {
        // Not before there is a window of X11's: connecting starts its server. Where that fails its windows stay
        // without processes, and the next desktop tries again.
        if xwayland == nil, own.windows.contains(where: { $0.x11 != nil }) {
            xwayland = try? X11Source(on: loop, display: nil, onChange: onX11)
            xwayland?.open()
        }
        know(own.naming(fromX11: xwayland?.desktop), nil)
    }
}

/// The source of a camagent, by its options and surroundings.
public enum ChosenSource: Hashable, Sendable {
    case x11
    case sway(String?)
    case kwin
    case none(String)

    public enum Asked: String, Sendable, CaseIterable {
        /// sway and KWin in their sessions, X11 in X11's, nothing in other Wayland sessions.
        case automatic = "auto"
        case x11, sway, kwin, none
    }

    /// - Parameters:
    /// - display: of X11's, where one was named.
    /// - variable: of the environment, where it is set and not empty.
    /// - isThere: whether a file exists.
    public init(_ asked: Asked, display: String?, variable: (String) -> String?, isThere: (String) -> Bool) {
        switch asked {
        case .none: self = .none("--windows none")
        case .x11: self = .x11
        case .sway: self = .sway(variable("SWAYSOCK"))
        case .kwin: self = .kwin
        case .automatic: self = display == nil ? Self.found(variable, isThere) : .x11
        }
    }

    private static func found(_ variable: (String) -> String?, _ isThere: (String) -> Bool) -> ChosenSource {
        let session = variable("XDG_SESSION_TYPE")
        let isWayland = variable("WAYLAND_DISPLAY") != nil || session == "wayland"
        let desktops = (variable("XDG_CURRENT_DESKTOP") ?? "").split(separator: ":")
        let isAnother = session == "x11" || desktops.contains("KDE") || desktops.contains("GNOME")
        // A user's manager keeps the variable of a session that ended long ago, and a killed sway its socket.
        if let socket = variable("SWAYSOCK"), !isAnother, isThere(socket) || desktops.contains("sway") {
            return .sway(socket)
        }
        if isWayland { return desktops.contains("KDE") ? .kwin : .none(whyNotOnWayland(desktops)) }
        return variable("DISPLAY") == nil ? .none("there is no X11 display ($DISPLAY is not set)") : .x11
    }

    private static func whyNotOnWayland(_ desktops: [Substring]) -> String {
        let compositorAlone = "this is a Wayland session, where the compositor alone knows the windows"
        if desktops.contains("GNOME") {
            return
                "\(compositorAlone): GNOME Shell tells the broker itself, once its extension camarb@camarb.org is enabled"
        }
        return
            "\(compositorAlone), and of those camagent can ask only sway ($SWAYSOCK is not set) and KWin ($XDG_CURRENT_DESKTOP is not KDE)"
    }
}
