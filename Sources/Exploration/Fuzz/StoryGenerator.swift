import Arbiter
import ArbiterProtocol

/// Random stories in the scenario language, under random policies; the same for the same numbers.
///
/// Stories are made without looking at what the arbiter does: a running session is started, a client is ready for a
/// warning that never came. A story may hold whatever clients and the world may do at any time.
struct StoryGenerator: Sendable {
    var random: SeededRandom
    private var policies: PolicyGenerator
    private(set) var lines: [FuzzStory.Line] = []
    /// The policy in force; nil: the built-in one.
    private(set) var policy: Policy?
    var clients: [Client] = []
    var sessions: [Session] = []
    private var now = Moment.zero
    /// Where most sessions are: without such a place they would seldom meet.
    private var favourite = FuzzNames.cameras[0]
    private(set) var cameras: [String] = []
    /// What the policies of the story count.
    private var durations: [Duration] = []
    private var namesGiven = 0
    /// How many recordings were asked for: their numbers count from 1, as far as they began.
    var recordings = 0
    /// What is put right again, and after how many more turns.
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

    /// What was captured for before the story began.
    struct StorySurvivor: Sendable {
        var grant: Int
        var camera: String
        var app: String
    }

    var survivors: [StorySurvivor] = []
    static let survivorsFrom = 1001

    private static let clientsMax = 7
    private static let sessionsMax = 10

    /// Recorders do what they are told, at once: such a story can be compared with an arbiter that knows of no recorders.
    private let behaves: Bool

    init(_ random: SeededRandom, shares: Bool, behaves: Bool) {
        var random = random
        self.behaves = behaves
        policies = PolicyGenerator(SeededRandom(seed: random.next()), shares: shares)
        self.random = random
    }

    mutating func story() throws(PolicyGenerator.Altered) -> FuzzStory {
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
        let themes = mood()
        for _ in 0..<(8 + random.below(52)) {
            try act(random.pick(themes))
            remedy()
            pass()
        }
        // Whatever runs still, graces, cuts, backoffs, leases, meets its end.
        for seconds: Int64 in [1, 11, 70, 600] {
            now = now + .seconds(seconds)
            say("")
        }
        return FuzzStory(policy: first, cameras: world, lines: lines)
    }

    // MARK: Lines

    mutating func say(_ text: String, _ policy: Policy? = nil) {
        lines.append(FuzzStory.Line(at: now, text: text, policy: policy))
    }

    /// `p3`, `s4`: a number once given stays its owner's, whatever else is taken away.
    mutating func freshName(_ letter: String) -> String {
        namesGiven += 1
        return "\(letter)\(namesGiven)"
    }

    mutating func camera() -> String {
        random.chance(55) ? favourite : random.pick(cameras)
    }

    mutating func app() -> String {
        // Of connected apps, mostly: the others have no session that could feel it.
        if random.chance(85), !clients.isEmpty { return random.pick(clients).app }
        return FuzzNames.app(random.pick(FuzzNames.apps), user: random.pick(FuzzNames.users))
    }

    // MARK: What happens

    /// Puts it right again after a while, mostly: else every story would end with all cameras unplugged and everybody
    /// in the background, and nothing more could happen in it.
    mutating func later(_ text: String) {
        if random.chance(85) { remedies.append((1 + random.below(8), text)) }
    }

    private mutating func remedy() {
        for index in remedies.indices { remedies[index].turns -= 1 }
        for remedy in remedies where remedy.turns == 0 { say(remedy.text) }
        remedies.removeAll { $0.turns == 0 }
    }

    private enum Theme {
        case client, newSession, session, user, machine, recorder, reload, reserve, word
    }

    /// What a story is about: each story leaves out some themes, so that the others have room to meet.
    private mutating func mood() -> [Theme] {
        let weights: [(theme: Theme, weight: Int)] = [
            (.client, 7), (.newSession, 7), (.user, 16), (.machine, 11), (.recorder, 10), (.reload, 8),
            // Brokers say so as they begin, and hardly ever again.
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
        for rule in policy.rankRules { counted += [rule.grace, rule.minHold] + (rule.lease.map { [$0] } ?? []) }
        durations += counted.filter { $0 > .zero && !durations.contains($0) }
    }

    // MARK: Time

    /// What the core counts by itself: a cut, a kill, the first backoff, a freeze or the answer to `open`, and a window.
    private static let bounds: [Duration] = [
        Bound.cut, Bound.kill, Bound.firstBackoff, Bound.sourceFreeze, .seconds(10), Bound.steady, Bound.reservation,
        Bound.question,
    ]
    private static let blinks: [Int64] = [1, 50, 100, 200, 250, 400, 499, 500, 501, 750]
    private static let whiles: [Int64] = [20, 30, 60, 61, 120, 600]

    /// To the next line: often at once, else so long that what is counted meets.
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

    /// Just before it ends, as it ends, and just after.
    private mutating func edge(of duration: Duration) -> Duration {
        max(.zero, duration + .milliseconds(random.pick([-1, 0, 0, 1])))
    }
}
