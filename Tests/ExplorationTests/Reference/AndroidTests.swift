import Arbiter
import ArbiterProtocol
import Explain
import Foundation
import PolicyFile
import ReferenceArbiter
import Testing
import Workbench

/// `policies/android.toml` beside the rules that it is written after, opening by opening.
@Suite struct AndroidTests {
    /// `CAMARB_OPENINGS` asks for another number.
    private static let wanted =
        ProcessInfo.processInfo.environment["CAMARB_OPENINGS"].flatMap(Int.init) ?? (isDebug ? 5000 : 100_000)

    /// Long enough that cameras are taken, lost and given back many times, short enough for many worlds.
    private static let openingsOfAWorld = 100

    @Test("Every opening in random worlds ends as Android's rules say, with the same evictions")
    func agrees() throws {
        let policy = try Checkout.policy("android.toml")
        let wanted = Self.wanted
        var (openings, granted, evicted, differ) = (0, 0, 0, 0)
        var seed: UInt64 = 0
        while openings < wanted {
            seed += 1
            var world = AndroidWorld(policy, seed: seed)
            world.run(openings: min(Self.openingsOfAWorld, wanted - openings))
            openings += world.openings
            granted += world.granted
            evicted += world.evicted
            if let difference = world.difference {
                differ += 1
                if differ == 1 { Issue.record("seed \(seed): \(difference)") }
            }
        }
        print("compared \(openings) openings, \(differ) differ (\(granted) granted, \(evicted) evictions)")
        #expect(differ == 0)
        // Worlds in which nobody meets would show nothing.
        #expect(granted > openings / 4 && granted < openings)
        #expect(evicted > openings / 10)
    }
}

/// One random world under android.toml, in which the arbiter and the plain rules see the same happen.
private struct AndroidWorld {
    /// How often an opening came out otherwise than by the plain rules, and what the first of them was.
    private(set) var openings = 0
    private(set) var granted = 0
    private(set) var evicted = 0
    private(set) var difference: String?

    private var random: SeededRandom
    private var arbiter: Arbiter
    private var rules: AndroidCameras
    private let cameras: [String]
    private let apps: [String]
    /// Values that come up in this world: few, so that apps are often equal.
    private let values: [(attribute: String, value: String)]
    private var clients: [UInt64: String] = [:]
    /// The sessions that were created, by client and camera.
    private var sessions: [SessionID: (client: UInt64, camera: String)] = [:]
    private var nextClient: UInt64 = 1
    private var log: [String] = []

    private static let costs = [0, 0, 10, 25, 34, 50, 50, 51, 100, 100, 130]

