import Arbiter
import ArbiterProtocol
import Bus
import Glibc
import System

/// One camera, and the core's orders to its recorder core. Each order is answered once, whatever becomes of the process that it
/// was given to. The core is stepped with the process's end, not with the socket's (`RecorderLife`).
class CameraLink {
    unowned let broker: Broker
    let camera: CameraID
    let spec: String

    var capabilities: CameraCapabilities?
    var generation: UInt64 = 0
    var isPresent = false
    var trouble: String? { didSet { if trouble != oldValue { broker.properties.degradedMayHaveChanged() } } }
    /// The program that has it without asking the broker, as far as that can be known.
    var outside: String?
    /// The program that merely has its node open.
    var openIn: String?
    /// Begun for a camera of the machine only.
    private(set) lazy var node = NodeObserver(self, on: broker.loop)
    /// The file with the number of its driver's users; `nil` for a camera without a node.
    var nodeUsersPath: String?
    /// udev's, for a camera of the machine.
    var seat = SeatID.usual
    /// Why apps can open its node themselves; `nil` where they cannot, and for a camera without a node.
    var bypass: String?
    var holder: AppID?
    /// No app has it any more, and that has not been sent yet.
    var isFreeUnsent = false
    /// It was described, or could not be.
    var isKnown = false
    var describeTimer: Timer?
    var describeFailures = 0
    var allowance = RecorderAllowance()
    var leftOutTimer: Timer?

    private let origin: RecorderOrigin
    private(set) lazy var recorder = RecorderLife(self, origin)
    /// Opened or being opened at the recorder, and not cut.
    private(set) var grant: GrantID? {
        didSet {
            if grant != oldValue { grantStreams = false }
            if grant == nil, oldValue != nil, isFollowed { node.ownUseChanged() }
        }
    }
    var survival = GrantSurvival()
    /// The grant has not reached a recorder yet: it waits for the next one, and has no part in the end of this one.
    private var grantWaits = false
    /// Its device's last failure, in its recorder core's words, until it streams.
    private(set) var fault: String?
    private var grantStreams = false {
        didSet { if grantStreams { heartbeat.begin() } else if oldValue { heartbeat.end() } }
    }
    private(set) lazy var heartbeat = HeartbeatObserver(self)
    private var batchesUnderWay = 0
    /// Until a recorder core has answered that it does not know `PassOn`.
    private var knowsPassOn = true
    private(set) lazy var outputs = CameraOutputs(self)

    static let describePauseMax: Int64 = 60_000_000_000

    init(_ broker: Broker, _ camera: CameraID, spec: String, origin: RecorderOrigin) {
        self.broker = broker
        self.camera = camera
        self.spec = spec
        self.origin = origin
    }

    func log(_ priority: Journal.Priority, _ line: String) {
        broker.journal.send(priority, line, [("CAMARB_CAMERA", camera.name)])
    }

    // MARK: Orders of the core

    func open(_ granted: GrantID, _ configuration: Configuration) { open(granted, configuration, triesLeft: 1) }

    /// - Parameter triesLeft: how often another recorder core is started, where one ended for want of work just before.
    private func open(_ granted: GrantID, _ configuration: Configuration, triesLeft: Int) {
        grant = granted
        if recorder.isLeaving {
            // A recorder core that leaves for want of work has no part in a grant that it never saw.
            grantWaits = true
            recorder.afterLeaving { [self] in
                guard grant == granted else { return }
                grantWaits = false
                open(granted, configuration, triesLeft: triesLeft)
            }
            return
        }
        grantWaits = false
        recorder.call("Open", [.uint64(granted.rawValue), .dictionary(configuration.wire)]) { [self] result in
            guard grant == granted else { return }
            switch result {
            case .success(let answer):
                grantStreams = true
                fault = nil
                if isFollowed { node.ownUseChanged() }
                broker.step(.recorderStreaming(camera, granted, inForce: Self.configuration(answer)))
            case .failure(let error):
                switch error.kind {
                case .disconnected where triesLeft > 0:
                    recorder.whenGone { [self] end in
                        guard grant == granted else { return }
                        if end.isInOrder {
                            open(granted, configuration, triesLeft: triesLeft - 1)
                        } else {
                            gone()
                        }
                    }
                case .disconnected: recorder.whenGone { [self] _ in gone() }
                // It hangs in its device, and holds it.
                case .noReply: kill()
                case .recorderFault:
                    broker.journal.send(.error, "camera “\(camera.name)”: \(error.message)")
                    gone()
                default: failed(error.message)
                }
            }
        }
    }

    func failed(_ message: String) {
        // Once, however often it is tried again.
        if fault != message { broker.journal.send(.warning, "camera “\(camera.name)” failed: \(message)") }
        fault = message
        broker.step(.deviceFailed(camera, DeviceFault(message: message), message: message))
    }

    /// - Parameter passesOn: Another session is granted the camera when this is done: its device may go on.
    func cut(_ granted: GrantID, _ why: RecordingEnd, _ reason: RecordingReason, passesOn: Bool) {
        if grant == granted {
            forgetKept()
            forgetSurvivor()
        }
        if recorder.isLeaving, grant == granted, !grantWaits {
            // Its socket has ended, and its process may still capture.
            grant = nil
            recorder.whenGone { [self] end in
                if end.wasKilled { gone() } else { broker.step(.recorderCut(camera, granted)) }
            }
            return
        }
        guard recorder.isRunning, grant == granted else {
            // Nothing is open: the cut is done.
            if grant == granted { grant = nil }
            broker.stepLater(.recorderCut(camera, granted))
            return
        }
        grant = nil
        orderCut(granted, why, reason, passesOn: passesOn && knowsPassOn)
    }

