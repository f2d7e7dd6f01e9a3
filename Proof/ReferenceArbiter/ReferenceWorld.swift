package import ArbiterProtocol

/// The facts, and no conclusions but each camera's last holder and the times that run.
package struct ReferenceWorld: Sendable {
    package var now = Moment.zero
    package var clients: [ClientID: Client] = [:]
    package var sessions: [SessionID: Session] = [:]
    package var cameras: [CameraID: Camera] = [:]
    package var speakers: [Speaker] = []
    /// The words of shells and agents about apps.
    package var said: [PresenceSource: [AppID: Said]] = [:]
    package var declared: [App: Place] = [:]
    package var microphones: Set<AppID> = []
    package var operatorChoice: AppID?
    package var attributes: [AppID: [String: String]] = [:]
    package var logins: [LoginSessionID: LoginSessionFacts] = [:]
    package var isPrivate = false
    package var isAsleep = false
    package var answers: [App: AppAnswer] = [:]
    /// By permission stores.
    package var denied: Set<AppID> = []
    /// One question for each user at most.
    package var questions: [UInt32: (app: App, until: Moment)] = [:]
    package var privateUsers: Set<UInt32> = []
    package var pressure = SystemPressure.nominal
    package var modeByHand: String?
    package var calendarMode: String?
    /// Lower levels that have not lasted long enough yet.
    package var falling: [(level: SystemPressure, until: Moment)] = []
    package var coolDowns: [(app: App, camera: CameraID, until: Moment)] = []
    package var pauses: [(app: App, camera: CameraID, until: Moment)] = []
    /// The used parts of leases; at `until` one is forgotten, since its app no longer asks for the camera.
    package var leases: [(app: App, camera: CameraID, used: Duration, until: Moment?)] = []
    /// Orders start requests, bids and grants.
    package var ticks = 0

    package mutating func tick() -> Int {
        ticks += 1
        return ticks
    }

    /// A vouched app and one that only claims its name are distinct.
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
        /// The weaker rank and values that it took for itself.
        package var loweredTo: String?
        package var loweredValues: [String: String] = [:]

        package init(app: App, identity: ClientIdentity) { (self.app, self.identity) = (app, identity) }

        var login: LoginSessionID? { if case .session(let login) = identity.login { login } else { nil } }
    }

    package struct Session: Sendable {
        package var client: ClientID
        package var camera: CameraID
        /// Its requests to each camera, and the resulting pictures, where the camera has them.
        package var asked: [CameraID: Configuration] = [:]
        package var pictures: Pictures?
        /// It has its camera beyond the budget, as the strongest app may.
        package var exceeds = false
        package var usesAudio = false
        package var watches = false
        /// The start request, and since when only other bids keep it from its camera.
        package var started: Int?
        package var bidSince: Int?
        /// It has run since it was started.
        package var hasRun = false
        /// It ran before the broker restarted, and has not run since.
        package var isReestablished = false
        /// An agent raised it, and the client has not continued.
        package var isSensitive = false
        package var isRecording = false
        package var isPaused = false
        package var hasMicrophone = false
        /// The depth of `BeginConfiguration`.
        package var batches = 0
        package var batch = Configuration()

        package init(client: ClientID, camera: CameraID) { (self.client, self.camera) = (client, camera) }

        package mutating func stop() {
            (started, bidSince, hasRun, isReestablished, isRecording) = (nil, nil, false, false, false)
            (isPaused, hasMicrophone, exceeds) = (false, false, false)
        }
    }

    /// The properties of pictures that have a cost.
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
        /// After a restart of the broker.
        package var keptFor: (app: AppID, until: Moment)?
        /// A grant of the broker before.
        package var survivor: Survivor?
        /// Since this broker started, or by a survivor.
        package var wasGiven = false

        package init(position: CameraPosition, seat: SeatID) { (self.position, self.seat) = (position, seat) }
    }

    package typealias Survivor = (grant: GrantID, recording: RecordingID?)

    package struct Holding: Sendable {
        package var session: SessionID
        /// Its place among grants; `nil` where it has won, and the streams in its way are being cut.
        package var granted: Int?
        package var since = Moment.zero
        package var protectedUntil: Moment?
        package var leaseUntil: Moment?
        /// The lease of its rank at the last look.
        package var lease: Duration?
        /// Its held time is counted up to here; `nil` without a lease.
        package var leaseSince: Moment?
        package var warning: Warning?

        package init(_ session: SessionID) { self.session = session }
    }

    /// `due`: when the holder is warned, or goes; `toldUntil`: its deadline, once it was warned.
    package typealias Warning = (winner: SessionID, due: Moment, toldUntil: Moment?, isReady: Bool)

    /// A shell or an agent, of one user or of all (`nil`).
    package struct Speaker: Sendable {
        package let source: PresenceSource
        package let user: UInt32?
        package var isThere = true
        /// After it was lost, its words count until then.
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
