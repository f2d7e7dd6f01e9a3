package import ArbiterProtocol

/// The facts, and nothing that was concluded from them except each camera's last holder and which times still run.
/// Whoever describes a change writes it down here and has `ReferenceArbiter` look at the whole world again.
package struct WholeWorld: Sendable {
    package var now = Moment.zero
    package var clients: [ClientID: Client] = [:]
    package var sessions: [SessionID: Session] = [:]
    package var cameras: [CameraID: Camera] = [:]
    package var speakers: [Speaker] = []
    /// What shells and agents say of apps, by name.
    package var said: [PresenceSource: [AppID: Said]] = [:]
    package var declared: [App: Place] = [:]
    package var microphones: Set<AppID> = []
    package var operatorChoice: AppID?
    package var attributes: [AppID: [String: String]] = [:]
    package var logins: [LoginSessionID: LoginSessionFacts] = [:]
    package var isPrivate = false
    package var isAsleep = false
    /// What users said of their apps, and what permission stores deny by name.
    package var answers: [App: AppAnswer] = [:]
    package var denied: Set<AppID> = []
    /// What a user is asked at the moment: one thing at most.
    package var questions: [UInt32: (app: App, until: Moment)] = [:]
    package var privateUsers: Set<UInt32> = []
    package var pressure = SystemPressure.nominal
    /// The machine's mode as somebody set it, and as the calendar has it.
    package var modeByHand: String?
    package var calendarMode: String?
    /// Lower levels that have not lasted yet.
    package var falling: [(level: SystemPressure, until: Moment)] = []
    package var coolDowns: [(app: App, camera: CameraID, until: Moment)] = []
    /// What each app has used of its lease; `until` is when all is forgotten, as the app does not ask for the camera any more.
    package var leases: [(app: App, camera: CameraID, used: Duration, until: Moment?)] = []
    /// Counts whatever has an order: start requests, bids, grants.
    package var ticks = 0

    package mutating func tick() -> Int {
        ticks += 1
        return ticks
    }

    /// An app that the kernel vouches for and one that only claims its name are two.
    package struct App: Hashable, Sendable {
        package var id: AppID
        package var isClaimed: Bool

        package init(_ id: AppID, isClaimed: Bool) { (self.id, self.isClaimed) = (id, isClaimed) }
    }

    package struct Client: Sendable {
        package var app: App
        package var identity: ClientIdentity
        package var claimedName: String?
        package var kind = ClientKind.app
        package var multitasking = false
        package var requiresFullScreen = false
        /// The weaker rank and the weaker values that it took for itself, as it said them.
        package var loweredTo: String?
        package var loweredValues: [String: String] = [:]

        package init(app: App, identity: ClientIdentity) { (self.app, self.identity) = (app, identity) }

        var login: LoginSessionID? { if case .session(let login) = identity.login { login } else { nil } }
    }

    package struct Session: Sendable {
        package var client: ClientID
        package var camera: CameraID
        /// What it asked of each camera, and the pictures that this comes to on its own; nil: the camera has no such.
        package var asked: [CameraID: Configuration] = [:]
        package var pictures: Pictures?
        /// It has its camera beyond the budget, as the strongest app may.
        package var exceeds = false
        package var usesAudio = false
        package var watches = false
        /// When it asked to run, and since when nothing but other bids keeps it from its camera; nil: it does not.
        package var started: Int?
        package var bidSince: Int?
        /// It has run since it was started.
        package var hasRun = false
        /// It ran before the broker restarted, and has not run since.
        package var isReestablished = false
        /// A trusted agent raised it, and the client has not continued.
        package var isSensitive = false
        package var isRecording = false
        package var isPaused = false
        /// It brought its microphone since it has its camera.
        package var hasMicrophone = false
        /// How deep it is inside `BeginConfiguration`, and what was said there.
        package var batches = 0
        package var batch = Configuration()

        package init(client: ClientID, camera: CameraID) { (self.client, self.camera) = (client, camera) }

        package mutating func stop() {
            (started, bidSince, hasRun, isReestablished, isRecording) = (nil, nil, false, false, false)
            (isPaused, hasMicrophone, exceeds) = (false, false, false)
        }
    }

    /// What a camera's pictures are, as far as it says what they cost; they are as many a second at most.
    package typealias Pictures = (pixelFormat: String, width: Int, height: Int, frameRate: Double)

    package struct Camera: Sendable {
        package var position: CameraPosition
        package var seat: SeatID
        package var findsObjects = false
        package var capabilities: CameraCapabilities?
        package var isPresent = true
        package var isPrivate = false
        package var isHeldOutside = false
        package var holding: Holding?
        /// After a restart of the broker it is kept for the app of this name.
        package var keptFor: (app: AppID, until: Moment)?
        /// What the broker before gave, and is still captured for.
        package var survivor: Survivor?
        /// Somebody had it since this broker began, or that grant lives on.
        package var wasGiven = false

        package init(position: CameraPosition, seat: SeatID) { (self.position, self.seat) = (position, seat) }
    }

    package typealias Survivor = (grant: GrantID, recording: RecordingID?)

    package struct Holding: Sendable {
        package var session: SessionID
        /// Its place among grants; nil: it has won, and the streams in its way are being cut in this moment.
        package var granted: Int?
        package var since = Moment.zero
        package var protectedUntil: Moment?
        package var leaseUntil: Moment?
        /// The lease of its rank when the world was last looked at.
        package var lease: Duration?
        /// From here on its held time is not counted yet; nil: its rank has no lease.
        package var leaseSince: Moment?
        package var warning: Warning?

        package init(_ session: SessionID) { self.session = session }
    }

    /// When the holder is told, or goes; until when it may finish, once it was told; and whether it needs no more time.
    package typealias Warning = (winner: SessionID, due: Moment, toldUntil: Moment?, isReady: Bool)

    /// A shell or an agent: of one user, or (nil) believed for all.
    package struct Speaker: Sendable {
        package let source: PresenceSource
        package let user: UInt32?
        package var isThere = true
        /// What it said before it was lost, and has not repeated, counts until then.
        package var frozenUntil: Moment?

        package init(source: PresenceSource, user: UInt32?) { (self.source, self.user) = (source, user) }
    }

    package struct Said: Sendable {
        package var place: Place
        /// By the speaker of the app's own user.
        package var isOwn: Bool
        package var isStale = false

        package init(place: Place, isOwn: Bool) { (self.place, self.isOwn) = (place, isOwn) }
    }

    package struct Place: Sendable {
        package var presence: Presence
        package var isFocused: Bool

        /// An app in the background never has the focus.
        package init(presence: Presence, isFocused: Bool) {
            (self.presence, self.isFocused) = (presence, isFocused && presence.isForeground)
        }

        static let background = Place(presence: .background, isFocused: false)
        static let unknown = Place(presence: .foreground(.fullscreen), isFocused: false)
    }
}
