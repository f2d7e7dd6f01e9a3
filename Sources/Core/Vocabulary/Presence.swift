/// An app's place on its user's screen. Presence belongs to the app, not to one of its clients.
public enum Presence: Hashable, Sendable {
    case background
    case foreground(Layout)

    public enum Layout: String, Hashable, Sendable, CaseIterable {
        case fullscreen
        case split
        case slideOver = "slide-over"
        case pictureInPicture = "picture-in-picture"
    }

    public var isForeground: Bool { self != .background }
    public var layout: Layout? { if case .foreground(let layout) = self { layout } else { nil } }

    /// `background`, or the layout's name.
    public var wireName: String { layout?.rawValue ?? "background" }

    public init?(wireName: String) {
        if wireName == "background" {
            self = .background
        } else if let layout = Layout(rawValue: wireName) {
            self = .foreground(layout)
        } else {
            return nil
        }
    }

    public static let wireNames = ["background"] + Layout.allCases.map(\.rawValue)
}

/// The sources of presence. A policy lists the ones it trusts, in order.
public enum PresenceSource: String, Hashable, Sendable, Codable, CaseIterable {
    case shell
    case agent
    case loginSession = "login-session"
    case selfDeclared = "self-declared"
}

/// How hard the machine is pressed; compare by `>=`.
public enum SystemPressure: UInt8, Hashable, Sendable, CaseIterable, Comparable {
    case nominal, fair, serious, critical

    // Reflection of a case's name costs a start an eighth of its work.
    public var wireName: String {
        switch self {
        case .nominal: "nominal"
        case .fair: "fair"
        case .serious: "serious"
        case .critical: "critical"
        }
    }

    public init?(wireName: String) {
        guard let level = SystemPressure.allCases.first(where: { $0.wireName == wireName }) else { return nil }
        self = level
    }

    public static func < (a: SystemPressure, b: SystemPressure) -> Bool { a.rawValue < b.rawValue }
}

/// The kind of a program, by its client's claim. Kinds only ever narrow a policy's rights.
public enum ClientKind: String, Hashable, Sendable, Codable, CaseIterable {
    case app
    /// A capture sheet that another app puts up: full-screen only for recording.
    case picker
    /// A call that may keep the camera beside another app, where a policy says so.
    case voip
}

/// The side of the machine that a camera looks from.
public enum CameraPosition: String, Hashable, Sendable, Codable, CaseIterable { case front, back, external }

/// The standing of a user's placements: their source, or the substitute that counts.
public enum PresenceStanding: String, Hashable, Sendable, CaseIterable {
    /// From a shell, an agent or the apps themselves.
    case told
    /// The source has left, and its placements hold for `Bound.sourceFreeze` longer.
    case kept
    /// The source has left: every app counts as in the background until a source places it again.
    case lost
    /// No source tells windows apart; apps of an active login session count as in front, those of another one as in the
    /// background.
    case login = "login-session"
    /// Without any source: every app counts as in front.
    case nobody
}
