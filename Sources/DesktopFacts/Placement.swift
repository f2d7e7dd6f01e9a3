public import ArbiterProtocol

/// Where an app is, as it is told to the broker.
///
/// X11 and sway know of fullscreen windows and of windows beside others, so of the layouts only `fullscreen` and `split` are
/// ever said.
public struct Placement: Hashable, Sendable, Comparable {
    public var presence: Presence
    public var isFocused: Bool

    public init(_ presence: Presence, isFocused: Bool = false) {
        self.presence = presence
        self.isFocused = isFocused && presence.isForeground
    }

    public static let background = Placement(.background)

    /// An app with several windows is where the strongest of them is: the focus first, then what fills the screen.
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
