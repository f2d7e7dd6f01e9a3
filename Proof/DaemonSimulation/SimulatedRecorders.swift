import ArbiterProtocol
import Broker
import Bus
import Glibc
import PolicyFile
import System
import Workbench

/// Random recorder cores: one at a time for each camera.
final class SimulatedRecorders: RecorderSource {
    unowned let world: SimulatedWorld
    /// By the camera's spec.
    private var latest: [String: SimulatedRecorderCore] = [:]
    private(set) var started = 0
    /// Percent of calls with a fault.
    var faultPercent = 0

    init(_ world: SimulatedWorld) { self.world = world }

    func start(serving spec: String, onEnd: @escaping (_ isInOrder: Bool) -> Void) throws(SystemFault) -> (
        socket: Int32, kill: () -> Void
    ) {
        if let other = latest[spec], !other.hasEnded {
            world.violated("A recorder core of camera \(spec) was started while the one before it runs.")
        }
        started += 1
        world.note("core \(started) of \(spec) starts")
        let (ours, theirs) = try UnixPair.make()
        do throws(SystemFault) {
            let recorder = try SimulatedRecorderCore(spec, started, theirs, self, onEnd)
            latest[spec] = recorder
            return (ours, { [unowned recorder] in recorder.kill() })
        } catch {
            close(ours)
            throw error
        }
    }

    /// A camera that a shell may unplug.
    static func spec(_ camera: String) -> String { "simulated:\(camera)" }
    func latest(of camera: String) -> SimulatedRecorderCore? { latest[Self.spec(camera)] }
    func grant(of camera: String) -> UInt64? { latest(of: camera).flatMap { $0.hasEnded ? nil : $0.grant } }
}

/// `Recorder1` without a camera.
///
///     running ──▶ socket ended (crash, kill, no more work) ──▶ ended
final class SimulatedRecorderCore: BusConnectionDelegate {
    private unowned let others: SimulatedRecorders
    private var world: SimulatedWorld { others.world }
    private let spec: String
    private let number: Int
    private var connection: BusConnection?
    private var onEnd: ((Bool) -> Void)?
    private(set) var hasEnded = false
    private var isEnding = false
    private(set) var grant: UInt64?
    private var isStreaming = false
    /// Since `Starting`, up to the next answered beat.
    private var isStarting = false
    private var streams: [Int32] = []
    /// It answers no further call.
    private var hangs = false
    /// Answers come in the order of the calls, as those of a capture loop do.
    private var lastAnswerDue: Int64 = 0
    private var workCount = 0

    /// Without a grant it leaves, by the contract.
    private static let idleTime = 3 * SimulatedWorld.second

    static let capabilities = CameraCapabilities(
        name: "simulated", position: .external, sensorWidth: 640, sensorHeight: 480,
        formats: [
            CameraFormat(
                pixelFormat: "420v", width: 640, height: 480, minFrameRate: 1, maxFrameRate: 30, videoMaxZoomFactor: 1,
                videoZoomFactorUpscaleThreshold: 1)
        ])

    init(
        _ spec: String, _ number: Int, _ descriptor: Int32, _ others: SimulatedRecorders,
        _ onEnd: @escaping (Bool) -> Void
    ) throws(SystemFault) {
        self.spec = spec
        self.number = number
        self.others = others
        self.onEnd = onEnd
        connection = try BusConnection(
            adopting: descriptor, as: .server, on: others.world.loop, delegate: self, anonymous: true)
        watchIdleness()
    }

    deinit {
        for stream in streams { close(stream) }
        connection?.close()
    }

    /// Of an earlier version.
    private var isOld: Bool { number.isMultiple(of: 3) }
    private func isFaulty() -> Bool { world.random.chance(others.faultPercent) }

    /// By SIGKILL, which takes longer inside a driver.
    func kill() {
        guard !isEnding else { return }
        world.note("core \(number) is killed")
        end(after: isFaulty() ? 2000 : 5, isInOrder: false)
    }

    func crash() {
        guard !isEnding else { return }
        world.note("core \(number) crashes")
        end(after: world.random.below(20), isInOrder: false)
    }

    private func leave() {
        guard !isEnding, grant == nil, !hangs else { return }
        world.note("core \(number) leaves")
        say("Leaving", [])
        end(after: world.random.below(50), isInOrder: true)
    }

    private func end(after milliseconds: Int, isInOrder: Bool) {
        isEnding = true
        connection?.close()
        world.after(Int64(milliseconds) * SimulatedWorld.millisecond) { [weak self] in self?.ended(isInOrder: isInOrder)
        }
    }

    private func ended(isInOrder: Bool) {
        guard !hasEnded else { return }
        world.note("core \(number) has ended")
        hasEnded = true
        grant = nil
        closeStreams()
        let told = onEnd
        onEnd = nil
        told?(isInOrder)
    }

