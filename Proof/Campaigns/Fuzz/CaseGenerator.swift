import Arbiter
import ArbiterProtocol
import PolicyFile
import Workbench

/// Random cases in the scenario language, under random policies, by a seed. They do not depend on the arbiter: a running session is
/// started, a client is ready for a warning that never came.
struct CaseGenerator: Sendable {
    var random: SeededRandom
    private var policies: PolicyGenerator
    private(set) var lines: [FuzzCase.Line] = []
    /// The policy in force; `nil` for the built-in one.
    private(set) var policy: Policy?
    var clients: [Client] = []
    var sessions: [Session] = []
    private var now = Moment.zero
    /// The camera of most sessions, which would seldom meet otherwise.
    private var favourite = FuzzNames.cameras[0]
    private(set) var cameras: [String] = []
    /// The times of the case's policies.
    private var durations: [Duration] = []
    private var namesGiven = 0
    /// Requested recordings, whose numbers count from 1.
    var recordings = 0
    /// Undoing lines, and the turns until then.
    private var remedies: [(turns: Int, text: String)] = []

    struct Client: Sendable {
        var name: String
        var app: String
        var isConnected = true
    }

    struct Session: Sendable {
        var name: String
        var client: String
        var isOpen = true
    }

    private(set) var survivors: [(grant: Int, camera: String, app: String)] = []
    private static let survivorsFrom = 1001
    private static let clientsMax = 7
    private static let sessionsMax = 10

    /// Recorders answer at once, so that the case can be compared with an arbiter without recorders.
    private let behaves: Bool

    init(_ random: SeededRandom, shares: Bool, behaves: Bool) {
        var random = random
        self.behaves = behaves
        policies = PolicyGenerator(SeededRandom(seed: random.next()), shares: shares)
        self.random = random
    }

    /// - Parameter turns: after the beginning; `nil` for a random number of up to 60.
    mutating func fuzzCase(turns: Int? = nil) throws(PolicyGenerator.Altered) -> FuzzCase {
        let first = try policies.policy()
        enforce(first)
        let world = world()
        cameras = world.map(\.name)
        favourite = random.pick(cameras)
        if random.chance(20) { restart() }
        for _ in 0..<(2 + random.below(5)) {
            connect()
            if random.chance(90) { createSession() }
            pass()
        }
        if isShared, random.chance(50) { share() }
        if isShared, random.chance(2) { crowd() }
        let themes = mood()
        for _ in 0..<(turns ?? 8 + random.below(52)) {
            try act(random.pick(themes))
            remedy()
            pass()
        }
        // Graces, cuts, backoffs and leases end.
        for seconds: Int64 in [1, 11, 70, 600] {
            now = now + .seconds(seconds)
            say("")
        }
        return FuzzCase(policy: first, cameras: world, lines: lines)
    }

    mutating func say(_ text: String, _ policy: Policy? = nil) {
        lines.append(FuzzCase.Line(at: now, text: text, policy: policy))
    }

    /// `p3`, `s4`: numbers stay when other lines are removed.
    mutating func freshName(_ letter: String) -> String {
        namesGiven += 1
        return "\(letter)\(namesGiven)"
    }

    mutating func camera() -> String { random.chance(55) ? favourite : random.pick(cameras) }

    mutating func app() -> String {
        // Mostly connected apps.
        if random.chance(85), !clients.isEmpty { return random.pick(clients).app }
        return FuzzNames.app(random.pick(FuzzNames.apps), user: random.pick(FuzzNames.users))
    }

    /// Mostly undoes the line after a while: else every case would end with all cameras unplugged and all apps in the background.
    mutating func say(_ text: String, later undoing: String) {
        say(text)
        later(undoing)
    }

    mutating func later(_ text: String) { if random.chance(85) { remedies.append((1 + random.below(8), text)) } }

    private mutating func remedy() {
        for index in remedies.indices { remedies[index].turns -= 1 }
        for remedy in remedies where remedy.turns == 0 { say(remedy.text) }
        remedies.removeAll { $0.turns == 0 }
    }

    private enum Theme { case client, newSession, session, user, machine, recorder, reload, reserve, word }

    /// Each case leaves out some themes, so that the others meet.
    private mutating func mood() -> [Theme] {
        let weights: [(theme: Theme, weight: Int)] = [
            (.client, 7), (.newSession, 7), (.user, 16), (.machine, 11), (.recorder, 10), (.reload, 8),
            // Mostly at a broker's start.
            (.reserve, 1), (.word, 6),
        ]
        let kept = weights.filter { _ in random.chance(70) }
        return kept.reduce(into: Array(repeating: .session, count: 44)) {
            $0 += Array(repeating: $1.theme, count: $1.weight)
        }
    }

