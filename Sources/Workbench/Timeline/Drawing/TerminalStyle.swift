import ArbiterProtocol

/// Colours for a terminal, or none. Shapes say the same without colour.
public struct TerminalStyle: Hashable, Sendable {
    public var hasColour: Bool
    public init(hasColour: Bool) { self.hasColour = hasColour }

    /// SGR codes of the sixteen colours every terminal has, so that a user's theme stays in force.
    enum Ink: String {
        case green = "32"
        case yellow = "33"
        case red = "31"
        case blue = "34"
        case magenta = "35"
        case cyan = "36"
        case brightRed = "91"
        case faint = "2"
        case bold = "1"
    }

    func paint(_ text: String, _ ink: Ink?) -> String {
        guard hasColour, let ink, !text.isEmpty else { return text }
        return "\u{1b}[\(ink.rawValue)m\(text)\u{1b}[0m"
    }

    static func ink(_ cause: Cause) -> Ink {
        switch cause {
        case .videoDeviceInUseByAnotherClient: .magenta
        case .audioDeviceInUseByAnotherClient: .blue
        case .videoDeviceNotAvailableInBackground, .loginSessionInactive, .systemSleep, .waitingForPermission: .cyan
        case .videoDeviceNotAvailableWithMultipleForegroundApps: .yellow
        case .videoDeviceNotAvailableDueToSystemPressure, .sensitiveContentMitigationActivated,
            .videoDeviceDisconnected, .videoDeviceBlockedByPrivacy, .deviceError, .recorderReset, .brokerRestarted:
            .red
        }
    }

    static func ink(_ state: Timeline.State) -> Ink? {
        switch state {
        case .running: .green
        case .starting: .faint
        case .restricted: .yellow
        case .interrupted(_, let causes, _): causes.reason.map(ink) ?? .red
        case .stopped, .free: .faint
        case .held: nil
        }
    }

    static func glyph(_ state: Timeline.State) -> Character {
        switch state {
        case .running: "━"
        case .starting: "╌"
        case .restricted: "┅"
        case .interrupted: "░"
        case .stopped, .free: "·"
        case .held: "─"
        }
    }
}

extension Cause {
    /// A letter for where its name does not fit: it tells causes apart without colours, and every legend explains it.
    var letter: Character { look.letter }

    /// Its letter, its colour, and its hatching: stripes of a direction and a width, or dots. No two causes have the same.
    var look: (letter: Character, colour: String, degrees: Int, stripes: [Int], isDotted: Bool) {
        switch self {
        case .videoDeviceInUseByAnotherClient: ("D", "#9c36b5", 45, [3], false)
        case .audioDeviceInUseByAnotherClient: ("A", "#3b5bdb", -45, [3], false)
        case .videoDeviceNotAvailableInBackground: ("B", "#0c8599", 0, [3], false)
        case .videoDeviceNotAvailableWithMultipleForegroundApps: ("M", "#e8590c", 90, [3], false)
        case .videoDeviceNotAvailableDueToSystemPressure: ("H", "#c92a2a", 45, [3], true)
        case .sensitiveContentMitigationActivated: ("C", "#a61e4d", 0, [4], true)
        case .videoDeviceDisconnected: ("U", "#495057", 45, [6], false)
        case .videoDeviceBlockedByPrivacy: ("P", "#5f3dc4", -45, [6], false)
        case .loginSessionInactive: ("L", "#5c940d", 0, [6], false)
        case .systemSleep: ("Z", "#364fc7", 90, [6], false)
        case .deviceError: ("E", "#d9480f", 45, [1, 2], false)
        case .recorderReset: ("R", "#862e9c", -45, [1, 2], false)
        case .brokerRestarted: ("X", "#087f5b", 0, [1, 2], false)
        case .waitingForPermission: ("Q", "#1971c2", 90, [4], true)
        }
    }
}
