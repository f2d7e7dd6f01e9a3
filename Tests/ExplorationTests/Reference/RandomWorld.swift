import Arbiter
import ArbiterProtocol
import ReferenceArbiter

/// SplitMix64: small, and the same on every machine and in every release.
struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64
    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

/// The members of the random worlds.
enum Cast {
    static let cameras = [CameraID("back"), CameraID("front")]
    static let ranks = ["safety", "staff", "call", "booth", "other", "attract"]
    static let kioskApps = [
        "evacuation.service", "intercom.service", "photobooth.service", "attract.service", "menu.service",
    ]
    .map { AppID($0, user: 0) }
    /// The apps that come: the booth and the intercom meet most often, since only theirs is a grace.
    static let kioskVisitors = [0, 1, 1, 1, 2, 2, 2, 3, 4].map { kioskApps[$0] }
    /// Two users, and a service that belongs to no login session.
    static let desktopApps = [
        AppID("photos", user: 1000), AppID("notes", user: 1000), AppID("sheet", user: 1000),
        AppID("photos", user: 1001), AppID("doorbell", user: 0),
    ]

    static func login(of app: AppID) -> LoginSessionID? {
        app.user == 0 ? nil : LoginSessionID(app.user == 1000 ? "one" : "two")
    }

    static func kind(of app: AppID) -> ClientKind { app.name == "sheet" ? .picker : .app }
    static func rank(of app: AppID, isOperatorsChoice: Bool) -> Int {
        switch app.name {
        case "evacuation.service": 0
        case _ where isOperatorsChoice: 1
        case "intercom.service": 2
        case "photobooth.service": 3
        case "attract.service": 5
        default: 4
        }
    }

    static let capabilities = CameraCapabilities(
        name: "Camera", position: .back, sensorWidth: 640, sensorHeight: 480,
        formats: [CameraFormat(pixelFormat: "420v", width: 640, height: 480, minFrameRate: 5, maxFrameRate: 30)])
}

/// Chooses the next event out of those that make sense, and now and then one that does not.
struct RandomWorld {
    var generator: SeededGenerator
    let isKiosk: Bool
    private var lastClient: UInt64 = 0
    private var lastSession: UInt64 = 0
    /// Enough for every rule to meet every other, few enough to read a failure.
    private let clientsMax = 5
    private let sessionsMax = 7

    init(seed: UInt64, isKiosk: Bool) {
        generator = SeededGenerator(seed: seed)
        self.isKiosk = isKiosk
    }

    var beginning: [Event] {
        Cast.cameras.map { .cameraAppeared($0, Cast.capabilities) }
    }

    private var apps: [AppID] { isKiosk ? Cast.kioskApps : Cast.desktopApps }

    /// Mostly at once or soon; sometimes long enough for a lease.
    mutating func pause() -> Duration {
        switch roll(40) {
        case 0..<18: .zero
        case 18..<36: .seconds(roll(4) + 1)
        case 36..<39: .seconds(roll(15) + 1)
        default: .seconds(isKiosk ? roll(200) + 1 : 6)
        }
    }

    mutating func roll(_ sides: Int) -> Int { Int.random(in: 0..<sides, using: &generator) }
    mutating func coin() -> Bool { roll(2) == 0 }
    private mutating func pick<T>(_ choices: [T]) -> T? { choices.isEmpty ? nil : choices[roll(choices.count)] }

    /// The next events; a connection is several.
    mutating func next(_ both: SideBySide) -> [Event] {
        let world = both.reference.world
        let sessions = world.sessions.keys.sorted()
        if let camera = Cast.cameras.first(where: { world.cameras[$0]?.holding?.warning?.toldUntil != nil }),
            roll(4) == 0
        {
            return duringGrace(on: camera, both)
        }
        switch roll(30) {
        case 0..<4: return connect(world)
        case 4: return pick(world.clients.keys.sorted()).map { [.disconnected($0)] } ?? []
        case 5, 6: return create(world)
        case 7..<13:
            guard let session = pick(sessions) else { return connect(world) }
            if world.sessions[session]?.started == nil || roll(10) == 0 { return [.startRunning(session)] }
            return [.stopRunning(session)]
        case 13: return pick(sessions).map { [roll(4) == 0 ? .closed($0) : .continueAfterSensitiveContent($0)] } ?? []
        case 14, 15: return pick(sessions).map { recording($0) } ?? []
        case 16:
            guard let session = pick(both.announced.keys.sorted()), world.sessions[session] != nil else { return [] }
            return [.ready(session, both.announced[session] ?? 0)]
        case 17..<24: return isKiosk ? kioskFact(world) : presence(world)
        default: return machineFact(world)
        }
    }

    private mutating func recording(_ session: SessionID) -> [Event] {
        switch roll(8) {
        case 0: [.attachMicrophone(session, MicrophoneFormat(sampleRate: 48_000, channels: 1))]
        case 1: [coin() ? .pauseRecording(session) : .resumeRecording(session)]
        case 2, 3: [.stopRecording(session)]
        default: [.startRecording(session)]
        }
    }

