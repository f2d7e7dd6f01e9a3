package import Vocabulary

/// All that decisions depend on, and all counters: flat tables of plain rows, and beside them the words that hardly any
/// step reads. Names are at the edge. Changing a table copies its bytes.
package struct State: Sendable, Codable {
    package var now = Moment.zero
    /// A snapshot has it beside the state.
    package var policy = CompiledPolicy.builtIn
    /// Texts of an earlier policy's rules that something in force still names.
    package var carriedTexts: [String] = []

    package var clients = Table<Client>()
    package var sessions = Table<Session>()
    package var cameras = Table<Camera>()
    package var apps = Table<App>()
    package var logins = Table<Login>()
    package var users: [User] = []
    package var sources: [Source] = []
    package var timers: [TimedFact] = []
    /// Sorted by their names, so that the first is always the same one.
    package var microphones: [Slot<App>] = []
    /// Answers about apps, by user and name; most apps have none, and they need not be connected.
    package var words: [AppWord] = []
    /// Users with their own privacy switch on, and users with a dialog for questions. The latest one is last.
    package var privateUsers: [UInt32] = []
    package var questionWatchers: [UInt32] = []

    package var clientSlots = Directory<Client>()
    package var sessionSlots = Directory<Session>()
    package var appNames = NameTable<AppID, App>()
    package var cameraNames = NameTable<CameraID, Camera>()
    package var loginNames = NameTable<LoginSessionID, Login>()
    /// In the order of their ids; the first is the default one.
    package var cameraOrder: [Slot<Camera>] = []
    /// Seats of cameras and login sessions, in the order of their first report.
    package var seats = [SeatID.usual]

    // By the slots of their tables.
    package var clientTexts: [ClientTexts] = []
    package var sessionSettings: [SessionSettings] = []
    package var cameraSettings: [CameraSettings] = []
    /// Attributes of apps, from a trusted source.
    package var attributes: [AttributeValues] = []

    /// The mode's settings by hand and by the calendar; the mode in force follows from them and the policy
    /// (`world.mode`).
    package var modeWords = ModeWords()
    package var world = Machine()
    package var lastOrdinal: Ordinal = 0
    package var generation: UInt16 = 0
    package var ledger = Ledger()

    /// Everything but the policy, in the order of a snapshot.
    private enum CodingKeys: String, CodingKey {
        case now, carriedTexts, clients, sessions, cameras, apps, logins, users, sources, timers, microphones
        case words, privateUsers, questionWatchers
        case clientSlots, sessionSlots, appNames, cameraNames, loginNames, cameraOrder, seats
        case clientTexts, sessionSettings, cameraSettings, attributes, modeWords, world, lastOrdinal, generation, ledger
    }

    init(policy: CompiledPolicy) { self.policy = policy }

    mutating func nextOrdinal() -> Ordinal {
        lastOrdinal += 1
        return lastOrdinal
    }
}

package struct Machine: Hashable, Sendable, Codable, BitwiseCopyable {
    package var isPrivate = false
    package var isAsleep = false
    package var pressureLevel = SystemPressure.nominal.rawValue
    package var operatorChoice: Slot<App>?
    /// The mode in force, by its place in the policy from 1; 0: none.
    package var mode: UInt8 = 0
    var attributedApps: Int32 = 0
    /// Sessions of more than one user ask to run: then no app is in front by its own claim (semantics.md §1).
    package var severalUsersAsk = false

    package var pressure: SystemPressure {
        get { SystemPressure(rawValue: pressureLevel) ?? .nominal }
        set { pressureLevel = newValue.rawValue }
    }
}

/// Ids of the broker's life: they only count.
package struct Ledger: Sendable, Codable {
    package var decision: DecisionID = 0
    package var grant: UInt64 = 0
    package var lastRecording: RecordingID = 0
    package var photo: PhotoID = 0
    package var lastQuestion: QuestionID = 0
    /// Recordings and photos under way, the oldest first.
    package var recordings: [Recording] = []
    package var photos: [Photo] = []
    /// Open questions; each has a timer of its app.
    package var questions: [Question] = []

    package struct Question: Hashable, Sendable, Codable, BitwiseCopyable {
        let id: QuestionID
        package let app: AppRef
        let session: UInt64
        let camera: Slot<Camera>
    }

    package struct Recording: Sendable, Codable {
        let id: RecordingID
        package let session: UInt64
        /// The decision that ended it; `nil` while it runs.
        package var endedBy: DecisionID?
        /// The cause in the notice of the recording's end.
        var cause: Cause?
        var interrupter: Interrupter?
    }

    package struct Photo: Sendable, Codable, BitwiseCopyable {
        let id: PhotoID
        package let session: UInt64
    }
}

