import Arbiter
import ArbiterProtocol
import Scenario

/// The members of a simulation, and what they do next.
struct SimulatedCast: Sendable {
    static let cameras = ["back", "front", "side", "top"].map(CameraID.init)
    private static let apps = ["photos", "call", "notes", "booth", "evacuation", "mail"]
    private static let users: [UInt32] = [1000, 1000, 1000, 1001]
    /// One of each user.
    private static let logins: [(id: LoginSessionID, user: UInt32)] = [
        (LoginSessionID("c1"), 1000), (LoginSessionID("c2"), 1001),
    ]

    private var clients: [(id: ClientID, app: AppID)] = []
    private var sessions: [(id: SessionID, client: ClientID)] = []
    private var warnings: [(SessionID, InterruptionID)] = []
    private var nextClient: UInt64 = 1
    private var nextSession: UInt64 = 1
    /// Grants of a broker before this one, as far as nobody has taken them up.
    private var survivors: [(grant: GrantID, camera: CameraID, app: AppID)] = []

    // More would only make each step slower: contention needs two.
    private static let clientsMax = 8
    private static let sessionsMax = 12

    static func capabilities(_ camera: CameraID) -> CameraCapabilities {
        CameraCapabilities(
            name: camera.name, position: CameraPosition(rawValue: camera.name) ?? .external, sensorWidth: 3840,
            sensorHeight: 2160,
            formats: [
                CameraFormat(
                    pixelFormat: "420v", width: 1920, height: 1080, minFrameRate: 1, maxFrameRate: 30,
                    videoMaxZoomFactor: 4),
                CameraFormat(pixelFormat: "420v", width: 1280, height: 720, minFrameRate: 1, maxFrameRate: 60),
            ])
    }

    /// In every policy of the simulation.
    func conflicts(_ a: CameraID, _ b: CameraID) -> Bool {
        Set([a.name, b.name]) == ["side", "top"]
    }

    mutating func note(_ effect: Effect) {
        if case .notify(_, let session, _, .willBeInterrupted(let id, _, _, _)) = effect {
            warnings.append((session, id))
        }
        if warnings.count > 4 { warnings.removeFirst() }
    }

    // MARK: Acting

    /// The broker begins where another one ended: some of what that one gave is still captured for.
    mutating func begin(_ random: inout SeededRandom) -> [Action] {
        var actions: [Action] = []
        for (index, camera) in Self.cameras.enumerated() where random.chance(60) {
            let survivor = Survivor(
                grant: GrantID(UInt64(index) + 1), recording: random.chance(50) ? UInt64(index) + 1 : nil)
            let app = app(&random)
            survivors.append((survivor.grant, camera, app))
            actions.append(.event(.reserved(camera, app, survivor: survivor)))
        }
        return actions
    }

    /// Its client is back.
    private mutating func reclaim(_ random: inout SeededRandom) -> [Action] {
        let survivor = survivors.removeLast()
        let (client, session) = (ClientID(nextClient), SessionID(nextSession))
        (nextClient, nextSession) = (nextClient + 1, nextSession + 1)
        clients.append((client, survivor.app))
        sessions.append((session, client))
        return [
            .event(
                .connected(
                    client, app: survivor.app, ClientIdentity(verified: random.chance(90), login: membership(&random)))),
            .event(
                .created(
                    session, client, camera: survivor.camera, configuration(&random, valid: true),
                    reestablished: random.chance(50))),
            .event(.reclaimed(session, survivor.grant)),
        ]
    }

    mutating func act(_ random: inout SeededRandom, _ policies: [Policy]) -> [Action] {
        if !survivors.isEmpty, random.chance(40) { return reclaim(&random) }
        switch random.below(100) {
        case 0..<8: return client(&random)
        case 8..<60: return session(&random)
        case 60..<92: return world(&random)
        case 92..<98: return recorder(&random)
        default:
            if random.chance(50) {
                return [.event(.reserved(random.pick(Self.cameras), app(&random)))]
            }
            return [.event(.policyLoaded(random.pick(policies)))]
        }
    }

    private func app(_ random: inout SeededRandom) -> AppID {
        AppID(random.pick(Self.apps), user: random.pick(Self.users))
    }