    private func closeStreams() {
        for stream in streams { close(stream) }
        streams = []
    }

    private func watchIdleness() {
        workCount += 1
        let seen = workCount
        world.after(Self.idleTime) { [weak self] in
            guard let self, workCount == seen, grant == nil else { return }
            leave()
        }
    }

    func say(_ member: String, _ arguments: [WireValue]) {
        guard let connection, !isEnding else { return }
        world.note("core \(number) says \(member) \(arguments.compactMap(\.string).joined(separator: " "))")
        connection.signal(path: ObjectPath.recorder, interface: InterfaceName.recorder, member: member, arguments)
    }

    func connectionReady(_ connection: BusConnection) {}

    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        guard !isEnding else { return }
        isEnding = true
        // The broker hung up.
        world.after(Int64(world.random.below(100)) * SimulatedWorld.millisecond) { [weak self] in
            self?.ended(isInOrder: true)
        }
    }

    func connection(_ connection: BusConnection, received message: BusMessage) {
        guard message.kind == .call, !hangs, !isEnding else { return }
        if message.member == "Beat" { return beat(message) }
        watchIdleness()
        let arguments = (try? message.arguments()) ?? []
        let first = arguments.first?.uint64
        var delay = Int64(1 + world.random.below(30)) * SimulatedWorld.millisecond
        if isFaulty() {
            switch world.random.below(6) {
            case 0: return hang(in: message.member)
            case 1: return crash()
            case 2: return say("DeviceChanged", [.string("no such state"), .string("")])
            case 3: return message.answer(BrokerError(.deviceFault, "The device failed, as it was told to."))
            case 4:
                // The device is started anew, or the capture thread is as late without notice.
                if isStreaming, world.random.chance(50) {
                    isStarting = true
                    say("Starting", [])
                }
                delay += 12 * SimulatedWorld.second
            default: delay += 500 * SimulatedWorld.millisecond
            }
        }
        let due = max(lastAnswerDue, EventLoop.now + delay)
        lastAnswerDue = due
        // The grant is open from the call on.
        if message.member == "Open" {
            if let grant {
                world.violated("Camera \(spec) was opened for grant \(first ?? 0) while grant \(grant) is open.")
            }
            grant = first
        }
        world.after(due - EventLoop.now) { [weak self] in
            guard let self, !isEnding, !hangs else { return }
            answer(message, arguments)
        }
    }

    /// Beats are so frequent that other faults come with other calls.
    private func beat(_ message: BusMessage) {
        guard !isOld else {
            return message.answer(BrokerError(.unknownMethod, "A recorder core of an earlier version has no Beat."))
        }
        if isFaulty(), world.random.chance(20) {
            hang(in: message.member)
        } else {
            world.after(max(0, lastAnswerDue - EventLoop.now)) { [weak self] in
                guard let self, !isEnding, !hangs else { return }
                isStarting = false
                message.answer([])
            }
        }
    }

    /// It has to be killed where it streams.
    private func hang(in member: String) {
        hangs = true
        world.note("core \(number) hangs in \(member)")
        guard isStreaming, !isStarting, !isOld else { return }
        world.after(Self.hangTimeMax) { [weak self] in
            guard let self, grant != nil, !isEnding else { return }
            world.violated("Core \(number) of camera \(spec) hangs while it streams, and was not killed in time.")
        }
    }

    /// A hanging recorder core is killed within it.
    private static let hangTimeMax = 3 * SimulatedWorld.second

    private func answer(_ message: BusMessage, _ arguments: [WireValue]) {
        let number = arguments.first?.uint64
        switch message.member {
        case "Describe": message.answer([.dictionary(Self.capabilities.wire)])
        case "Open", "Configure":
            guard number == grant else { return message.answer(BrokerError(.staleGrant, "The grant was cut.")) }
            isStreaming = true
            message.answer([.dictionary(arguments.dropFirst().first?.dictionary ?? [:])])
        case "OpenStream":
            guard number == grant, let (ours, theirs) = try? UnixPair.make() else {
                return message.answer(BrokerError(.staleGrant, "The grant was cut."))
            }
            streams.append(ours)
            message.answer([.fileDescriptor(theirs)])
            close(theirs)
        case "PassOn" where isOld:
            message.answer(BrokerError(.unknownMethod, "A recorder core of an earlier version has no PassOn."))
        case "Cut", "PassOn":
            guard number == grant else { return message.answer(BrokerError(.staleGrant, "Another grant is open.")) }
            grant = nil
            (isStreaming, isStarting) = (false, false)
            closeStreams()
            watchIdleness()
            message.answer([.int64(0)])
        default: message.answer([])
        }
    }
}
