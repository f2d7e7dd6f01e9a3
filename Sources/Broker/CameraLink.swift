import Arbiter
import ArbiterProtocol
import Glibc
import SystemdBus

/// One camera, and the recorder core that has it: a process that is started when there is something to do, and ends by
/// itself when there was nothing for a while.
///
///     none ──call──▶ running ──▶ leaving (its socket ended) ──▶ none (its process ended)
///
/// The core is told of the process's end, not of the socket's: only then is it sure that nothing is captured.
class CameraLink {
    unowned let broker: Broker
    let camera: CameraID
    let spec: String
    let origin: RecorderOrigin

    private(set) var capabilities: CameraCapabilities?
    private(set) var generation: UInt64 = 0
    private(set) var isPresent = false
    /// Why it could not be described; nil when all is well.
    private(set) var trouble: String?
    /// The program that has it without asking the broker, as far as that can be known; nil: none has.
    private(set) var outside: String?
    /// Why apps can open its node themselves; nil when they cannot, and for a camera without a node.
    var bypass: String?
    /// Who has it, as last announced.
    var holder: AppID?
    /// Nobody has it any more, and that has not been announced yet.
    var freeIsUntold = false
    /// It was described, or could not be.
    private(set) var isKnown = false

    private enum State {
        case none
        case running(any RecorderProcess, BusConnection)
        case leaving(any RecorderProcess)
    }

    private var state = State.none
    /// What has to wait until a process that is leaving has left.
    private var afterwards: [() -> Void] = []
    /// Opened or being opened at the recorder, and not cut.
    private(set) var grant: GrantID?
    /// The grant has not reached a recorder yet: it waits for the next one, and has no part in the end of this one.
    private var grantWaits = false
    /// Calls that the recorder owes an answer to.
    private var owed = 0
    private var recordings: [RecordingID: Running] = [:]
    private var photos: Set<PhotoID> = []
    private var leaveTimer: Timer?
    private var describeTimer: Timer?
    private var describeFailures = 0
    private var isStopping = false

    private struct Running {
        var file: OutputFile
        var since: Moment
    }

    /// How long a recorder core may take to answer, in nanoseconds: opening a USB camera takes seconds at times, and
    /// one that takes longer than this has hung in its driver.
    static let answerTimeMax: Int64 = 10_000_000_000
    /// How long its process may outlive its socket.
    static let leaveTimeMax: Int64 = 1_000_000_000
    /// The longest pause between tries to describe a camera.
    static let describePauseMax: Int64 = 60_000_000_000

    init(_ broker: Broker, _ camera: CameraID, spec: String, origin: RecorderOrigin) {
        self.broker = broker
        self.camera = camera
        self.spec = spec
        self.origin = origin
    }

    // MARK: Orders of the core

    func open(_ granted: GrantID, _ configuration: Configuration) { open(granted, configuration, triesLeft: 1) }

    /// - Parameter triesLeft: A recorder core may end for want of work just when there is some: then another is started.
    private func open(_ granted: GrantID, _ configuration: Configuration, triesLeft: Int) {
        grant = granted
        if case .leaving = state {
            // One that leaves for want of work says nothing about a grant that it never saw.
            grantWaits = true
            afterwards.append { [self] in
                guard grant == granted else { return }
                grantWaits = false
                open(granted, configuration, triesLeft: triesLeft)
            }
            return
        }
        grantWaits = false
        call("Open", [.uint64(granted.rawValue), .dictionary(configuration.wire)]) { [self] result in
            guard grant == granted else { return }
            switch result {
            case .success(let answer):
                broker.step(.recorderStreaming(camera, granted, inForce: Self.configuration(answer)))
            case .failure(let error):
                switch error.kind {
                case .disconnected where triesLeft > 0:
                    whenGone { [self] clean in
                        guard grant == granted else { return }
                        if clean {
                            open(granted, configuration, triesLeft: triesLeft - 1)
                        } else {
                            gone()
                        }
                    }
                case .disconnected: whenGone { [self] _ in gone() }
                // It hangs in its device, and holds it.
                case .noReply: kill()
                case .recorderFault:
                    broker.journal.send(.error, "camera “\(camera.name)”: \(error.message)")
                    gone()
                default: broker.step(.deviceFailed(camera, message: error.message))
                }
            }
        }
    }