    private mutating func act(_ theme: Theme) throws(PolicyGenerator.Altered) {
        switch theme {
        case .client: clients.count < Self.clientsMax && random.chance(50) ? connect() : client()
        case .newSession: sessions.count < Self.sessionsMax ? createSession() : session()
        case .session: session()
        case .user: user()
        case .machine: machine()
        case .recorder: behaves ? session() : recorder()
        case .reload: try reload()
        case .reserve: say("reserve \(camera()) \(app())")
        case .word: word()
        }
    }

    private mutating func reload() throws(PolicyGenerator.Altered) {
        let next: Policy
        switch random.below(10) {
        case 0:
            policy = nil
            return say("policy-reload built-in")
        case 1: next = policy ?? .firstCome
        case 2..<6: next = try policies.variant(of: policy ?? .firstCome)
        default: next = try policies.policy()
        }
        enforce(next)
        say("policy-reload", next)
    }

    private mutating func enforce(_ policy: Policy) {
        self.policy = policy
        var counted = [policy.pressureSettle, policy.contention.coolDown]
        for rule in policy.rankRules {
            counted += [rule.grace, rule.minHold, rule.pause] + (rule.lease.map { [$0] } ?? [])
        }
        durations += counted.filter { $0 > .zero && !durations.contains($0) }
    }

    /// The core's own times.
    private static let bounds: [Duration] = [
        Bound.cut, Bound.kill, Bound.firstBackoff, Bound.sourceFreeze, .seconds(10), Bound.steady, Bound.reservation,
        Bound.question,
    ]
    private static let blinks: [Int64] = [1, 50, 100, 200, 250, 400, 499, 500, 501, 750]
    private static let whiles: [Int64] = [20, 30, 60, 61, 120, 600]

    /// Often no time; else so long that ends of times meet.
    mutating func pass() {
        switch random.below(100) {
        case 0..<38: return
        case 38..<60: now = now + .milliseconds(random.pick(Self.blinks))
        case 60..<76: now = now + .seconds(Int64(1 + random.below(5)))
        case 76..<90: now = now + edge(of: durations.isEmpty ? .seconds(5) : random.pick(durations))
        case 90..<96: now = now + edge(of: random.pick(Self.bounds))
        default: now = now + .seconds(random.pick(Self.whiles))
        }
    }

    /// Just before its end, at its end, or just after.
    private mutating func edge(of duration: Duration) -> Duration {
        max(.zero, duration + .milliseconds(random.pick([-1, 0, 0, 1])))
    }
}

/// The names of policies and cases: few, so that rules match in cases.
enum FuzzNames {
    static let cameras = ["back", "front", "wide"]
    static let apps = ["a", "b", "c", "d"]
    /// Mostly one user: apps of two users meet less.
    static let users: [UInt32] = [1000, 1000, 1000, 1001]
    static let groups: [UInt32] = [44, 100]
    static let logins = ["s1", "s2"]
    static let ranks = ["r0", "r1", "r2", "r3"]
    static let modes = ["night", "cleaning", "visitors"]
    static let attributes: [(name: String, values: [String])] = [
        ("duty", ["high", "mid", "low"]), ("place", ["desk", "door"]),
    ]

    /// Each camera has some: a camera that is plugged in again may lack what a session needs.
    static let formats = [
        Format("420v", 1920, 1080, "", 30, "\" zoom=4 lossless=2"), Format("420v", 1280, 720, "", 60, "\" zoom=2"),
        Format("420v", 640, 480, "", 15, "\""), Format("MJPG", 1920, 1080, "5-", 24, " binned\" zoom=3"),
    ]

    struct Format {
        let pixelFormat: String
        let width: Int
        let height: Int
        /// Frames a second, at most.
        let frameRate: Int
        /// For sessions, and for a camera's line.
        let name: String
        let line: String

        /// - Parameters:
        ///   - slowest: the fewest frames a second and a dash, or empty.
        ///   - end: the rest of the line after the rate.
        fileprivate init(
            _ pixelFormat: String, _ width: Int, _ height: Int, _ slowest: String, _ frameRate: Int, _ end: String
        ) {
            (self.pixelFormat, self.width, self.height, self.frameRate) = (pixelFormat, width, height, frameRate)
            name = "\(pixelFormat) \(width)x\(height)@\(frameRate)"
            line = "format=\"\(pixelFormat) \(width)x\(height)@\(slowest)\(frameRate)\(end)"
        }
    }