    /// A grace is short, and everything that can end one has to meet it.
    private mutating func duringGrace(on camera: CameraID, _ both: SideBySide) -> [Event] {
        let world = both.reference.world
        guard let holder = world.cameras[camera]?.holding?.session else { return [] }
        let others = world.sessions.filter { $0.key != holder && $0.value.camera == camera && $0.value.started != nil }
        switch roll(8) {
        case 0: return [.ready(holder, both.announced[holder] ?? 0)]
        case 1: return [.stopRunning(holder)]
        case 2: return [.startRecording(holder)]
        case 3: return machineFact(world)
        // All of them at once, so that nobody stronger is left.
        default: return others.keys.sorted().map { .stopRunning($0) }
        }
    }

    private mutating func connect(_ world: WholeWorld) -> [Event] {
        guard world.clients.count < clientsMax, let app = pick(isKiosk ? Cast.kioskVisitors : apps) else {
            return create(world)
        }
        lastClient += 1
        let client = ClientID(lastClient)
        var events: [Event] = []
        // Of most login sessions somebody has told before their first client comes.
        if let login = Cast.login(of: app), world.logins[login] == nil, roll(4) > 0 {
            events.append(.loginSession(login, LoginSessionFacts(active: true, user: app.user)))
        }
        let login = Cast.login(of: app).map { LoginMembership.session($0) } ?? .outside
        events.append(.connected(client, app: app, ClientIdentity(login: login)))
        if Cast.kind(of: app) != .app { events.append(.declared(client, ClientAttributes(kind: Cast.kind(of: app)))) }
        return events + create(client)
    }

    private mutating func create(_ world: WholeWorld) -> [Event] {
        guard world.sessions.count < sessionsMax, let client = pick(world.clients.keys.sorted()) else { return [] }
        return create(client)
    }

    private mutating func create(_ client: ClientID) -> [Event] {
        lastSession += 1
        let session = SessionID(lastSession)
        let camera = roll(4) == 0 ? Cast.cameras[1] : Cast.cameras[0]
        let configuration = coin() ? Configuration([.usesAudio: .flag(true)]) : Configuration()
        let created = Event.created(session, client, camera: camera, configuration, reestablished: false)
        return coin() ? [created, .startRunning(session)] : [created]
    }

    private mutating func kioskFact(_ world: WholeWorld) -> [Event] {
        switch roll(3) {
        case 0: return [.operatorChose(roll(3) == 0 ? nil : pick(apps))]
        case 1:
            guard let client = pick(world.clients.keys.sorted()), let rank = pick(Cast.ranks) else { return [] }
            return [.loweredPriority(client, rank: rank)]
        default: return [.pressure(pick(SystemPressure.allCases) ?? .nominal)]
        }
    }

    private mutating func presence(_ world: WholeWorld) -> [Event] {
        let speakers = [PresenceSource.shell, .agent].filter { world.hears($0) }
        switch roll(12) {
        case 0: return [.sourceAttached(coin() || coin() ? .shell : .agent, user: nil)]
        case 1:
            guard roll(3) == 0, let source = pick(speakers) else { return [] }
            return [.sourceGone(source, user: nil)]
        case 2:
            guard let client = pick(world.clients.keys.sorted()) else { return [] }
            let presence = randomPresence()
            return [.declaredPresence(client, presence, focused: presence.isForeground && coin())]
        case 3: return [.operatorChose(roll(3) == 0 ? nil : pick(apps))]
        case 4:
            guard let source = pick(speakers), let app = pick(apps) else { return [] }
            return [.unplaced(app, by: source)]
        default:
            guard let source = pick(speakers), let app = pick(apps) else { return [] }
            let presence = randomPresence()
            return [.placed(app, presence, focused: presence.isForeground && coin(), by: source)]
        }
    }

    private mutating func randomPresence() -> Presence {
        roll(3) == 0 ? .background : .foreground(pick(Presence.Layout.allCases) ?? .fullscreen)
    }

    /// What stops cameras stops them for a while only: each fact is more often taken back than raised.
    private mutating func machineFact(_ world: WholeWorld) -> [Event] {
        guard let camera = pick(Cast.cameras), let app = pick(apps) else { return [] }
        let rarely = roll(3) == 0
        switch roll(9) {
        case 0: return [.privacy(camera, on: rarely && world.cameras[camera]?.isPrivate == false)]
        case 1: return [.privacy(nil, on: rarely && !world.isPrivate)]
        case 2: return [.sleep(rarely && !world.isAsleep)]
        case 3: return [.heldOutside(camera, rarely && world.cameras[camera]?.isHeldOutside == false)]
        case 4:
            if world.cameras[camera]?.isPresent == false { return [.cameraAppeared(camera, Cast.capabilities)] }
            return rarely ? [.cameraDisappeared(camera)] : []
        case 5: return [.microphone(app, taken: rarely && !world.microphones.contains(app))]
        case 6: return rarely ? [.sensitiveContent(app)] : []
        case 7: return [.pressure(pick(SystemPressure.allCases) ?? .nominal)]
        default:
            guard let login = Cast.login(of: app) else { return [] }
            if roll(8) == 0 { return [.loginSessionEnded(login)] }
            let facts = LoginSessionFacts(
                active: !rarely || coin(), locked: rarely && coin(), seat: roll(8) == 0 ? nil : .usual, user: app.user)
            return [.loginSession(login, facts)]
        }
    }
}