    func cut(_ granted: GrantID, _ why: RecordingEnd) {
        if case .leaving = state, grant == granted, !grantWaits {
            // Its socket has ended, and its process may still capture.
            grant = nil
            whenGone { [self] _ in
                if isGoneOwed { gone() } else { broker.step(.recorderCut(camera, granted)) }
            }
            return
        }
        guard case .running = state, grant == granted else {
            // Nothing is open: the cut is done.
            if grant == granted { grant = nil }
            broker.stepLater(.recorderCut(camera, granted))
            return
        }
        grant = nil
        call("Cut", [.uint64(granted.rawValue), .string(why.rawValue)]) { [self] result in
            switch result {
            case .success: broker.step(.recorderCut(camera, granted))
            case .failure(let error):
                switch error.kind {
                case .staleGrant: broker.step(.recorderCut(camera, granted))
                case .disconnected: whenGone { [self] _ in gone() }
                default: kill()
                }
            }
        }
    }

    /// SIGKILL. Its end is reported when it has ended.
    func kill() {
        switch state {
        case .none: broker.stepLater(.recorderGone(camera))
        case .running(let process, let connection):
            isGoneOwed = true
            guard !process.signal(SIGKILL) else { return }
            // It is gone, or never said which process it is: then it was told to open nothing.
            connection.close()
            state = .leaving(process)
            process.socketEnded()
            armLeaveTimer()
        case .leaving(let process):
            isGoneOwed = true
            process.signal(SIGKILL)
        }
    }

    func configure(_ granted: GrantID, _ batch: Configuration) {
        call("Configure", [.uint64(granted.rawValue), .dictionary(batch.wire)]) { [self] result in
            switch result {
            case .success(let answer):
                broker.step(.recorderConfigured(camera, granted, asked: batch, inForce: Self.configuration(answer)))
            case .failure(let error):
                if error.kind == .disconnected || error.kind == .staleGrant { return }
                broker.step(
                    .recorderRefusedConfiguration(camera, granted, asked: batch, message: error.message))
            }
        }
    }

    func openStream(_ granted: GrantID, _ session: SessionID, for message: BusMessage?) {
        call("OpenStream", [.uint64(granted.rawValue), .uint64(session.rawValue)]) { result in
            switch result {
            case .success(let answer):
                guard case .fileDescriptor(let stream)? = try? answer.arguments().first else {
                    message?.answer(BrokerError(.recorderFault, "The recorder core gave no stream."))
                    return
                }
                message?.answer([.fileDescriptor(stream)])
                close(stream)
            case .failure(let error):
                if error.kind == .disconnected {
                    message?.answer(
                        BrokerError(.recorderFault, "The recorder core ended; the session runs again by itself."))
                } else {
                    message?.answer(error)
                }
            }
        }
    }

    func closeStreams(_ granted: GrantID, _ session: SessionID) {
        call("CloseStreams", [.uint64(granted.rawValue), .uint64(session.rawValue)]) { [self] result in
            switch result {
            case .success: broker.step(.recorderClosedStreams(camera, granted, session))
            case .failure(let error):
                // Nothing is captured for a grant that is over, nor by a process that is gone. One that says neither
                // yes nor no is killed at the core's deadline.
                if error.kind == .staleGrant { broker.step(.recorderClosedStreams(camera, granted, session)) }
            }
        }
    }

    func capturePhoto(
        _ granted: GrantID, _ session: SessionID, _ photo: PhotoID, _ file: OutputFile, _ options: WireDictionary
    ) {
        photos.insert(photo)
        call(
            "CapturePhoto",
            [
                .uint64(granted.rawValue), .uint64(session.rawValue), .uint64(photo),
                .fileDescriptor(file.descriptor), .dictionary(options),
            ]
        ) { [self] result in
            // The call has its own duplicate by now, and the file is let go with this closure.
            _ = file
            if case .failure(let error) = result, error.kind != .disconnected { photoFailed(photo, error.message) }
        }
    }

    private func photoFailed(_ photo: PhotoID, _ message: String) {
        guard photos.remove(photo) != nil else { return }
        broker.step(.photoCaptured(PhotoCaptured(photo: photo, width: 0, height: 0, bytes: 0, error: message)))
    }

    func startRecording(
        _ granted: GrantID, _ recording: RecordingID, _ file: OutputFile, _ options: WireDictionary
    ) {
        recordings[recording] = Running(file: file, since: Broker.now())
        call(
            "StartRecording",
            [.uint64(granted.rawValue), .uint64(recording), .fileDescriptor(file.descriptor), .dictionary(options)]
        ) { [self] result in
            guard case .failure(let error) = result, error.kind != .disconnected,
                let failed = recordings.removeValue(forKey: recording)
            else { return }
            broker.step(.recorderTrouble(camera, code: "recording-failed", message: error.message))
            // Cut before it began: that is an interruption, not a fault.
            let why: RecordingEnd = error.kind == .staleGrant ? .interrupted : .writeError
            broker.step(
                .recordingFinished(recording, why: why, frames: 0, duration: .zero, bytes: failed.file.size))
        }
    }

