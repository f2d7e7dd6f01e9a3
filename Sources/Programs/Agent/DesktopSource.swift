/// Whatever knows this user's windows, and follows them on the loop. It looks again by itself for what went away.
package class DesktopSource {
    /// Nil while the windows are not known; `trouble` then says why.
    package private(set) final var desktop: Desktop?
    package private(set) final var trouble: String?
    /// What it is, for people: `X11 display :0`.
    package internal(set) final var name: String
    private let onChange: () -> Void

    /// - Parameter onChange: `desktop` or `trouble` is another.
    init(_ name: String, onChange: @escaping () -> Void) {
        self.name = name
        self.onChange = onChange
    }

    package func open() {}
    /// It is known, or known why not.
    package final var isSettled: Bool { desktop != nil || trouble != nil }

    final func know(_ desktop: Desktop?, _ trouble: String?) {
        guard desktop != self.desktop || trouble != self.trouble else { return }
        self.desktop = desktop
        self.trouble = trouble
        onChange()
    }
}

/// Which source a camagent has, by its options and surroundings.
public enum ChosenSource: Hashable, Sendable {
    case x11
    /// With the socket that `$SWAYSOCK` names.
    case sway(String?)
    case kwin
    /// And why.
    case none(String)

    public enum Asked: String, Sendable, CaseIterable {
        /// sway and KWin in their sessions, X11 in X11's, nothing in other Wayland sessions.
        case automatic = "auto"
        case x11, sway, kwin, none
    }

    /// - Parameters:
    ///   - display: of X11's, where one was named.
    ///   - variable: of the environment, where it is set and not to nothing.
    ///   - isThere: whether a file is.
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
        // A user's manager keeps the variable of a session that is long over, and a sway that was killed its socket.
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