    private mutating func client(_ random: inout SeededRandom) -> [Action] {
        if clients.count < Self.clientsMax, random.chance(60) {
            let id = ClientID(nextClient)
            nextClient += 1
            let app = app(&random)
            clients.append((id, app))
            let identity = ClientIdentity(verified: random.chance(80), login: membership(&random))
            var actions: [Action] = [.event(.connected(id, app: app, identity))]
            if random.chance(50) {
                let attributes = ClientAttributes(
                    claimedApp: random.chance(20) ? "claimed" : nil, kind: random.pick(ClientKind.allCases),
                    multitasking: random.chance(30), requiresFullScreen: random.chance(10))
                actions.append(.event(.declared(id, attributes)))
            }
            return actions
        }
        guard !clients.isEmpty else { return [] }
        let index = random.below(clients.count)
        let client = clients[index]
        if random.chance(20) {
            return [.event(.loweredPriority(client.id, rank: random.pick(["strong", "app", "nobody"])))]
        }
        if random.chance(30) {
            return [.event(.declaredPresence(client.id, presence(&random), focused: random.chance(30)))]
        }
        clients.remove(at: index)
        sessions.removeAll { $0.client == client.id }
        return [.event(.disconnected(client.id))]
    }

    private func membership(_ random: inout SeededRandom) -> LoginMembership {
        if random.chance(50) { return .session(random.pick(Self.logins).id) }
        return random.chance(20) ? .outside : .seat
    }

    private func presence(_ random: inout SeededRandom) -> Presence {
        random.chance(30) ? .background : .foreground(random.pick(Presence.Layout.allCases))
    }

    private mutating func session(_ random: inout SeededRandom) -> [Action] {
        if sessions.count < Self.sessionsMax, random.chance(15),
            let client = clients.isEmpty ? nil : random.pick(clients)
        {
            let id = SessionID(nextSession)
            nextSession += 1
            sessions.append((id, client.id))
            let camera = random.chance(90) ? random.pick(Self.cameras) : nil
            return [
                .event(
                    .created(
                        id, client.id, camera: camera, configuration(&random, valid: true),
                        reestablished: random.chance(5)))
            ]
        }
        // Now and then one that is gone, or never was.
        guard !sessions.isEmpty, !random.chance(2) else { return [.event(.startRunning(SessionID(nextSession + 7)))] }
        let index = random.below(sessions.count)
        let id = sessions[index].id
        switch random.below(100) {
        case 0..<34: return [.event(.startRunning(id))]
        case 34..<48: return [.event(.stopRunning(id))]
        case 48..<57: return [.event(recording(id, &random))]
        case 57..<63: return [.event(.stopRecording(id))]
        case 63..<65: return [.event(.attachMicrophone(id, MicrophoneFormat(sampleRate: 48_000, channels: 1)))]
        case 65..<67: return [.event(random.pick([.pauseRecording(id), .resumeRecording(id), .appendMetadata(id)]))]
        case 67..<72: return [.event(.capturePhoto(id))]
        case 72..<75: return [.event(.openStream(id))]
        case 75..<84: return [.event(.configure(id, configuration(&random, valid: false)))]
        case 84..<87: return [.event(.beginConfiguration(id))]
        case 87..<91: return [.event(.commitConfiguration(id))]
        case 91..<95:
            guard let (session, warning) = warnings.last else { return [.event(.ready(id, 1))] }
            return [.event(.ready(session, warning))]
        case 95..<97: return [.event(.continueAfterSensitiveContent(id))]
        default:
            sessions.remove(at: index)
            return [.event(.closed(id))]
        }
    }

    /// Now and then with metadata, of objects too, which none of the cameras finds.
    private func recording(_ id: SessionID, _ random: inout SeededRandom) -> Event {
        var options = RecordingOptions()
        if random.chance(20) { options.metadata.append(MetadataTrack(kind: "location", type: .iso6709)) }
        if random.chance(5) { options.metadata.append(MetadataTrack(kind: "objects", type: .objects)) }
        return .startRecording(id, options)
    }