    func stopRecording(_ recording: RecordingID, _ why: RecordingEnd) {
        call("StopRecording", [.uint64(recording), .string(why.rawValue)]) { _ in }
    }

    /// A recording or a photo is under way.
    var hasFiles: Bool { !recordings.isEmpty || !photos.isEmpty }

    /// Whether a file is being recorded to: two recordings of one file would destroy each other.
    func isRecording(to identity: OutputFile.Identity) -> Bool {
        recordings.values.contains { $0.file.identity == identity }
    }

    // MARK: Describing

    /// Asks what the camera can do; tries again, ever more rarely, when that fails.
    func describe() {
        call("Describe", []) { [self] result in
            do throws(BrokerError) {
                var reader = WireReader("Describe", try result.get().arguments())
                appear(try CameraCapabilities(wire: try reader.dictionary("capabilities")))
            } catch {
                if isStopping { return }
                trouble = error.message
                // What is not there is waited for; what is there and is no camera, nothing is asked of again.
                if isFollowed, error.kind == .unknownCamera {
                    trouble = nil
                    isKnown = true
                    return broker.cameraBecameKnown()
                }
                broker.journal.send(.error, "camera “\(camera.name)” (\(spec)): \(error.message)")
                describeFailures += 1
                let pause = min(Self.describePauseMax, 1_000_000_000 << Int64(min(describeFailures - 1, 10)))
                if describeTimer == nil { describeTimer = try? broker.loop.addTimer { [unowned self] in describe() } }
                describeTimer?.arm(at: EventLoop.now + pause)
            }
            isKnown = true
            broker.cameraBecameKnown()
        }
    }

    /// Described at last: what it can do is known from now on.
    func became(_ found: CameraCapabilities) {
        appear(found)
        isKnown = true
        broker.cameraBecameKnown()
    }

    private func appear(_ found: CameraCapabilities) {
        trouble = nil
        describeFailures = 0
        let isNew = capabilities == nil
        capabilities = found
        if !isPresent { generation += 1 }
        isPresent = true
        broker.step(.cameraAppeared(camera, found))
        if let app = broker.holders?.takeHolder(of: camera) { broker.step(.reserved(camera, app)) }
        if isNew { broker.cameraObjectAdded(self) }
    }

    /// Unplugged or re-plugged, by the device or by a shell's word.
    func setPresent(_ present: Bool) {
        if present {
            // A device that is plugged in again may be able to do other things, and is asked.
            if let capabilities, !isFollowed { appear(capabilities) } else { describe() }
        } else {
            describeTimer?.arm(at: nil)
            heldOutside(by: nil)
            guard isPresent else { return }
            isPresent = false
            broker.step(.cameraDisappeared(camera))
        }
    }

    /// It is not plugged in, and nothing is known of it: nobody waits for it to be described.
    func isNotThere() {
        guard !isKnown else { return }
        isKnown = true
        broker.loop.defer { [self] in broker.cameraBecameKnown() }
    }

    /// A program that did not ask has the camera, or has it no more.
    private func heldOutside(by holder: String?) {
        guard holder != outside else { return }
        outside = holder
        if let holder {
            broker.journal.send(
                .warning, "camera “\(camera.name)” is held outside the broker by \(holder)",
                [("CAMARB_CAMERA", camera.name)])
        }
        broker.step(.heldOutside(camera, holder != nil))
    }

    // MARK: The process

    /// Calls the recorder core, starting one if there is none. The handler is called once, later.
    private func call(
        _ member: String, _ arguments: [WireValue], _ handler: @escaping (Result<BusMessage, BrokerError>) -> Void
    ) {
        switch state {
        case .leaving:
            afterwards.append { [self] in call(member, arguments, handler) }
            return
        case .none:
            do throws(SystemFault) {
                try start()
            } catch {
                let told = BrokerError(.recorderFault, "The recorder core could not be started: \(error).")
                broker.loop.defer { handler(.failure(told)) }
                return
            }
        case .running: break
        }
        guard case .running(_, let connection) = state else { return }
        owed += 1
        connection.call(
            path: ObjectPath.recorder, interface: InterfaceName.recorder, member: member, arguments,
            timeout: Self.answerTimeMax
        ) { [self] result in
            owed -= 1
            handler(result)
        }
    }

