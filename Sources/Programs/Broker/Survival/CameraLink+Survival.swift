import Arbiter
import ArbiterProtocol
import Bus
import Explain
import Glibc
import System

/// A camera's grant that this broker leaves to the next, and the one that it found.
struct GrantSurvival {
    enum Keeping: Hashable {
        case nothing
        case underWay(GrantID, SessionID)
        case kept(GrantID, SessionID)

        var session: SessionID? {
            switch self {
            case .nothing: nil
            case .underWay(_, let session), .kept(_, let session): session
            }
        }
    }

    var keeping = Keeping.nothing
    /// A grant that outlived the broker before, until it is reclaimed.
    var survivor: Survivor?
    /// Its holder's session under the broker before, once it was reclaimed.
    var sessionBefore: SessionID?

    struct Survivor {
        var kept: StoredHolder.Kept
        var app: AppID
        /// The end of its recording, where it came before the grant was reclaimed.
        var recordingEnd: Event?
    }
}

// MARK: A grant that is left to the next broker

extension CameraLink {
    func keep(
        _ granted: GrantID, for session: SessionID, of client: BrokerClient, _ app: AppID,
        _ done: @escaping (Result<Void, BrokerError>) -> Void
    ) {
        guard let store = broker.store else {
            return done(
                .failure(BrokerError(.failed, "Nothing outlives this broker: it has no folder ($RUNTIME_DIRECTORY).")))
        }
        switch survival.keeping {
        case .kept(granted, session): return done(.success(()))
        case .underWay:
            return done(.failure(BrokerError(.limitExceeded, "A secret is being made already; ask again.")))
        case .nothing, .kept: break
        }
        let listener: (name: String, descriptor: Int32)
        do throws(SystemFault) { listener = try store.makeListener() } catch {
            return done(.failure(BrokerError(.outOfResources, "\(error).")))
        }
        // First, so that no recorder core waits where no broker looks for it.
        let kept = StoredHolder.Kept(
            grant: granted, session: session,
            recording: broker.arbiter.status(of: session)?.recording.flatMap(outputs.stored),
            microphone: outputs.microphoneFormat, listener: listener.name, spec: spec)
        guard store.keep(camera, app, kept) else {
            close(listener.descriptor)
            store.removeListener(listener.name)
            return done(.failure(BrokerError(.failed, "What outlives this broker could not be written down.")))
        }
        survival.keeping = .underWay(granted, session)
        recorder.call(
            "Keep",
            [
                .uint64(granted.rawValue), .fileDescriptor(client.process.descriptor),
                .fileDescriptor(listener.descriptor),
            ]
        ) { [self] result in
            close(listener.descriptor)
            // Held until the message has its own of the process.
            _ = client
            guard survival.keeping == .underWay(granted, session) else {
                return done(.failure(BrokerError(.notRunning, "Session \(session.rawValue) has lost the camera.")))
            }
            switch result {
            case .success:
                survival.keeping = .kept(granted, session)
                done(.success(()))
            case .failure(let error):
                forgetKept()
                done(.failure(BrokerError(.failed, "The recorder core does not outlive this broker: \(error.message)")))
            }
        }
    }

    /// The grant is over, or another's, and cannot be reclaimed. Before its end is ordered.
    func forgetKept() {
        guard survival.keeping != .nothing else { return }
        survival.keeping = .nothing
        broker.store?.forgetKept(camera)
    }

    func forgetKept(of session: SessionID) { if survival.keeping.session == session { forgetKept() } }

    /// A sharer's recording ends with this broker.
    func recordingBegan(_ recording: RecordingID, of session: SessionID, _ file: ClientFile.Identity) {
        guard survival.keeping.session == session else { return }
        broker.store?.change(camera) {
            $0.recording = StoredHolder.Recording(id: recording, device: file.device, inode: file.inode)
        }
    }

    func recordingPaused(_ recording: RecordingID, _ isPaused: Bool) {
        guard broker.store?.kept(camera)?.recording?.id == recording else { return }
        broker.store?.change(camera) { $0.recording?.isPaused = isPaused }
    }

    func recordingEnded(_ recording: RecordingID) {
        guard broker.store?.kept(camera)?.recording?.id == recording else { return }
        broker.store?.change(camera) { $0.recording = nil }
    }

    /// Attached, or closed while the grant goes on.
    func microphoneChanged(to format: MicrophoneFormat?) {
        guard survival.keeping != .nothing else { return }
        broker.store?.change(camera) { $0.microphone = format }
    }

