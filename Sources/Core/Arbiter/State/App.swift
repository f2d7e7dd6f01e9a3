package import Vocabulary

/// Everything known of one name and user. What is said by name reaches the app that the kernel vouches for; the one that
/// only claims the name hears it while no vouched-for client is connected.
package struct App: Sendable, Codable, BitwiseCopyable {
    package let user: UInt32
    package var generation: UInt16
    /// Where shells and agents put it.
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
        /// Where it says itself that it is.
        package var declared = Placed.nowhere
        /// It counts among its user's apps in front.
        package var isInFront = false
        /// Its value's place of each attribute of the policy, a byte each.
        var attributes: UInt64 = 0
        /// Its sessions that ask to run.
        package var requests: Int32 = 0
        /// What is said of it: kept beside the names, so that it outlives the row.
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

/// Where somebody put an app.
package struct Placed: Hashable, Sendable, Codable, BitwiseCopyable {
    /// 0: nowhere, nobody said anything; 1: in the background; from 2 on in front, in the layout of this code less one.
    @usableFromInline var code: UInt8
    package var isFocused: Bool
    /// Said by a source that is gone since.
    package var isStale = false
    /// Said by the source that speaks for this user alone, where there are that one and one for everybody.
    package var isOwn = false

    static let nowhere = Placed(code: 0)
    static let background = Placed(code: 1)
    /// What counts while nobody says anything.
    static let unknown = Placed(.foreground(.fullscreen), isFocused: false)

    private init(code: UInt8) { (self.code, isFocused) = (code, false) }

    /// An app in the background has no focus, whatever its source says.
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

    /// Whether both say the same of the app, whoever said it.
    package func says(_ other: Placed) -> Bool { code == other.code && isFocused == other.isFocused }

    /// As bits, for fingerprints.
    @inlinable package var mark: UInt64 { UInt64(code) | (isFocused ? 16 : 0) | (isStale ? 32 : 0) | (isOwn ? 64 : 0) }
}

/// A login session that clients belong to, or that logind told of.
package struct Login: Hashable, Sendable, Codable, BitwiseCopyable {
    /// Nobody said anything of it: then it limits nobody.
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

/// A shell or an agent that speaks, or spoke.
package struct Source: Hashable, Sendable, Codable, BitwiseCopyable {
    package let isShell: Bool
    /// Nil: believed for every user.
    package let user: UInt32?
    package var state: State

    package enum State: Hashable, Sendable, Codable, BitwiseCopyable {
        case attached
        /// Back within the freeze: what its predecessor said holds until then, unless it says otherwise.
        case resumed(until: Moment)
        /// Gone a moment ago; what it said still holds.
        case frozen(until: Moment)
        /// Gone for good: its apps are in the background.
        case lost

        package var isAttached: Bool { if case .resumed = self { true } else { self == .attached } }

        /// When something of it ends by itself.
        package var until: Moment? {
            switch self {
            case .frozen(let until), .resumed(let until): until
            case .attached, .lost: nil
            }
        }
    }

    package var kind: PresenceSource { isShell ? .shell : .agent }
}

/// How many of a user's apps are in front, and how many said where they are: kept so that counting costs nothing.
package struct User: Hashable, Sendable, Codable, BitwiseCopyable {
    package let user: UInt32
    var inFront: Int32 = 0
    var declared: Int32 = 0
    /// Sessions that ask to run.
    package var requests: Int32 = 0
    /// The app in focus, as the shell and as the agent has it.
    package var focusOfShell: Slot<App>?
    package var focusOfAgent: Slot<App>?
    /// Its apps' rows: without any, the user is forgotten.
    var apps: Int32 = 0

    subscript(focusOf source: PresenceSource) -> Slot<App>? {
        get { source == .shell ? focusOfShell : focusOfAgent }
        set { if source == .shell { focusOfShell = newValue } else { focusOfAgent = newValue } }
    }
}