    private func configuration(_ random: inout SeededRandom, valid: Bool) -> Configuration {
        var batch = Configuration()
        if random.chance(40) { batch[.videoZoomFactor] = .number(valid ? 1 : random.pick([1, 2, 3.5, 9])) }
        if random.chance(30) { batch[.frameRate] = .number(random.pick([15, 24, 30])) }
        if random.chance(20) { batch[.usesAudio] = .flag(random.chance(60)) }
        if random.chance(10) { batch[.whenBusy] = .text("interrupt") }
        if random.chance(20) {
            batch[.sharingMode] = .text(random.pick(["sharedReadOnly", "exclusiveControl"]))
        }
        if random.chance(15) { batch[.captureMode] = .text(random.pick(["photo", "video"])) }
        if !valid, random.chance(15) { batch[.camera] = .text(random.pick(Self.cameras).name) }
        return batch
    }

    private func world(_ random: inout SeededRandom) -> [Action] {
        let camera = random.pick(Self.cameras)
        let event: Event
        switch random.below(100) {
        case 0..<40: event = .placed(app(&random), presence(&random), focused: random.chance(30), by: .shell)
        case 40..<46: event = .unplaced(app(&random), by: .shell)
        case 46..<48: event = .sourceGone(.shell, user: nil)
        case 48..<52: event = .sourceAttached(random.pick([.shell, .agent]), user: random.chance(70) ? nil : 1000)
        case 52..<60: event = .microphone(app(&random), taken: random.chance(50))
        case 60..<63: event = .sensitiveContent(app(&random))
        case 63..<67: event = .operatorChose(random.chance(30) ? nil : app(&random))
        case 67..<72:
            let login = random.pick(Self.logins)
            let facts = LoginSessionFacts(
                active: random.chance(80), locked: random.chance(30), seat: random.chance(15) ? nil : .usual,
                user: login.user)
            event = .loginSession(login.id, facts)
        case 72..<73: event = .loginSessionEnded(random.pick(Self.logins).id)
        case 73..<77: event = .cameraDisappeared(camera)
        case 77..<83: event = .cameraAppeared(camera, Self.capabilities(camera))
        case 83..<88: event = .privacy(random.chance(20) ? nil : camera, on: random.chance(50))
        case 88..<92: event = .heldOutside(camera, random.chance(40))
        case 92..<97: event = .pressure(random.pick(SystemPressure.allCases))
        default: event = .sleep(random.chance(50))
        }
        return [.event(event)]
    }

    private func recorder(_ random: inout SeededRandom) -> [Action] {
        let camera = random.pick(Self.cameras)
        if random.chance(30) {
            let news: Event =
                random.chance(50) ? .recorderGone(camera) : .deviceFailed(camera, .device, message: "no data")
            return [.answer(news, grant: nil)]
        }
        var behaviour = RecorderBehaviour.works
        if random.chance(50) { behaviour.openDelay = .milliseconds(Int64(random.below(800))) }
        if random.chance(50) { behaviour.cutDelay = .milliseconds(Int64(random.below(900))) }
        if random.chance(30) { behaviour.finishDelay = .milliseconds(Int64(random.below(3000))) }
        if random.chance(30) { behaviour.configureDelay = .milliseconds(Int64(random.below(300))) }
        behaviour.hangs = random.chance(10)
        behaviour.diesOnOpen = random.chance(5)
        if random.chance(5) { behaviour.openFailure = "no such device" }
        if random.chance(5) { behaviour.configureRefusal = "the driver says no" }
        return [.behave(camera, behaviour)]
    }

    // MARK: Quiet

    /// All that a quiet phase needs to hear.
    func calm(_ status: Status) -> [Action] {
        var actions: [Action] = [
            .behave(nil, .works), .event(.sleep(false)), .event(.pressure(.nominal)), .event(.privacy(nil, on: false)),
        ]
        for camera in Self.cameras {
            if status.cameras.contains(where: { $0.id == camera && !$0.isPresent }) {
                actions.append(.event(.cameraAppeared(camera, Self.capabilities(camera))))
            }
            actions.append(.event(.privacy(camera, on: false)))
            actions.append(.event(.heldOutside(camera, false)))
        }
        for login in Self.logins {
            actions.append(.event(.loginSession(login.id, LoginSessionFacts(active: true, user: login.user))))
        }
        for name in Self.apps + ["claimed"] {
            for user in Set(Self.users).sorted() {
                actions.append(.event(.microphone(AppID(name, user: user), taken: false)))
            }
        }
        for session in sessions { actions.append(.event(.continueAfterSensitiveContent(session.id))) }
        return actions
    }
}
