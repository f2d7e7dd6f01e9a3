import Arbiter
import ArbiterProtocol
import Explain
import Glibc
import PolicyFile

/// The in-process half of `make bench`: nanoseconds of one step of the decision core.
///
/// `decision`: one step of a session's run, beside CLIENTS clients with a session each. The other sessions are stopped, or, with
/// `waiting`, wait for the same camera. `handoff`: all steps of one handoff, as in `bench/c/handoff.c`.

let usage = """
    usage: arbiter-bench decision CLIENTS STEPS POLICY [waiting]
           arbiter-bench handoff CLIENTS HANDOFFS POLICY
    """

func fail(_ sentence: String) -> Never {
    let line = "arbiter-bench: \(sentence)\n"
    _ = line.withCString { write(STDERR_FILENO, $0, strlen($0)) }
    exit(1)
}

func monotonic() -> Int64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// A world on its own clock. Counting the effects keeps the optimizer from removing them.
struct BenchWorld {
    var arbiter: Arbiter
    var now = Moment.zero
    var effects = 0
    let camera = CameraID("bench")

    mutating func step(_ event: Event) -> [Effect] {
        now = now + .microseconds(100)
        let ordered = arbiter.step(event, at: now)
        effects += ordered.count
        return ordered
    }

    mutating func apply(_ event: Event) { _ = step(event) }

    mutating func run(_ session: SessionID, asking batch: Configuration) {
        var granted = GrantID(0)
        for case .open(_, let grant, _, _) in step(.startRunning(session)) { granted = grant }
        apply(.recorderStreaming(camera, granted, inForce: batch))
        apply(.configure(session, batch))
        apply(.recorderConfigured(camera, granted, asked: batch, inForce: batch))
        apply(.stopRunning(session))
        apply(.recorderCut(camera, granted))
    }
    static let stepsOfARun = 6

    /// The camera passes from its holder, of that grant, to a newcomer, and the loser stops: four decisions.
    mutating func handoff(of grant: GrantID, from loser: SessionID, to winner: SessionID) -> GrantID {
        apply(.startRunning(winner))
        var granted = grant
        for case .open(_, let next, _, _) in step(.recorderCut(camera, grant)) { granted = next }
        apply(.recorderStreaming(camera, granted, inForce: inForce))
        apply(.stopRunning(loser))
        return granted
    }
    private let inForce = Configuration([.activeFormat: .text("420v 1920x1080"), .frameRate: .number(30)])
}

/// Rounds before the measured ones, as a part of them.
let warmUp = 10

let words = CommandLine.arguments
guard words.count >= 5 else { fail(usage) }
let (isHandoff, others) = (words[1] == "handoff", words.count == 6)
guard words[1] == "decision" ? words.count == 5 || words[5] == "waiting" : isHandoff && words.count == 5 else {
    fail(usage)
}
guard let clients = Int(words[2]), (2...100_000).contains(clients) else {
    fail("\(words[2]) is no number of clients, 2 to 100000")
}
guard let steps = Int(words[3]), (1...100_000_000).contains(steps) else {
    fail("\(words[3]) is no number of steps or handoffs, 1 to 100000000")
}

let policy: Policy
do { policy = try PolicyFile.load(path: words[4]) } catch { fail("\(error)") }

var world = BenchWorld(arbiter: Arbiter(policy: policy))
world.apply(
    .cameraAppeared(
        world.camera,
        CameraCapabilities(
            name: "bench", position: .front, sensorWidth: 1920, sensorHeight: 1080,
            formats: [CameraFormat(pixelFormat: "420v", width: 1920, height: 1080, minFrameRate: 1, maxFrameRate: 30)]))
)
for number in 1...UInt64(clients) {
    let client = ClientID(number)
    world.apply(.connected(client, app: AppID("app-\(number)", user: 1000), ClientIdentity()))
    world.apply(.created(SessionID(number), client, camera: world.camera, Configuration(), reestablished: false))
}
let batch = Configuration([.frameRate: .number(15)])
let session = SessionID(UInt64(clients))
var begun: Int64 = 0
var measuredSteps = 0
if isHandoff {
    var (holder, other) = (session, SessionID(1))
    var grant = GrantID(0)
    for case .open(_, let first, _, _) in world.step(.startRunning(holder)) { grant = first }
    world.apply(.recorderStreaming(world.camera, grant, inForce: batch))
    for round in -steps / warmUp..<steps {
        if round == 0 { begun = monotonic() }
        let next = world.handoff(of: grant, from: holder, to: other)
        guard next != grant else { fail("the policy does not give the camera to a newcomer; bench/bench.toml does") }
        grant = next
        swap(&holder, &other)
    }
    measuredSteps = steps
} else if others {
    // The first session holds the camera, the rest wait; the measured session asks in vain.
    for number in 1..<UInt64(clients) { world.apply(.startRunning(SessionID(number))) }
    let rounds = max(1, steps / 2)
    for round in -rounds / warmUp..<rounds {
        if round == 0 { begun = monotonic() }
        world.apply(.startRunning(session))
        world.apply(.stopRunning(session))
    }
    measuredSteps = rounds * 2
} else {
    let rounds = max(1, steps / BenchWorld.stepsOfARun)
    for round in -rounds / warmUp..<rounds {
        if round == 0 { begun = monotonic() }
        world.run(session, asking: batch)
    }
    measuredSteps = rounds * BenchWorld.stepsOfARun
}
print(Double(monotonic() - begun) / Double(measuredSteps))
guard world.effects > clients else { fail("the core ordered nothing") }
let violations = world.arbiter.violations()
guard violations.isEmpty else { fail("the core broke its invariants: \(violations)") }