    private func start() throws(SystemFault) {
        switch origin {
        case .program(let path): try startChild(path)
        case .socket(let path): try connectToUnit(path)
        }
    }

    private func startChild(_ path: String) throws(SystemFault) {
        let (ours, theirs) = try UnixPair.make()
        defer { close(theirs) }
        let process: ChildProcess
        do throws(SystemFault) {
            process = try ChildProcess(
                path: path, arguments: ["--fd", "3", "--camera", spec], passing: theirs, on: broker.loop
            ) { [unowned self] ending in processEnded(.child(ending)) }
        } catch {
            close(ours)
            throw error
        }
        do throws(SystemFault) {
            state = .running(
                process, try BusConnection(adopting: ours, as: .client, on: broker.loop, delegate: self))
        } catch {
            state = .leaving(process)
            process.signal(SIGKILL)
            throw error
        }
    }

    /// The calls behind `Serve` follow at once: they are answered in order, and by its error if that is refused.
    private func connectToUnit(_ path: String) throws(SystemFault) {
        let descriptor = try SocketAddress.connect(toPath: path)
        let process = ServedProcess(on: broker.loop) { [unowned self] ending in processEnded(ending) }
        let connection = try BusConnection(adopting: descriptor, as: .client, on: broker.loop, delegate: self)
        state = .running(process, connection)
        connection.call(
            path: ObjectPath.recorder, interface: InterfaceName.recorder, member: "Serve", [.string(spec)],
            timeout: Self.answerTimeMax
        ) { [self] result in
            do {
                guard case .fileDescriptor(let own)? = try result.get().arguments().first else {
                    throw BrokerError(.recorderFault, "Serve gave no process.")
                }
                try process.isIdentified(by: own)
            } catch {
                broker.journal.send(.error, "camera “\(camera.name)”: its recorder core does not serve it: \(error)")
                connection.close()
                connectionEnded(connection, .disconnected)
            }
        }
    }

    private var endingSeen: RecorderEnding?
    /// It was killed, and the core waits to hear of its end.
    private var isGoneOwed = false
    private var goneHandlers: [(Bool) -> Void] = []

    /// Calls the handler when the process is gone, with whether it ended by itself and in order.
    private func whenGone(_ handler: @escaping (Bool) -> Void) {
        if case .none = state {
            handler(true)
        } else {
            goneHandlers.append(handler)
        }
    }

    private func processEnded(_ ending: RecorderEnding) {
        endingSeen = ending
        // What it said last may still be in the socket; the socket's end follows at once.
        if case .running = state {
            armLeaveTimer()
        } else {
            leave()
        }
    }

    private func armLeaveTimer() {
        if leaveTimer == nil { leaveTimer = try? broker.loop.addTimer { [unowned self] in leaveTimePassed() } }
        leaveTimer?.arm(at: EventLoop.now + Self.leaveTimeMax)
    }

    private func leaveTimePassed() {
        switch state {
        case .none: break
        case .running(let process, let connection):
            connection.close()
            state = .leaving(process)
            if endingSeen != nil { leave() } else { process.signal(SIGKILL) }
        case .leaving(let process):
            if endingSeen != nil { leave() } else { process.signal(SIGKILL) }
        }
    }

    /// Both the process and its socket have ended.
    private func leave() {
        guard let ending = endingSeen else { return }
        endingSeen = nil
        state = .none
        leaveTimer?.arm(at: nil)
        let clean = ending.isInOrder
        if !clean && !isStopping {
            broker.journal.send(
                .warning, "the recorder core of camera “\(camera.name)” ended: \(ending.words)",
                [("CAMARB_CAMERA", camera.name)])
        }
        let handlers = goneHandlers
        goneHandlers = []
        let isHandled = !handlers.isEmpty
        for handler in handlers { handler(clean) }
        if !isHandled && ((grant != nil && !grantWaits) || isGoneOwed) { gone() }
        isGoneOwed = false
        abandonFiles()
        // Nobody watches any more whether the other program lets go: the next one who wants the camera finds out.
        heldOutside(by: nil)
        let waiting = afterwards
        afterwards = []
        for work in waiting { work() }
        if clean { broker.recorderLeft() }
    }

    /// No recorder core is there, nor wanted.
    var isAtRest: Bool {
        if case .none = state { grant == nil } else { false }
    }

