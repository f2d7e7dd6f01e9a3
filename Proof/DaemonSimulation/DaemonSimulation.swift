import ArbiterProtocol
import Broker
import PolicyFile
package import System
import Workbench

/// camarbd as a whole in simulated time: the real broker and its wire, with random clients, recorder cores and faults, in one thread.
///
/// Two phases, after TigerBeetle's simulator (VOPR). In the first, faults happen, and *safety* is checked at each moment of rest:
/// clients' views are true, notices have no gap, a camera has one recorder core and one grant at a time, every call is answered, no
/// client is disconnected for another, and the core keeps its promises. After the faults *liveness* is checked: in bounded time
/// every call is answered, and each session that asks alone runs.
///
/// Files of photos and recordings, which have a process of their own, and plans, which have a thread, are not simulated.
package final class DaemonSimulation {
    package struct Report {
        package var steps = 0
        /// Seconds of simulated time.
        package var seconds: Int64 = 0
        package var answers = 0
        package var refusals = 0
        package var notices = 0
        package var recorders = 0
        package var faults: [(name: String, count: Int)] = []
        /// Sessions that asked alone in the second phase.
        package var alone = 0
        /// Equal for two runs of a seed.
        package var digest: UInt64 = 0
        /// The first broken promise.
        package var violation: String?
        /// The last events.
        package var lines: [String] = []
    }

    static let cameras = ["front", "back"]
    /// More clients make a run longer and no richer.
    static let clientsMax = 5
    static let apps = ["Meet", "Photos", "Notes", "Scanner"]

    let world: SimulatedWorld
    let recorders: SimulatedRecorders
    let broker: Broker
    let policies: [String]
    let folder: TemporaryFolder
    var clients: [SimulatedClient] = []
    var shell: SimulatedClient
    var hostile: [HostilePeer] = []
    var faults: [Fault: Int] = [:]
    var left = Report()

    /// - Parameter policies: files, none of which shares cameras.
    /// - Throws: where the machine has no descriptors, or no folder for a socket.
    package init(seed: UInt64, policies: [String]) throws(SystemFault) {
        precondition(!policies.isEmpty, "a run begins under a policy")
        world = try SimulatedWorld(seed: seed)
        recorders = SimulatedRecorders(world)
        self.policies = policies
        folder = try TemporaryFolder()
        var options = BrokerOptions()
        options.socket = folder.path + "/socket"
        options.policy = folder.path + "/policy.toml"
        options.policyFolder = ""
        options.systemBus = ""
        options.trustsClaims = true
        options.machine = folder.path
        options.answers = nil
        options.cameras = Self.cameras.map { BrokerOptions.Camera(id: CameraID($0), spec: SimulatedRecorders.spec($0)) }
        try folder.link("policy.toml", to: policies[Int(seed % UInt64(policies.count))])
        for name in ["proc", "proc/pressure"] { try folder.makeFolder(name) }
        try Self.say(stalled: 0, in: folder)
        broker = try Broker(options, recorders: recorders, on: world.loop)
        shell = try SimulatedClient("shell", folder.path + "/socket", world)
        try world.settle()
        shell.tell("Attach", [.string("shell")])
        try world.settle()
    }

    package func run(steps: Int) throws(SystemFault) -> Report {
        recorders.faultPercent = 6
        for _ in 0..<steps where world.violation == nil {
            left.steps += 1
            try act()
            try world.settle()
            look()
            try world.pass(Int64(world.random.below(Self.pauseMax)) * SimulatedWorld.millisecond) { look() }
        }
        if world.violation == nil { try calm() }
        // Each session alone, in front of its user, has to run.
        for client in clients {
            for session in client.sessions where world.violation == nil { try askAlone(session.id, of: client) }
        }
        left.seconds = world.elapsed / SimulatedWorld.second
        left.recorders = recorders.started
        left.faults = Fault.allCases.map { ($0.words, faults[$0] ?? 0) }
        for client in clients + [shell] { count(client) }
        left.digest = world.digest
        left.violation = world.violation
        left.lines = world.lines
        broker.stop()
        return left
    }

    /// Milliseconds: mostly shorter than a recorder core takes, so that events meet.
    private static let pauseMax = 120

    func count(_ client: SimulatedClient) {
        left.answers += client.answers
        left.refusals += client.refusals
        left.notices += client.notices
    }

    /// The machine's memory pressure: percent of the last ten seconds in which work stood still.
    static func say(stalled percent: Int, in folder: TemporaryFolder) throws(SystemFault) {
        try folder.write("full avg10=\(percent).00 avg60=0.00 avg300=0.00 total=0\n", to: "proc/pressure/memory")
    }

    /// At rest, when everything that was sent has been read.
    func look() {
        for sentence in broker.brokenPromises.prefix(1) { world.violated("The core: \(sentence)") }
        var running: [String: String] = [:]
        for client in clients {
            if let member = client.overdue { world.violated("\(client.app) has no answer to \(member).") }
            for session in client.sessions {
                guard let believed = session.view.grant?.rawValue else { continue }
                let who = "\(client.app)'s session \(session.id.rawValue)"
                let grant = recorders.grant(of: session.camera)
                if grant != believed {
                    world.violated(
                        "\(who) believes that it has camera \(session.camera) under grant \(believed); the recorder core has \(grant.map { "grant \($0)" } ?? "none") open."
                    )
                }
                if let other = running.updateValue(who, forKey: session.camera) {
                    world.violated("\(who) and \(other) both believe that they have camera \(session.camera).")
                }
            }
        }
    }

    // MARK: Liveness

    private func calm() throws(SystemFault) {
        world.note("the faults end")
        recorders.faultPercent = 0
        hostile = []
        try Self.say(stalled: 0, in: folder)
        for camera in Self.cameras {
            recorders.latest(of: camera)?.say("DeviceChanged", [.string("ok"), .string("")])
            shell.tell("SetPrivacy", [.string(camera), .boolean(false)])
            shell.tell("Plug", [.string(camera), .boolean(true)])
        }
        shell.tell("SetPrivacy", [.string(""), .boolean(false)])
        shell.tell("SetPressure", [.string("nominal")])
        shell.tell("SetSleep", [.boolean(false)])
        shell.tell("Override", [.string("")])
        for app in Self.apps { shell.tell("ReleaseMicrophone", [.string(app)]) }
        try world.settle()
        try world.pass(Self.calmTime) { look() }
        for client in clients + [shell] where client.isWaiting {
            world.violated(
                "\(client.app) waits for an answer \(Self.calmTime / SimulatedWorld.second) s after the last fault.")
        }
    }

    /// A recorder core that hangs is killed after 15 s; a failed device is tried again after 8 s, an undescribed camera after 60 s.
    private static let calmTime = 90 * SimulatedWorld.second

    private func askAlone(_ session: SessionID, of client: SimulatedClient) throws(SystemFault) {
        for other in clients { for view in other.sessions { other.ask(view.id, "StopRunning") } }
        for app in Self.apps { shell.tell("PlaceApp", [.string(app), .string("background"), .boolean(false)]) }
        try world.settle()
        try world.pass(2 * SimulatedWorld.second) { look() }
        shell.tell("PlaceApp", [.string(client.app), .string("fullscreen"), .boolean(true)])
        client.ask(session, "StartRunning")
        client.ask(session, "Continue")
        try world.settle()
        // Cool-downs end within it.
        try world.pass(Self.aloneTime) { look() }
        guard let heard = client.sessions.first(where: { $0.id == session }) else { return }
        left.alone += 1
        guard heard.wantsToRun, heard.view.grant == nil else { return }
        let causes = heard.view.interruption?.causes.ordered.map(\.wireName) ?? []
        world.violated(
            "\(client.app)'s session \(session.rawValue) is alone, in front of its user, and does not run: \(causes.joined(separator: ", ")) stand."
        )
    }

    private static let aloneTime = 70 * SimulatedWorld.second

    enum Fault: String, CaseIterable {
        case clientVanishes, recorderCrashes, deviceFails, unplugged, heldOutside, switchedOff, troubleSaid, policyIsBad
        case hostilePeer, machineStalls

        /// `client-vanishes`
        var words: String { rawValue.reduce(into: "") { $0 += $1.isUppercase ? "-\($1.lowercased())" : "\($1)" } }
    }

    func act() throws(SystemFault) {
        switch world.random.below(100) {
        case 0..<10: try connect()
        case 10..<20: create()
        case 20..<42: ask("StartRunning")
        case 42..<50: ask("StopRunning")
        case 50..<54: ask("Close")
        case 54..<58:
            ask("Configure", [.dictionary(["frameRate": .double(Double(world.random.pick([5, 10, 24, 30])))])])
        case 58..<62: ask("OpenStream")
        case 62..<74: place()
        case 74..<80: tellTheMachine()
        case 80..<83: try reload()
        default: try fail()
        }
    }

    private func connect() throws(SystemFault) {
        guard clients.count < Self.clientsMax else { return }
        clients.append(try SimulatedClient(world.random.pick(Self.apps), folder.path + "/socket", world))
    }

    private func create() {
        guard let client = someClient() else { return }
        let rate: Double? = world.random.chance(30) ? Double(world.random.pick([10, 15, 30])) : nil
        client.createSession(world.random.pick(Self.cameras), frameRate: rate)
    }

    private func someClient() -> SimulatedClient? {
        let there = clients.filter { $0.isDeclared }
        return there.isEmpty ? nil : world.random.pick(there)
    }

    private func ask(_ member: String, _ arguments: [WireValue] = []) {
        guard let client = someClient(), !client.sessions.isEmpty else { return }
        client.ask(world.random.pick(client.sessions).id, member, arguments)
    }

    private func place() {
        let presence = world.random.pick(["fullscreen", "background", "split", "slide-over", "picture-in-picture"])
        shell.tell(
            "PlaceApp", [.string(world.random.pick(Self.apps)), .string(presence), .boolean(world.random.chance(50))])
    }

    private func tellTheMachine() {
        let app = WireValue.string(world.random.pick(Self.apps))
        switch world.random.below(6) {
        case 0: shell.tell("TakeMicrophone", [app])
        case 1: shell.tell("ReleaseMicrophone", [app])
        case 2: shell.tell("SetPressure", [.string(world.random.pick(["nominal", "fair", "serious", "critical"]))])
        case 3: shell.tell("SetSleep", [.boolean(world.random.chance(30))])
        case 4: shell.tell("Override", [world.random.chance(50) ? app : .string("")])
        default: shell.tell("RaiseSensitiveContent", [app])
        }
    }

    private func reload() throws(SystemFault) {
        world.note("another policy")
        try folder.link("policy.toml", to: world.random.pick(policies))
        broker.reloadPolicy()
    }

    // MARK: Faults

    private func fail() throws(SystemFault) {
        let fault = world.random.pick(Fault.allCases)
        let recorder = recorders.latest(of: world.random.pick(Self.cameras))
        switch fault {
        case .clientVanishes:
            guard !clients.isEmpty else { return }
            let client = clients.remove(at: world.random.below(clients.count))
            client.vanish()
            count(client)
        case .recorderCrashes: recorder?.crash()
        case .deviceFails: recorder?.say("DeviceChanged", [.string("error"), .string("The device failed.")])
        case .unplugged: change(recorder, "disconnected")
        case .heldOutside: change(recorder, "held-outside")
        case .switchedOff: change(recorder, "privacy-on")
        case .troubleSaid:
            for _ in 0..<world.random.below(12) {
                recorder?.say("RuntimeError", [.string("dropped"), .string("A frame was dropped.")])
            }
        case .policyIsBad:
            world.note("a bad policy")
            try folder.write("name = \"broken\"\nno-such-key = 1\n", to: "policy.toml")
            broker.reloadPolicy()
        case .hostilePeer:
            if hostile.count >= Self.hostileMax { hostile.removeFirst() }
            let manner = world.random.pick(HostilePeer.Manner.allCases)
            world.note("a peer that is \(manner)")
            hostile.append(try HostilePeer(manner, folder.path + "/socket"))
        case .machineStalls: try Self.say(stalled: world.random.pick([0, 5, 30, 90]), in: folder)
        }
        faults[fault, default: 0] += 1
    }

    /// Below the half-open connections of one user, so that the other clients of that user are not refused.
    private static let hostileMax = 4

    /// For a while.
    private func change(_ recorder: SimulatedRecorderCore?, _ state: String) {
        recorder?.say("DeviceChanged", [.string(state), .string("")])
        world.after(Int64(world.random.below(3000)) * SimulatedWorld.millisecond) { [weak recorder] in
            recorder?.say("DeviceChanged", [.string("ok"), .string("")])
        }
    }
}