    private func orderCut(_ granted: GrantID, _ why: RecordingEnd, _ reason: RecordingReason, passesOn: Bool) {
        let microphone = outputs.takeMicrophone()
        recorder.call(
            passesOn ? "PassOn" : "Cut",
            [.uint64(granted.rawValue), .string(why.rawValue), .dictionary(reason.wire)]
        ) { [self] result in
            outputs.letGo(microphone)
            guard case .failure(let error) = result, error.kind != .staleGrant else {
                broker.step(.recorderCut(camera, granted))
                return
            }
            switch error.kind {
            case .disconnected: recorder.whenGone { [self] _ in gone() }
            case .unknownMethod where passesOn:
                // It stops its device between two grants.
                knowsPassOn = false
                orderCut(granted, why, reason, passesOn: false)
            default: kill()
            }
        }
    }

    /// SIGKILL. The core is stepped once the process has ended.
    func kill() { if !recorder.kill() { broker.stepLater(.recorderGone(camera)) } }

    func configure(_ granted: GrantID, _ batch: Configuration) {
        // Clients' batches are bounded by the core: a recorder core that owes as many orders again hangs.
        guard batchesUnderWay < 2 * Bound.batchesMax else { return kill() }
        batchesUnderWay += 1
        recorder.call("Configure", [.uint64(granted.rawValue), .dictionary(batch.wire)]) { [self] result in
            batchesUnderWay -= 1
            switch result {
            case .success(let answer):
                broker.step(.recorderConfigured(camera, granted, asked: batch, inForce: Self.configuration(answer)))
            case .failure(let error):
                if error.kind == .disconnected || error.kind == .staleGrant { return }
                broker.step(.recorderRefusedConfiguration(camera, granted, asked: batch, message: error.message))
            }
        }
    }

    // MARK: Describing

    /// Asks for the camera's capabilities; again, ever more rarely, where that fails.
    func describe() {
        if takeUp({ [self] in describe() }) { return }
        recorder.call("Describe", []) { [self] result in
            do throws(BrokerError) {
                var reader = WireReader("Describe", try result.get().argumentsWithoutDescriptors())
                appear(try CameraCapabilities(wire: try reader.dictionary("capabilities")))
            } catch {
                if recorder.isStopping { return }
                trouble = error.message
                // A missing device is waited for; a device that is no camera is not asked again.
                if isFollowed, error.kind == .unknownCamera {
                    trouble = nil
                    isKnown = true
                    return broker.cameras.becameKnown()
                }
                broker.journal.send(.error, "camera “\(camera.name)” (\(spec)): \(error.message)")
                describeFailures += 1
                let pause = min(Self.describePauseMax, 1_000_000_000 << Int64(min(describeFailures - 1, 10)))
                broker.loop.arm(&describeTimer, at: EventLoop.now + pause) { [unowned self] in describe() }
            }
            isKnown = true
            broker.cameras.becameKnown()
        }
    }

    func take(_ found: GrantID) {
        grant = found
        grantStreams = true
    }

    // MARK: The recorder core's end

    package var nodeUse: NodeObserver.OwnUse { grant == nil ? .none : grantStreams ? .open : .opening }
    var isAtRest: Bool { !recorder.isThere && grant == nil }

    func stop() {
        describeTimer?.arm(at: nil)
        leftOutTimer?.arm(at: nil)
        heartbeat.end()
        if isFollowed { node.end() }
        if outlivesBroker { recorder.leaveAlone() } else { recorder.stop() }
    }

    func gone() {
        grant = nil
        forgetKept()
        forgetSurvivor()
        broker.step(.recorderGone(camera))
    }

    /// The configuration in force, of a recorder core's answer; keys that this broker does not know are passed over.
    static func configuration(_ answer: BusMessage) -> Configuration {
        var known = Configuration()
        for entry in (try? answer.argumentsWithoutDescriptors().first?.dictionary)?.entries ?? [] {
            guard let key = ConfigurationKey(rawValue: entry.key) else { continue }
            guard let value = try? ConfigurationValue(wire: entry.value, for: key) else { return Configuration() }
            known[key] = value
        }
        return known
    }
}

extension CameraLink {
    /// The process has ended. Calls that waited only for that have ended; work that waits for it is done afterwards.
    func recorderEnded(_ end: RecorderLife.End) {
        knowsPassOn = true
        heartbeat.recorderEnded()
        if !recorder.isStopping {
            forgetKept()
            forgetSurvivor()
        }
        if end.isUnclaimed && ((grant != nil && !grantWaits) || end.wasKilled) { gone() }
        outputs.abandon()
        if recorder.isStopping { return }
        // Nothing follows the other program or the switch any more: the next session that wants the camera finds out.
        let wasOutside = outside != nil
        heldOutside(by: nil)
        broker.desktops.forget { $0.forget(.camera(camera)) }
        // Another recorder core looks whether that program still streams, where the node is watched at all.
        if isFollowed, wasOutside { node.ownUseChanged() }
    }
}
