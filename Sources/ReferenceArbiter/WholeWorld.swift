public import ArbiterProtocol

/// The facts, and nothing that was concluded from them except each camera's last holder and which times still run.
///
/// Everything is public and plain: whoever describes a change writes it down here and asks
/// `ReferenceArbiter` to look at the whole world again.
public struct WholeWorld: Sendable {
    public var now = Moment.zero
    public var clients: [ClientID: Client] = [:]
    public var sessions: [SessionID: Session] = [:]
    public var cameras: [CameraID: Camera] = [:]
    public var speakers: [Speaker] = []
    /// What shells and agents say of apps, by name.
    public var said: [PresenceSource: [AppID: Said]] = [:]
    /// Where apps say they are.
    public var declared: [App: Place] = [:]
    public var microphones: Set<AppID> = []
    public var operatorChoice: AppID?
    public var attributes: [AppID: [String: String]] = [:]
    public var logins: [LoginSessionID: LoginSessionFacts] = [:]
    public var isPrivate = false
    public var isAsleep = false
    /// What users said of their apps, and what permission stores deny by name.
    public var answers: [App: AppAnswer] = [:]
    public var denied: Set<AppID> = []
    /// What a user is asked at the moment: one thing at most.
    public var questions: [UInt32: Question] = [:]
    /// Users with their own privacy switch on.
    public var privateUsers: Set<UInt32> = []
    public var pressure = SystemPressure.nominal
    /// The machine's mode as somebody set it, and as the calendar has it.
    public var modeByHand: String?
    public var calendarMode: String?
    /// Lower levels that have not lasted yet.
    public var falling: [(level: SystemPressure, until: Moment)] = []
    public var coolDowns: [CoolDown] = []
    public var leases: [Lease] = []
    /// Counts whatever has an order: start requests, bids, grants.
    public var ticks = 0

    public init() {}

    public mutating func tick() -> Int {
        ticks += 1
        return ticks
    }

    public struct Question: Hashable, Sendable {
        public var app: App
        public var until: Moment

        public init(app: App, until: Moment) { (self.app, self.until) = (app, until) }
    }

    /// An app that the kernel vouches for and one that only claims its name are two.
    public struct App: Hashable, Sendable {
        public var id: AppID
        public var isClaimed: Bool

        public init(_ id: AppID, isClaimed: Bool) { (self.id, self.isClaimed) = (id, isClaimed) }
    }

    public struct Client: Sendable {
        public var app: App
        /// What the kernel knows of it.
        public var identity: ClientIdentity
        public var claimedName: String?
        public var kind = ClientKind.app
        public var multitasking = false
        public var requiresFullScreen = false
        /// The weaker rank and the weaker values that it took for itself, as it said them.
        public var loweredTo: String?
        public var loweredValues: [String: String] = [:]

        public init(app: App, identity: ClientIdentity) { (self.app, self.identity) = (app, identity) }

        var login: LoginSessionID? { if case .session(let login) = identity.login { login } else { nil } }
    }

    public struct Session: Sendable {
        public var client: ClientID
        public var camera: CameraID
        /// What it asked of each camera, and the pictures that this comes to on its own; nil: the camera has no such.
        public var asked: [CameraID: Configuration] = [:]
        public var pictures: Pictures?
        /// It has its camera beyond the budget, as the strongest app may.
        public var exceeds = false
        public var usesAudio = false
        /// It asked to watch only.
        public var watches = false
        /// When it asked to run, and since when nothing but other bids keeps it from its camera; nil: it does not.
        public var started: Int?
        public var bidSince: Int?
        /// It has run since it was started.
        public var hasRun = false
        /// It ran before the broker restarted, and has not run since.
        public var isReestablished = false
        /// A trusted agent raised it, and the client has not continued.
        public var isSensitive = false
        public var isRecording = false
        public var isPaused = false
        /// It brought its microphone since it has its camera.
        public var hasMicrophone = false
        /// How deep it is inside `BeginConfiguration`, and what was said there.
        public var batches = 0
        public var batch = Configuration()

        public init(client: ClientID, camera: CameraID) { (self.client, self.camera) = (client, camera) }

        /// It does not ask to run any more.
        public mutating func stop() {
            (started, bidSince, hasRun, isReestablished, isRecording) = (nil, nil, false, false, false)
            (isPaused, hasMicrophone, exceeds) = (false, false, false)
        }
    }

