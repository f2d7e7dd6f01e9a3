import ArbiterProtocol
import Broker
import Exploration
import Loop

extension DaemonSimulation {
    /// From the catalogue of faults: what may go wrong around a broker.
    enum Fault: String, CaseIterable {
        case clientVanishes = "client-vanishes"
        case recorderCrashes = "recorder-crashes"
        case deviceFails = "device-fails"
        case unplugged
        case heldOutside = "held-outside"
        case switchedOff = "switched-off"
        case troubleSaid = "trouble-said"
        case policyIsBad = "policy-is-bad"
        case hostilePeer = "hostile-peer"
        case machineStalls = "machine-stalls"
    }

    /// One thing that happens.
    func act() throws(SystemFault) {
        switch world.random.below(100) {
        case 0..<10: try connect()
        case 10..<20: create()
        case 20..<42: ask("StartRunning")
        case 42..<50: ask("StopRunning")
        case 50..<54: ask("Close")
        case 54..<58: configure()
        case 58..<62: ask("OpenStream")
        case 62..<74: place()
        case 74..<80: tellTheMachine()
        case 80..<83: try reload()
        default: try fail()
        }
    }

    private func connect() throws(SystemFault) {
        guard clients.count < Self.clientsMax else { return }
        let client = try SimulatedClient(world.random.pick(Self.apps), folder.path + "/socket", world)
        clients.append(client)
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

    private func configure() {
        let batch: WireDictionary = ["frameRate": .double(Double(world.random.pick([5, 10, 24, 30])))]
        ask("Configure", [.dictionary(batch)])
    }

    private func place() {
        let presence = world.random.pick(["fullscreen", "background", "split", "slide-over", "picture-in-picture"])
        shell.tell(
            "PlaceApp",
            [.string(world.random.pick(Self.apps)), .string(presence), .boolean(world.random.chance(50))])
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

    /// Below what one user may have half open, so that the run's other clients, which are of the same user, are not
    /// refused.
    private static let hostileMax = 4

    /// The device says that it is so, and a while later that all is well.
    private func change(_ recorder: SimulatedRecorderCore?, _ state: String) {
        recorder?.say("DeviceChanged", [.string(state), .string("")])
        world.after(Int64(world.random.below(3000)) * SimulatedWorld.millisecond) { [weak recorder] in
            recorder?.say("DeviceChanged", [.string("ok"), .string("")])
        }
    }
}