extension State {
    package func session(_ id: SessionID) -> Slot<Session>? { sessionSlots[id.rawValue] }
    package func client(_ id: ClientID) -> Slot<Client>? { clientSlots[id.rawValue] }
    package func camera(_ id: CameraID) -> Slot<Camera>? { cameraNames[id] }
    package func app(_ id: AppID) -> Slot<App>? { appNames[id] }
    package func login(_ id: LoginSessionID) -> Slot<Login>? { loginNames[id] }
    package func id(_ camera: Slot<Camera>) -> CameraID { cameraNames[camera] }
    package func id(_ login: Slot<Login>) -> LoginSessionID { loginNames[login] }
    package func id(_ app: Slot<App>) -> AppID { appNames[app] }
    /// False also where the row is free.
    package func isApp(at row: Int, _ id: AppID) -> Bool { appNames.name(at: row) == id }
    package func isNamed(_ app: Slot<App>) -> Bool { appNames.isNamed(app) }
    package func id(_ session: Slot<Session>) -> SessionID { SessionID(sessions[session].id) }
    package func id(_ client: Slot<Client>) -> ClientID { ClientID(clients[client].id) }
    package func id(_ app: AppRef) -> AppID { appNames[app.slot] }

    /// Another app's row may have this one's place.
    package func isThere(_ app: AppRef) -> Bool { apps[app.slot].generation == app.generation }

    package func ref(_ slot: Slot<App>, isClaimed: Bool) -> AppRef {
        AppRef(slot: slot, generation: apps[slot].generation, isClaimed: isClaimed)
    }

    /// In the order of their ids.
    package func forEachClient(_ body: (Slot<Client>) -> Void) { for slot in clientSlots.slots { body(slot) } }
    package func forEachSession(_ body: (Slot<Session>) -> Void) { for slot in sessionSlots.slots { body(slot) } }

    /// A fact by name concerns both: the vouched app, and the claimed one.
    func both(_ name: Slot<App>) -> [AppRef] { [ref(name, isClaimed: false), ref(name, isClaimed: true)] }

    package func requests(on camera: Slot<Camera>) -> Chain<OnCamera> {
        Chain(sessions, from: cameras[camera].firstRequest)
    }

    package func sessions(of client: Slot<Client>) -> Chain<OfClient> {
        Chain(sessions, from: clients[client].firstSession)
    }

    package func clients(of app: AppRef) -> Chain<OfApp> { Chain(clients, from: apps[app.slot][app].firstClient) }

    func sessions(of app: AppRef) -> [Slot<Session>] { clients(of: app).flatMap { sessions(of: $0) } }

    /// Every session that asks to run, in the order of their ids.
    package var requesting: [Slot<Session>] {
        var all: [Slot<Session>] = []
        for camera in cameraOrder { all.append(contentsOf: requests(on: camera)) }
        return cameraOrder.count > 1 ? all.sorted { sessions[$0].id < sessions[$1].id } : all
    }
}

/// A deadline without a tenancy: one flat list of all of them.
package struct TimedFact: Hashable, Sendable, Codable, BitwiseCopyable {
    package enum Kind: UInt8, Hashable, Sendable, Codable, BitwiseCopyable {
        /// After a restart of the broker the camera is kept for the app that held it.
        case reservation
        /// The device failed, or its recorder died: it is tried again at the end.
        case backoff
        /// The session's own format found no room; others may have the camera meanwhile.
        case noRoom
        /// A stream was ordered closed while its camera goes on: the recorder is killed at the end.
        case closing
        /// The app lost the camera by lease or eviction, and ranks after all that wait.
        case coolDown
        /// The app's use of its lease on this camera (`amount`, nanoseconds). Without an end while the app asks for the
        /// camera; after that a new lease begins at the end.
        case leaseUsed
        /// A lower pressure, which counts once it has lasted until then.
        case falling
        /// A recorder core that outlived the broker received its new owner: it is killed without a reply by then.
        case resuming
        /// A question to the app's user: no reply by then means no.
        case question
        /// The app's lease on this camera ended: ranks with a pause are refused it until then.
        case pause
        /// The shared camera took another format for a wish, and keeps it until then.
        case formatKept
    }

    package let kind: Kind
    package var due: Moment
    package var camera: Slot<Camera>?
    package var session: Slot<Session>?
    package var app: AppRef?
    package var amount: Int64 = 0
}