    static func app(_ name: String, user: UInt32) -> String { user == 1000 ? name : "\(name)@\(user)" }
}

extension CaseGenerator {
    /// - Parameter returning: the app for which a camera is kept.
    mutating func connect(returning: String? = nil) {
        let name = freshName("p")
        let app = returning ?? random.pick(FuzzNames.apps)
        let user = returning == nil ? random.pick(FuzzNames.users) : FuzzNames.users[0]
        var words = ["connect \(name) app=\(app)"]
        if user != FuzzNames.users[0] { words.append("user=\(user)") }
        switch random.below(100) {
        case 0..<25: words.append("login=\(random.pick(FuzzNames.logins))")
        case 25..<37: words.append("login=none")
        default: break
        }
        if random.chance(20) { words.append("groups=\(random.pick(FuzzNames.groups))") }
        if random.chance(10) { words.append("weak") }
        if random.chance(3) { words.append("own-broker") }
        if random.chance(returning == nil ? 12 : 4) {
            words.append(random.pick(["claimed", "unverified", "claimed=\(random.pick(FuzzNames.apps))"]))
        }
        words += attributes()
        if random.chance(50) {
            words.append("presence=\(random.pick(Presence.wireNames))")
            if random.chance(40) { words.append("focused") }
        }
        clients.append(Client(name: name, app: FuzzNames.app(app, user: user)))
        say(words.joined(separator: " "))
    }

    private mutating func attributes() -> [String] {
        var words: [String] = []
        if random.chance(35) { words.append("kind=\(random.pick(ClientKind.allCases).rawValue)") }
        if random.chance(30) { words.append("multitasking") }
        if random.chance(10) { words.append("full-screen") }
        return words
    }

    /// A connected client, or now and then one that left.
    private mutating func anyClient() -> String? {
        let there = clients.filter(\.isConnected)
        if there.isEmpty || random.chance(4) { return clients.isEmpty ? nil : random.pick(clients).name }
        return random.pick(there).name
    }

    mutating func client() {
        guard let name = anyClient() else { return connect() }
        switch random.below(100) {
        case 0..<30: disconnect(name)
        case 30..<50:
            let claimed = random.chance(15) ? ["claimed=\(random.pick(FuzzNames.apps))"] : []
            say((["declare \(name)"] + claimed + attributes()).joined(separator: " "))
        case 50..<75:
            let focus = random.chance(40) ? " focused" : ""
            say("declare-presence \(name) \(random.pick(Presence.wireNames))\(focus)")
        case 75..<88: say("lower \(name) \(random.pick(FuzzNames.ranks + ["everyone"]))")
        default:
            let attribute = random.pick(FuzzNames.attributes)
            say("lower \(name) \(attribute.name) \(random.pick(attribute.values))")
        }
    }

    private mutating func disconnect(_ name: String) {
        for index in clients.indices where clients[index].name == name { clients[index].isConnected = false }
        for index in sessions.indices where sessions[index].client == name { sessions[index].isOpen = false }
        say("disconnect \(name)")
    }

    /// After a restart of the broker cameras wait for the apps that had them, and these reestablish their sessions, or reclaim their
    /// grants.
    mutating func restart() {
        for camera in cameras where random.chance(70) {
            let app = random.pick(FuzzNames.apps)
            guard random.chance(70) else {
                say("reserve \(camera) \(app)")
                continue
            }
            // Numbers that no grant of a case reaches.
            let number = Self.survivorsFrom + survivors.count
            let recording = random.chance(40) ? " recording=\(number)" : ""
            survivors.append((number, camera, app))
            say("reserve \(camera) \(app) grant=\(number)\(recording)")
        }
        connect()
        createSession(reestablished: true)
        for survivor in survivors where random.chance(85) {
            pass()
            reclaim(survivor.grant, on: survivor.camera, survivor.app)
        }
    }

    /// Its client is back, in time or not, with the same session or another.
    private mutating func reclaim(_ grant: Int, on camera: String, _ app: String) {
        connect(returning: app)
        guard let client = clients.last?.name else { return }
        let name = freshName("s")
        sessions.append(Session(name: name, client: client))
        let settings = random.chance(20) ? " sharingMode=sharedReadOnly" : random.chance(20) ? " videoZoomFactor=1" : ""
        say("session \(name) of \(client) camera=\(camera)\(settings)")
        if random.chance(15) { machine() }
        if random.chance(10) { user() }
        if random.chance(10) { session() }
        say("reclaim \(name) grant=\(grant)")
    }
}