    /// The core is told, then what was under way ends.
    private func gone() {
        grant = nil
        broker.step(.recorderGone(camera))
    }

    /// Recordings and photos that nobody finishes any more. Their files are as the last frame left them.
    private func abandonFiles() {
        let now = Broker.now()
        for (recording, running) in recordings.sorted(by: { $0.key < $1.key }) {
            recordings[recording] = nil
            broker.step(
                .recordingFinished(
                    recording, why: .recorderReset, frames: 0, duration: now - running.since, bytes: running.file.size))
        }
        for photo in photos.sorted() { photoFailed(photo, "The recorder core ended before the photo was taken.") }
    }

    func stop() {
        isStopping = true
        describeTimer?.arm(at: nil)
        if case .running(let process, let connection) = state {
            // It finishes its files when its socket ends, and then itself; SIGTERM says the same.
            connection.close()
            process.signal(SIGTERM)
        }
    }

    /// What is in force, as the recorder says it; keys that this broker does not know are passed over.
    private static func configuration(_ answer: BusMessage) -> Configuration {
        guard let wire = try? answer.arguments().first?.dictionary else { return Configuration() }
        var known = WireDictionary()
        for entry in wire.entries where ConfigurationKey(rawValue: entry.key) != nil { known[entry.key] = entry.value }
        return (try? Configuration(wire: known)) ?? Configuration()
    }
}

// MARK: - What the recorder core says

extension CameraLink: BusConnectionDelegate {
    func connectionReady(_ connection: BusConnection) {}

    func connection(_ connection: BusConnection, received message: BusMessage) {
        if message.kind == .call {
            message.answer(BrokerError(.unknownMethod, "A broker has no methods for its recorder core."))
            return
        }
        guard message.kind == .signal, message.isInterface("org.camarb.Recorder1") else { return }
        do throws(BrokerError) {
            try take(message)
        } catch {
            broker.journal.send(.warning, "camera “\(camera.name)”: its recorder core said nonsense: \(error.message)")
        }
    }

    private func take(_ message: BusMessage) throws(BrokerError) {
        let member = message.member
        var reader = WireReader(member, try message.arguments())
        switch member {
        case "RecordingFinished":
            let recording = try reader.uint64("recording")
            let why: RecordingEnd = try reader.word("why")
            let frames = try reader.uint64("frames")
            let duration = try reader.int64("duration")
            let bytes = try reader.uint64("bytes")
            guard recordings.removeValue(forKey: recording) != nil else { return }
            broker.step(
                .recordingFinished(
                    recording, why: why, frames: frames, duration: .nanoseconds(duration), bytes: bytes))
        case "PhotoCaptured":
            let photo = try reader.uint64("photo")
            let width = try reader.uint32("width")
            let height = try reader.uint32("height")
            let bytes = try reader.uint64("bytes")
            let error = try reader.string("error")
            guard photos.remove(photo) != nil else { return }
            broker.step(
                .photoCaptured(
                    PhotoCaptured(
                        photo: photo, width: width, height: height, bytes: bytes, error: error.isEmpty ? nil : error)))
        case "RampFinished":
            let granted = GrantID(try reader.uint64("grant"))
            broker.step(.rampFinished(camera, granted, videoZoomFactor: try reader.number("videoZoomFactor")))
        case "DeviceChanged":
            try deviceChanged(try reader.string("state"), try reader.string("message"))
        case "RuntimeError":
            broker.step(
                .recorderTrouble(camera, code: try reader.string("code"), message: try reader.string("message")))
        case "Leaving":
            if case .running(let process as ServedProcess, _) = state { process.isLeaving = true }
        default: break
        }
    }

    private func deviceChanged(_ state: String, _ message: String) throws(BrokerError) {
        switch state {
        case "ok":
            heldOutside(by: nil)
            if !isPresent { describe() }
        case "disconnected": setPresent(false)
        case "error": broker.step(.deviceFailed(camera, message: message))
        case "held-outside": heldOutside(by: message.isEmpty ? "another program" : message)
        case "privacy-on": broker.step(.privacy(camera, on: true))
        case "privacy-off": broker.step(.privacy(camera, on: false))
        default: throw BrokerError(.invalidValue, "DeviceChanged: there is no state \(state.quotedShort).")
        }
    }

    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        guard case .running(let process, _) = state else { return }
        state = .leaving(process)
        process.socketEnded()
        if endingSeen != nil {
            leave()
        } else {
            armLeaveTimer()
        }
    }
}