    /// Whether the grant outlives a broker that ends in order.
    var outlivesBroker: Bool {
        if survival.survivor != nil { return true }
        if case .kept = survival.keeping { return broker.store?.kept(camera)?.secret != nil }
        return false
    }
}

// MARK: A grant that was found

extension CameraLink {
    /// Connects to the recorder core that the broker before this one left, where there is one.
    /// - Returns: false: there is none, and `done` is not called.
    func takeUp(_ done: @escaping () -> Void) -> Bool {
        guard let store = broker.store, let kept = store.takeKept(of: camera) else { return false }
        guard let app = store.holderLeft(of: camera), kept.spec == spec,
            recorder.takeUp(
                store.listenerPath(kept.listener),
                { [self] result in
                    surveyed(result, kept, app)
                    done()
                })
        else {
            // It ends by itself, if it is there.
            store.forgetKept(camera)
            return false
        }
        return true
    }

    private func surveyed(_ result: Result<RecorderLife.Survey, BrokerError>, _ kept: StoredHolder.Kept, _ app: AppID) {
        switch result {
        case .failure(let error):
            log(.warning, "camera “\(camera.name)”: what outlived the broker before is not taken up: \(error.message)")
            broker.store?.forgetKept(camera)
        case .success(let found):
            // It is believed only where the store agrees.
            guard found.grant == kept.grant, kept.secret != nil else {
                broker.store?.forgetKept(camera)
                return recorder.sentNonsense(
                    kept.secret == nil
                        ? "It keeps a grant that nobody has a secret for."
                        : "It keeps grant \(found.grant.rawValue), and the broker before gave it grant \(kept.grant.rawValue)."
                )
            }
            survival.survivor = GrantSurvival.Survivor(kept: kept, app: app)
            outputs.microphoneFormat = kept.microphone
            if let recording = kept.recording {
                outputs.goesOn(recording)
                if !found.recordings.contains(recording.id) {
                    survival.survivor?.recordingEnd = .recordingFinished(
                        recording.id, why: .recorderReset, frames: nil, duration: nil, bytes: nil)
                }
            }
            // Recordings that no broker has written down.
            for strange in found.recordings where strange != kept.recording?.id {
                outputs.stopRecording(strange, .sessionEnded, .none)
            }
        }
    }

    /// The camera is there, and the core reserves it for the app that had it.
    func reserve() {
        guard let app = broker.store?.takeHolder(of: camera) else { return }
        let kept = survival.survivor?.kept
        if let kept { take(kept.grant) }
        let survivor = kept.map { Survivor(grant: $0.grant, recording: $0.recording?.id) }
        broker.step(.reserved(camera, app, survivor: survivor))
    }

    func reclaim(_ secret: ReclaimSecret, as app: AppID) -> GrantSurvival.Survivor? {
        guard let survivor = survival.survivor, let own = survivor.kept.secret, own.equals(secret), survivor.app == app
        else { return nil }
        survival.survivor = nil
        survival.sessionBefore = survivor.kept.session
        // Void before anything is decided by it.
        broker.store?.forgetKept(camera)
        return survivor
    }

    /// It is being cut, or its recorder core has ended.
    func forgetSurvivor() {
        survival.sessionBefore = nil
        guard survival.survivor != nil else { return }
        survival.survivor = nil
        broker.store?.forgetKept(camera)
    }

    /// The end of a survivor's recording waits until the grant is reclaimed.
    func keepsForSurvivor(_ recording: RecordingID, _ end: Event) -> Bool {
        guard survival.survivor?.kept.recording?.id == recording else { return false }
        survival.survivor?.recordingEnd = end
        return true
    }

    /// Goes on with a grant, where another would be opened.
    func resume(_ granted: GrantID, _ session: SessionID) {
        guard let before = survival.sessionBefore, recorder.isRunning, grant == granted else {
            return broker.stepLater(.recorderGone(camera))
        }
        survival.sessionBefore = nil
        recorder.call(
            "Resume", [.uint64(granted.rawValue), .uint64(before.rawValue), .uint64(session.rawValue)]
        ) { [self] result in
            guard grant == granted else { return }
            switch result {
            case .success(let answer):
                broker.step(.recorderStreaming(camera, granted, inForce: Self.configuration(answer)))
            case .failure(let error) where error.kind == .disconnected: recorder.whenGone { [self] _ in gone() }
            // It has the grant and does not go on with it: only its end settles the grant.
            case .failure: kill()
            }
        }
    }
}

extension SessionEvent {
    var endsRunning: Bool {
        switch self {
        case .didStopRunning, .sessionStopped, .wasInterrupted: true
        default: false
        }
    }
}
