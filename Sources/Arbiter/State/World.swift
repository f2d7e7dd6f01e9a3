import Vocabulary

/// Facts that belong to no client: where apps are, who has the microphone, what the machine does.
struct World: Hashable, Codable {
    var sources: SmallMap<SourceKey, SourceState> = [:]
    /// Where the shells and agents put apps.
    var placements: SmallMap<PlacementKey, Placement> = [:]
    /// Where apps say they are, for each user.
    var declared: SmallMap<UInt32, SmallMap<AppID, Placement>> = [:]
    /// The one app that each source has in focus for each user.
    var focus: SmallMap<FocusKey, AppID> = [:]
    /// Apps in front, for each user, sorted: kept beside the placements so that counting them costs nothing.
    var inFront: SmallMap<UInt32, [AppID]> = [:]
    /// Sorted.
    var microphones: [AppID] = []
    var operatorChoice: AppID?
    /// What apps were told of their attributes by a trusted source, for apps that were told anything.
    var attributes: SmallMap<AppID, AttributeValues> = [:]
    var loginSessions: SmallMap<LoginSessionID, LoginSession> = [:]
    var isPrivate = false
    var isAsleep = false
    var pressure = SystemPressure.nominal
    /// Lower levels that have not lasted long enough to count, the earliest and highest first.
    var falling: [Falling] = []
    var coolDowns: [CoolDown] = []

    struct SourceKey: Hashable, Comparable, Codable {
        var source: PresenceSource
        /// Nil: believed for every user.
        var user: UInt32?
        static func < (a: SourceKey, b: SourceKey) -> Bool {
            (a.source.rawValue, a.user.map { Int64($0) } ?? -1) < (b.source.rawValue, b.user.map { Int64($0) } ?? -1)
        }
    }

    enum SourceState: Hashable, Codable {
        case attached
        /// Back within the freeze: what its predecessor said holds until then, unless it says otherwise.
        case resumed(until: Moment)
        /// Gone a moment ago; what it said still holds.
        case frozen(until: Moment)
        /// Gone for good: its apps are in the background.
        case lost

        var isAttached: Bool {
            switch self {
            case .attached, .resumed: true
            case .frozen, .lost: false
            }
        }

        /// When something of it ends by itself.
        var until: Moment? {
            switch self {
            case .frozen(let until), .resumed(let until): until
            case .attached, .lost: nil
            }
        }
    }

    struct PlacementKey: Hashable, Comparable, Codable {
        var source: PresenceSource
        var app: AppID
        static func < (a: PlacementKey, b: PlacementKey) -> Bool {
            (a.source.rawValue, a.app) < (b.source.rawValue, b.app)
        }
    }

    struct FocusKey: Hashable, Comparable, Codable {
        var source: PresenceSource
        var user: UInt32
        static func < (a: FocusKey, b: FocusKey) -> Bool {
            (a.source.rawValue, a.user) < (b.source.rawValue, b.user)
        }
    }

    struct Placement: Hashable, Codable {
        var presence: Presence
        var isFocused: Bool
        /// Said by a source that is gone since.
        var isStale = false

        /// An app in the background has no focus, whatever its source says.
        init(presence: Presence, isFocused: Bool) {
            self.presence = presence
            self.isFocused = isFocused && presence.isForeground
        }

        static let background = Placement(presence: .background, isFocused: false)
        /// What counts while nobody says anything.
        static let unknown = Placement(presence: .foreground(.fullscreen), isFocused: false)
    }

    struct LoginSession: Hashable, Codable {
        var isActive: Bool
        var isLocked: Bool
    }

    struct Falling: Hashable, Codable {
        var to: SystemPressure
        var at: Moment
    }

    /// An app that lost a camera by lease or eviction.
    struct CoolDown: Hashable, Codable {
        var app: AppID
        var camera: CameraID
        var until: Moment
    }
}