    /// - Parameter policy: android.toml; its cameras are replaced by the world's.
    init(_ policy: Policy, seed: UInt64) {
        var random = SeededRandom(seed: seed)
        cameras = (0..<(2 + random.below(5))).map { "camera\($0)" }
        apps = (0..<(2 + random.below(4))).map { "app\($0)" }
        var known: [String: AndroidCameras.Camera] = [:]
        for camera in cameras {
            let conflicts = cameras.filter { _ in random.chance(20) }.filter { $0 != camera }
            known[camera] = (conflicts: Set(conflicts), cost: random.pick(Self.costs))
        }
        rules = AndroidCameras(cameras: known)
        values = policy.attributes.flatMap { attribute in
            (0..<3).map { _ in (attribute.name, random.pick(attribute.values)) }
        }
        var ours = policy
        ours.cameras = cameras.map { camera in
            CameraRule(
                camera: CameraID(camera), conflicts: (known[camera]?.conflicts ?? []).sorted().map { CameraID($0) },
                cost: known[camera]?.cost ?? 0)
        }
        arbiter = Arbiter(policy: ours)
        self.random = random
        for camera in cameras { _ = take(.cameraAppeared(CameraID(camera), Self.capabilities)) }
        log.append("cameras \(known.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" })")
    }

    private static let capabilities = CameraCapabilities(
        name: "Camera", position: .external, sensorWidth: 1280, sensorHeight: 720,
        formats: [CameraFormat(pixelFormat: "420v", width: 1280, height: 720, minFrameRate: 1, maxFrameRate: 30)])

    /// Lets things happen until so many cameras have been opened, or one opening differs.
    mutating func run(openings wanted: Int) {
        while openings < wanted, difference == nil {
            switch random.below(100) {
            case 0..<8: connect()
            case 8..<11: disconnect()
            case 11..<35: tell()
            case 35..<42: lower()
            case 42..<52: close()
            default: open()
            }
        }
    }

    // MARK: What happens

    private mutating func connect() {
        guard clients.count < 12 else { return }
        let app = random.pick(apps)
        clients[nextClient] = app
        _ = take(.connected(ClientID(nextClient), app: appID(app), ClientIdentity()))
        nextClient += 1
    }

    private mutating func disconnect() {
        guard let client = anyClient() else { return }
        clients[client] = nil
        for (session, found) in sessions where found.client == client { rules.close(Int(session.rawValue)) }
        sessions = sessions.filter { $0.value.client != client }
        rules.disconnect(Int(client))
        _ = take(.disconnected(ClientID(client)))
        log.append("client \(client) leaves")
    }

    private mutating func tell() {
        let app = random.pick(apps)
        let (attribute, value) = random.pick(values)
        rules.tell(app, attribute, value)
        expectQuiet(take(.attribute(appID(app), name: attribute, value: value)), "a value that is told")
        log.append("\(app) \(attribute) \(value)")
    }

    private mutating func lower() {
        guard let client = anyClient(), let app = clients[client] else { return }
        let (attribute, value) = random.pick(values)
        let isTaken = rules.lower(Int(client), of: app, attribute, to: value)
        let effects = take(.loweredAttribute(ClientID(client), attribute: attribute, to: value))
        if Self.isRefused(effects) == isTaken { differ("client \(client) of \(app) lowers \(attribute) to \(value)") }
        log.append("client \(client) of \(app) lowers \(attribute) to \(value)\(isTaken ? "" : ", in vain")")
    }

    private mutating func close() {
        guard let holder = rules.holders.isEmpty ? nil : random.pick(rules.holders) else { return }
        rules.close(holder.opening)
        _ = take(.stopRunning(SessionID(UInt64(holder.opening))))
        log.append("opening \(holder.opening) closes")
    }

    private mutating func open() {
        guard let client = anyClient(), let app = clients[client] else { return }
        let camera = random.pick(cameras)
        let session = SessionID(client * 16 + UInt64(cameras.firstIndex(of: camera) ?? 0))
        let opening = Int(session.rawValue)
        // A session that has its camera asks for nothing new.
        guard !rules.holders.contains(where: { $0.opening == opening }) else { return }
        if sessions.updateValue((client, camera), forKey: session) == nil {
            let (owner, on) = (ClientID(client), CameraID(camera))
            _ = take(.created(session, owner, camera: on, Configuration(), reestablished: false))
        }
        openings += 1
        let expected = rules.open(opening, app: app, camera: camera)
        let outcome = outcome(take(.startRunning(session)))
        log.append("client \(client) of \(app) opens \(camera) as \(opening): \(expected)")
        if case .granted(let losers) = expected {
            granted += 1
            evicted += losers.count
        }
        if outcome != expected { differ("the arbiter says \(outcome)") }
        let holders = Set(arbiter.status().cameras.compactMap { $0.holder.map { Int($0.rawValue) } })
        if holders != Set(rules.holders.map(\.opening)) { differ("the arbiter has \(holders.sorted()) on the cameras") }
    }

    // MARK: Both sides

    private func appID(_ app: String) -> AppID { AppID(app, user: 1000) }

    private mutating func anyClient() -> UInt64? { clients.isEmpty ? nil : random.pick(clients.keys.sorted()) }

    /// One event, and recorders that answer at once: Android opens one camera after the other, too.
    private mutating func take(_ event: Event) -> [Effect] {
        var all: [Effect] = []
        var events = [event]
        while !events.isEmpty {
            let effects = arbiter.step(events.removeFirst(), at: .zero)
            all += effects
            for effect in effects {
                switch effect {
                case .open(let camera, let grant, _, let asked):
                    events.append(.recorderStreaming(camera, grant, inForce: asked))
                case .cut(let camera, let grant, _, _, _): events.append(.recorderCut(camera, grant))
                default: break
                }
            }
        }
        return all
    }

    private static func isRefused(_ effects: [Effect]) -> Bool {
        effects.contains { if case .refused = $0 { true } else { false } }
    }

    private mutating func outcome(_ effects: [Effect]) -> AndroidCameras.Outcome {
        if Self.isRefused(effects) {
            expectQuiet(effects.filter { if case .refused = $0 { false } else { true } }, "a refused opening")
            return .refused
        }
        var evicted: [Int] = []
        for case .notify(_, let session, _, let event) in effects {
            switch event {
            case .sessionStopped(let stop) where stop.reason == .evicted: evicted.append(Int(session.rawValue))
            case .didStartRunning, .didStopRunning: break
            default: differ("session \(session.rawValue) hears \(event)")
            }
        }
        return .granted(evicted: evicted.sorted())
    }

    private mutating func expectQuiet(_ effects: [Effect], _ what: String) {
        // Another app may win now: that is said, and nothing is done about it.
        let others = effects.filter { if case .announce(.prioritiesChanged) = $0 { false } else { true } }
        if !others.isEmpty { differ("\(what) has effects: \(others)") }
    }

    private mutating func differ(_ what: String) {
        if difference == nil { difference = what + "\n" + log.joined(separator: "\n") }
    }
}