    /// What a camera's pictures are, as far as it says what they cost.
    public struct Pictures: Hashable, Sendable {
        public var pixelFormat: String
        public var width: Int
        public var height: Int
        /// At most.
        public var frameRate: Double

        public init(pixelFormat: String, width: Int, height: Int, frameRate: Double) {
            (self.pixelFormat, self.width, self.height) = (pixelFormat, width, height)
            self.frameRate = frameRate
        }
    }

    public struct Camera: Sendable {
        public var position: CameraPosition
        public var seat: SeatID
        public var findsObjects = false
        public var capabilities: CameraCapabilities?
        public var isPresent = true
        public var isPrivate = false
        public var isHeldOutside = false
        public var holding: Holding?
        /// After a restart of the broker it is kept for the app of this name.
        public var keptFor: (app: AppID, until: Moment)?
        /// What the broker before gave, and is still captured for.
        public var survivor: Survivor?
        /// Somebody had it since this broker began, or that grant lives on.
        public var wasGiven = false

        public init(position: CameraPosition, seat: SeatID) { (self.position, self.seat) = (position, seat) }
    }

    public struct Survivor: Sendable {
        public var grant: GrantID
        public var recording: RecordingID?

        public init(grant: GrantID, recording: RecordingID?) { (self.grant, self.recording) = (grant, recording) }
    }

    /// The camera's holder when the world was last looked at.
    public struct Holding: Sendable {
        public var session: SessionID
        /// Its place among grants; nil: it has won, and the streams in its way are being cut in this moment.
        public var granted: Int?
        public var since = Moment.zero
        public var protectedUntil: Moment?
        public var leaseUntil: Moment?
        /// The lease of its rank when the world was last looked at.
        public var lease: Duration?
        /// From here on its held time is not counted yet; nil: its rank has no lease.
        public var leaseSince: Moment?
        public var warning: Warning?

        public init(_ session: SessionID) { self.session = session }
    }

    /// Somebody has won the camera, and waits for the holder's times.
    public struct Warning: Hashable, Sendable {
        public var winner: SessionID
        /// When the holder is told, or goes.
        public var due: Moment
        /// Until when it may finish, once it was told.
        public var toldUntil: Moment?
        /// It said that it needs no more time.
        public var isReady = false

        public init(winner: SessionID, due: Moment, toldUntil: Moment? = nil, isReady: Bool = false) {
            (self.winner, self.due, self.toldUntil, self.isReady) = (winner, due, toldUntil, isReady)
        }
    }

    /// A shell or an agent: of one user, or (nil) believed for all.
    public struct Speaker: Sendable {
        public let source: PresenceSource
        public let user: UInt32?
        public var isThere = true
        /// What it said before it was lost, and has not repeated, counts until then.
        public var frozenUntil: Moment?

        public init(source: PresenceSource, user: UInt32?) { (self.source, self.user) = (source, user) }
    }

    public struct Said: Sendable {
        public var place: Place
        /// By the speaker of the app's own user.
        public var isOwn: Bool
        public var isStale = false

        public init(place: Place, isOwn: Bool) { (self.place, self.isOwn) = (place, isOwn) }
    }

    public struct Place: Sendable {
        public var presence: Presence
        public var isFocused: Bool

        /// An app in the background never has the focus.
        public init(presence: Presence, isFocused: Bool) {
            (self.presence, self.isFocused) = (presence, isFocused && presence.isForeground)
        }

        static let background = Place(presence: .background, isFocused: false)
        static let unknown = Place(presence: .foreground(.fullscreen), isFocused: false)
    }

    public struct CoolDown: Sendable {
        public var app: App
        public var camera: CameraID
        public var until: Moment

        public init(app: App, camera: CameraID, until: Moment) {
            (self.app, self.camera, self.until) = (app, camera, until)
        }
    }

    /// What an app has used of its lease on a camera.
    public struct Lease: Sendable {
        public var app: App
        public var camera: CameraID
        public var used: Duration
        /// The app does not ask for the camera any more; then all is forgotten. Nil: it asks.
        public var until: Moment?

        public init(app: App, camera: CameraID, used: Duration, until: Moment? = nil) {
            (self.app, self.camera, self.used, self.until) = (app, camera, used, until)
        }
    }
}
