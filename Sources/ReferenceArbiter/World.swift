public import ArbiterProtocol

/// The facts, and nothing that was concluded from them, but for who had which camera last.
///
/// Everything is public and plain: whoever describes a change writes it down here and asks
/// `ReferenceArbiter` to look at the whole world again.
public struct World: Sendable {
    public var now = Moment.zero
    public var clients: [ClientID: Client] = [:]
    public var sessions: [SessionID: Session] = [:]
    public var cameras: [CameraID: Camera] = [:]
    public var speakers: [PresenceSource: Speaker] = [:]
    /// Where apps say they are.
    public var declared: [AppID: Place] = [:]
    public var microphones: Set<AppID> = []
    public var operatorChoice: AppID?
    public var logins: [LoginSessionID: Login] = [:]
    public var isPrivate = false
    public var isAsleep = false
    /// Every report, with its moment; the first is the beginning of the world.
    public var pressureReports: [(at: Moment, level: SystemPressure)] = [(.zero, .nominal)]
    public var coolDowns: [CoolDown] = []
    /// What apps have used of their leases on cameras.
    public var leases: [Lease] = []
    /// Counts start requests, so that they have an order.
    public var starts = 0

    public init() {}

    public struct Client: Sendable {
        public var app: AppID
        public var login: LoginSessionID?
        public var kind = ClientKind.app
        /// Index of the weaker rank that it took for itself; 0 is the strongest.
        public var loweredTo = 0

        public init(app: AppID, login: LoginSessionID?) {
            self.app = app
            self.login = login
        }
    }

    public struct Session: Sendable {
        public var client: ClientID
        public var app: AppID
        public var camera: CameraID
        public var usesAudio: Bool
        /// The place of its start request among all; nil: it has none.
        public var started: Int?
        /// A trusted agent raised it, and the client has not continued.
        public var isSensitive = false
        public var isRecording = false

        public init(client: ClientID, app: AppID, camera: CameraID, usesAudio: Bool) {
            self.client = client
            self.app = app
            self.camera = camera
            self.usesAudio = usesAudio
        }
    }

    public struct Camera: Sendable {
        public var isPresent = true
        public var isPrivate = false
        public var isHeldOutside = false
        public var holding: Holding?

        public init() {}
    }

    /// Who had the camera when the world was last looked at.
    public struct Holding: Sendable {
        public var session: SessionID
        public var app: AppID?
        public var since: Moment
        public var protectedUntil: Moment
        public var leaseUntil: Moment?
        /// It was told that it will be interrupted then.
        public var toldUntil: Moment?
        /// It said that it needs no more time.
        public var isReady = false
    }

    /// A shell or an agent.
    public struct Speaker: Sendable {
        public private(set) var isThere = true
        /// When it was last lost; nil: never.
        private(set) var goneAt: Moment?
        private var places: [AppID: Place] = [:]
        /// What it said before it was lost, and has not repeated.
        private var stale: Set<AppID> = []

        public init() {}

        /// It is back, or still there. What it said holds on for a while, so that it can repeat it.
        public mutating func attach(at now: Moment) {
            if !isThere { forget(now) }
            isThere = true
        }

        public mutating func leave(at now: Moment) {
            guard isThere else { return }
            forget(now)
            (isThere, goneAt, stale) = (false, now, Set(places.keys))
        }

        /// Nil: it knows nothing of the app any more.
        public mutating func say(_ place: Place?, of app: AppID) {
            // The focus is one for each user.
            if place?.isFocused == true {
                for other in places.keys where other.user == app.user { places[other]?.isFocused = false }
            }
            places[app] = place
            stale.remove(app)
        }

        /// Its freeze is not over.
        func isFrozen(_ now: Moment) -> Bool { goneAt.map { now < $0 + World.freeze } ?? false }

        func place(of app: AppID, _ now: Moment) -> Place {
            stale.contains(app) && !isFrozen(now) ? .background : places[app] ?? .background
        }

        var apps: [AppID] { Array(places.keys) }

        private mutating func forget(_ now: Moment) {
            guard !isFrozen(now) else { return }
            places = places.filter { !stale.contains($0.key) }
            stale = []
        }
    }

    public struct Place: Sendable {
        public var presence: Presence
        public var isFocused: Bool

        public init(presence: Presence, isFocused: Bool) {
            self.presence = presence
            self.isFocused = isFocused
        }

        static let background = Place(presence: .background, isFocused: false)
        static let unknown = Place(presence: .foreground(.fullscreen), isFocused: false)
    }

    public struct Login: Sendable {
        public var isActive: Bool
        public var isLocked: Bool

        public init(isActive: Bool, isLocked: Bool) {
            self.isActive = isActive
            self.isLocked = isLocked
        }
    }

    public struct Lease: Sendable {
        public var app: AppID
        public var camera: CameraID
        public var used: Duration
        /// Since when it asks for the camera no more.
        public var leftAt: Moment?
    }

    public struct CoolDown: Sendable {
        public var app: AppID
        public var camera: CameraID
        public var until: Moment
    }
}
