import Arbiter
import ArbiterProtocol
import Bus
import Glibc
import System

/// One camera, and what the core has ordered of its recorder core. It keeps what is under way there, so that each of
/// the core's orders is answered once, whatever becomes of the process that it was given to. The core is told of the
/// process's end, not of the socket's (`RecorderLife`).
class CameraLink {
    unowned let broker: Broker
    let camera: CameraID
    let spec: String

    var capabilities: CameraCapabilities?
    var generation: UInt64 = 0
    var isPresent = false
    /// Why it could not be described; nil when all is well.
    var trouble: String? { didSet { if trouble != oldValue { broker.properties.degradedMayHaveChanged() } } }
    /// The program that has it without asking the broker, as far as that can be known; nil: none has.
    var outside: String?
    /// The program that merely has its node open.
    var openIn: String?
    /// Sees programs that open its node; begun for a camera of the machine only.
    private(set) lazy var node = NodeObserver(self, on: broker.loop)
    /// Where its driver says how many users it has; nil for a camera without a node.
    var nodeUsersPath: String?
    /// Of a camera of the machine as udev has it.
    var seat = SeatID.usual
    /// Why apps can open its node themselves; nil when they cannot, and for a camera without a node.
    var bypass: String?
    var holder: AppID?
    /// No app has it any more, and that has not been announced yet.
    var freeIsUntold = false
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
    /// What of the grant outlives this broker, and what outlived the former one.
    var survival = GrantSurvival()
    /// The grant has not reached a recorder yet: it waits for the next one, and has no part in the end of this one.
    private var grantWaits = false
    /// Its device's last failure, in its recorder core's words; nil: it has streamed or been plugged in since.
    private(set) var fault: String?
    private var grantStreams = false {
        didSet { if grantStreams { heartbeat.begin() } else if oldValue { heartbeat.end() } }
    }
    private(set) lazy var heartbeat = HeartbeatObserver(self)
    private var batchesUnderWay = 0
    /// As far as is known: a recorder core that does not know `PassOn` says so once.
    private var knowsPassOn = true
    private(set) lazy var outputs = makeOutputs()

    /// Batches that the recorder core may owe an answer to: more than come while it changes its format, which takes long.
    static let batchesMax = 256
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

    func makeOutputs() -> CameraOutputs { CameraOutputs(self) }

    // MARK: Orders of the core

    func open(_ granted: GrantID, _ configuration: Configuration) { open(granted, configuration, triesLeft: 1) }

    /// - Parameter triesLeft: A recorder core may end for want of work just when there is some: then another is started.
    private func open(_ granted: GrantID, _ configuration: Configuration, triesLeft: Int) {
        grant = granted
        if recorder.isLeaving {
            // One that leaves for want of work says nothing about a grant that it never saw.
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
    func cut(_ granted: GrantID, _ end: GrantEnd, passesOn: Bool) {
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
        orderCut(granted, end, by: passesOn && knowsPassOn ? .passOn : .cut)
    }

    /// How the recordings of a grant end with it, and what their files say of it.
    struct GrantEnd {
        var why: RecordingEnd
        var reason: RecordingReason
    }

    private enum CutOrder: String {
        case cut = "Cut"
        case passOn = "PassOn"
    }

    private func orderCut(_ granted: GrantID, _ end: GrantEnd, by order: CutOrder) {
        let microphone = outputs.takeMicrophone()
        recorder.call(
            order.rawValue, [.uint64(granted.rawValue), .string(end.why.rawValue), .dictionary(end.reason.wire)]
        ) { [self] result in
            outputs.letGo(microphone)
            switch result {
            case .success: broker.step(.recorderCut(camera, granted))
            case .failure(let error):
                switch error.kind {
                case .staleGrant: broker.step(.recorderCut(camera, granted))
                case .disconnected: recorder.whenGone { [self] _ in gone() }
                case .unknownMethod where order == .passOn:
                    // It stops its device between two grants.
                    knowsPassOn = false
                    orderCut(granted, end, by: .cut)
                default: kill()
                }
            }
        }
    }

    /// SIGKILL. Its end is reported when it has ended.
    func kill() { if !recorder.kill() { broker.stepLater(.recorderGone(camera)) } }

    func configure(_ granted: GrantID, _ batch: Configuration) {
        guard batchesUnderWay < Self.batchesMax else {
            return broker.stepLater(
                .recorderRefusedConfiguration(
                    camera, granted, asked: batch,
                    message: "\(batchesUnderWay) batches wait already, the most that may; wait for one."))
        }
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

    /// Asks what the camera can do; tries again, ever more rarely, when that fails.
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
                if describeTimer == nil { describeTimer = try? broker.loop.addTimer { [unowned self] in describe() } }
                describeTimer?.arm(at: EventLoop.now + pause)
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

    /// What is in force, as the recorder says it; keys that this broker does not know are passed over.
    static func configuration(_ answer: BusMessage) -> Configuration {
        guard let wire = try? answer.argumentsWithoutDescriptors().first?.dictionary else { return Configuration() }
        var known = WireDictionary()
        for entry in wire.entries where ConfigurationKey(rawValue: entry.key) != nil { known[entry.key] = entry.value }
        return (try? Configuration(wire: known)) ?? Configuration()
    }
}

extension CameraLink: NodeObserverOwner {
    package func watchNode(_ descriptor: Int32, _ done: @escaping (Result<Void, BrokerError>) -> Void) {
        recorder.call("WatchNode", [.fileDescriptor(descriptor)]) { result in done(result.map { _ in }) }
    }

    package func lookAtNode(_ done: @escaping (Result<String, BrokerError>) -> Void) {
        recorder.call("Look", []) { result in
            done(
                Result { () throws(BrokerError) -> String in
                    var reader = WireReader("Look", try result.get().argumentsWithoutDescriptors())
                    return RecorderNews.cut(try reader.string("openIn"), RecorderNews.textBytesMax)
                })
        }
    }

    package var nodeUse: NodeObserver.OwnUse { grant == nil ? .none : grantStreams ? .open : .opening }
    package var isHeldOutside: Bool { outside != nil }
    package var nodeUsersMost: Int? { nodeUsersPath.flatMap { DriverUsers.count(at: $0) } }

    package func nodeIsOpen(in program: String?) {
        openIn = program
        guard let program else { return }
        log(.info, "camera “\(camera.name)” is open in \(program), which does not stream from it")
    }
}

extension CameraLink {
    /// The process has ended. Calls that waited only for that have been told; work that waits for it is done afterwards.
    func recorderEnded(_ end: RecorderLife.End) {
        knowsPassOn = true
        heartbeat.recorderEnded()
        if !recorder.isStopping {
            forgetKept()
            forgetSurvivor()
        }
        if end.isUntold && ((grant != nil && !grantWaits) || end.wasKilled) { gone() }
        outputs.abandon()
        if recorder.isStopping { return }
        // Nothing follows any more whether the other program lets go, or the switch is switched back: the next session
        // that wants the camera finds out.
        let wasOutside = outside != nil
        heldOutside(by: nil)
        broker.desktops.forget { $0.forget(.camera(camera)) }
        // Another one looks whether that program still streams, where news of the node come at all.
        if isFollowed, wasOutside { node.ownUseChanged() }
    }
}
