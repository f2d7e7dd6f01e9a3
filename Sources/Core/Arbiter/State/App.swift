package import Vocabulary

/// One name and user, as two apps: the app that the kernel vouches for, and the app that only claims the name. A fact
/// by name reaches the vouched app; while no vouched client is connected, it reaches the claimed one.
package struct App: Sendable, Codable, BitwiseCopyable {
    package let user: UInt32
    package var generation: UInt16
    /// The placement by shells and agents.
    package var byShell = Placed.nowhere
    package var byAgent = Placed.nowhere
    package var hasMicrophone = false
    package var isAttributed = false
    package var vouched = Side()
    package var claimed = Side()

    /// One of the two apps of the name.
    package struct Side: Sendable, Codable, BitwiseCopyable {
        /// In the order of their ids.
        package var firstClient: Slot<Client>?
        /// The app's own placement.
        package var declared = Placed.nowhere
        /// The app counts among its user's apps in front.
        package var isInFront = false
        /// The index of its value of each attribute of the policy, a byte each.
        var attributes: UInt64 = 0
        /// Its sessions that ask to run.
        package var requests: Int32 = 0
        /// The answer about the app: kept beside the names, so that it outlives the row.
        package var word = State.Word.none
    }

    package subscript(app: AppRef) -> Side {
        @inline(__always) get { app.isClaimed ? claimed : vouched }
        @inline(__always) _modify { if app.isClaimed { yield &claimed } else { yield &vouched } }
    }

    package var isConnected: Bool { vouched.firstClient != nil || claimed.firstClient != nil }

    subscript(source: PresenceSource) -> Placed {
        get { source == .shell ? byShell : byAgent }
        set { if source == .shell { byShell = newValue } else { byAgent = newValue } }
    }
}

/// A placement of an app by one source.
package struct Placed: Hashable, Sendable, Codable, BitwiseCopyable {
    /// 0: nowhere; 1: in the background; from 2 on in front, in the layout of this code less one.
    @usableFromInline var code: UInt8
    package var isFocused: Bool
    /// The source has gone since.
    package var isStale = false
    /// The placement came from the source of this user alone, where there is also one for everybody.
    package var isOwn = false

    static let nowhere = Placed(code: 0)
    static let background = Placed(code: 1)
    /// The placement without any source.
    static let unknown = Placed(.foreground(.fullscreen), isFocused: false)

    private init(code: UInt8) { (self.code, isFocused) = (code, false) }

    /// An app in the background has no focus, whatever its source reports.
    package init(_ presence: Presence, isFocused: Bool) {
        code = presence.layout.map { UInt8(1 + $0.code) } ?? 1
        self.isFocused = isFocused && code > 1
    }

    package var isSomewhere: Bool { code != 0 }
    var isForeground: Bool { code > 1 }
    var layoutCode: UInt64 { isForeground ? UInt64(code - 1) : 0 }

    package var presence: Presence {
        Presence.Layout.allCases.first { $0.code == layoutCode }.map { .foreground($0) } ?? .background
    }

    /// Whether both place the app alike, whatever their sources.
    package func says(_ other: Placed) -> Bool { code == other.code && isFocused == other.isFocused }

    /// As bits, for fingerprints.
    @inlinable package var mark: UInt64 { UInt64(code) | (isFocused ? 16 : 0) | (isStale ? 32 : 0) | (isOwn ? 64 : 0) }
}

/// A login session that clients belong to, or that logind reported.
package struct Login: Hashable, Sendable, Codable, BitwiseCopyable {
    /// A source reported the session: an unreported one limits nobody.
    package var isKnown = false
    package var isActive = false
    package var isLocked = false
    var clients: Int32 = 0
    /// Its place among the seats; negative: at none.
    package var seat: Int8 = -1
    package var user = LoginSessionFacts.userUnknown

    var state: Facts.LoginState { !isKnown ? .none : isActive && !isLocked ? .active : .inactive }
    package var mark: UInt64 {
        isKnown
            ? 1 | (isActive ? 2 : 0) | (isLocked ? 4 : 0) | UInt64(UInt8(bitPattern: seat)) << 8 | UInt64(user) << 16
            : 0
    }
}

/// A presence source, attached or gone.
package struct Source: Hashable, Sendable, Codable, BitwiseCopyable {
    package let isShell: Bool
    /// `nil`: trusted for every user.
    package let user: UInt32?
    package var state: State

    package enum State: Hashable, Sendable, Codable, BitwiseCopyable {
        case attached
        /// Back within the freeze: its predecessor's placements hold until then, unless it places the apps anew.
        case resumed(until: Moment)
        /// Gone a moment ago; its placements still hold.
        case frozen(until: Moment)
        /// Gone for good: its apps are in the background.
        case lost

        package var isAttached: Bool { if case .resumed = self { true } else { self == .attached } }

        package var until: Moment? {
            switch self {
            case .frozen(let until), .resumed(let until): until
            case .attached, .lost: nil
            }
        }
    }

    package var kind: PresenceSource { isShell ? .shell : .agent }
}

/// Counts of a user's apps: in front, and with a placement of their own.
package struct User: Hashable, Sendable, Codable, BitwiseCopyable {
    package let user: UInt32
    var inFront: Int32 = 0
    var declared: Int32 = 0
    /// Sessions that ask to run.
    package var requests: Int32 = 0
    /// The app in focus, by the shell and by the agent.
    package var focusOfShell: Slot<App>?
    package var focusOfAgent: Slot<App>?
    /// Rows of its apps: without any, the user is forgotten.
    var apps: Int32 = 0

    subscript(focusOf source: PresenceSource) -> Slot<App>? {
        get { source == .shell ? focusOfShell : focusOfAgent }
        set { if source == .shell { focusOfShell = newValue } else { focusOfAgent = newValue } }
    }
}
