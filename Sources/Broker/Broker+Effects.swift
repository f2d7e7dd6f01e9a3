import Arbiter
import ArbiterProtocol
import Bus
import Loop

extension Broker {
    /// Carries out the orders of one step, in their order. The only place that does.
    func carryOut(_ effects: [Effect], _ request: Request?) -> Refusal? {
        var refusal: Refusal?
        for effect in effects {
            switch effect {
            case .refused(let refused):
                refusal = refused
                request?.answer(refused.sentence)
            case .answered(let id):
                request?.answer([.uint64(id)])

            case .cut(let camera, let grant, let why): cameras[camera]?.cut(grant, why)
            case .killRecorder(let camera): cameras[camera]?.kill()
            case .open(let camera, let grant, let session, let configuration):
                if isGrantable(session) { cameras[camera]?.open(grant, configuration) }
            case .resume(let camera, let grant, let session, _):
                // Its streams flow already: only the end of the recorder core ends them for whoever has them.
                if isGrantable(session) { cameras[camera]?.resume(grant, session) } else { cameras[camera]?.kill() }
            case .configure(let camera, let grant, _, let batch): cameras[camera]?.configure(grant, batch)
            case .openStream(let camera, let grant, let session):
                request?.answerLater()
                cameras[camera]?.outputs.openStream(grant, session, for: request?.message)
            case .closeStreams(let camera, let grant, let session):
                cameras[camera]?.outputs.closeStreams(grant, session)
            case .capturePhoto(let camera, let grant, let session, let photo):
                guard let file = request?.file else { continue }
                cameras[camera]?.outputs.capturePhoto(grant, session, photo, file, request?.options ?? [:])
            case .startRecording(let camera, let grant, _, let recording):
                guard let file = request?.file else { continue }
                cameras[camera]?.outputs.startRecording(grant, recording, file, request?.options ?? [:])
            case .stopRecording(let camera, let recording, let why):
                cameras[camera]?.outputs.stopRecording(recording, why)

            case .notify(_, let session, let sequence, let event): notify(session, sequence, event)
            case .announce(let news): announce(news)
            }
        }
        return refusal
    }

    private func notify(_ session: SessionID, _ sequence: UInt64, _ event: SessionEvent) {
        // Whoever runs no more has nothing that another broker could give back.
        if event.endsRunning { for link in cameraOrder { link.forgetKept(of: session) } }
        guard let client = owners[session.rawValue]?.client,
            let signal = BusMessage.signal(
                on: client.connection, path: ObjectPath.session(session), interface: InterfaceName.session,
                member: event.wireName)
        else { return }
        // The commonest two have nothing but numbers.
        switch event {
        case .didStartRunning(let grant):
            signal.append(sequence)
            signal.append(arbiter.lastDecision)
            signal.append(grant.rawValue)
        case .didStopRunning:
            signal.append(sequence)
            signal.append(arbiter.lastDecision)
        default:
            for value in event.wireArguments(sequence: sequence, decision: arbiter.lastDecision) {
                signal.append(value)
            }
        }
        signal.send()
    }

    // MARK: News for all

    private func announce(_ news: Effect.Announcement) {
        statusIsDue = true
        switch news {
        case .camerasChanged: broadcast("CamerasChanged", [])
        case .prioritiesChanged(let user):
            broadcast("PrioritiesChanged", []) { [self] in user == nil || $0 == user || isTrusted($0) }
        case .question(let question): tell(question)
        case .questionEnded(let question, let user, let end): tellQuestionEnded(question, of: user, end)
        case .answerKept(let app, let isClaimed, let answer, let origin):
            answers.keep(app.user, app.name, isClaimed: isClaimed, answer, origin)
        case .holderChanged(let camera, let app):
            guard let link = cameras[camera] else { return }
            link.holder = app
            noteHolders()
            store?.note(camera, app)
            link.freeIsUntold = false
            guard let app else {
                // While its last holder is being cut a camera is nobody's to take; the next holder is often known.
                link.freeIsUntold = true
                if arbiter.status(of: camera)?.tenancy != "revoking" { tellFree(camera) }
                return
            }
            broadcast(
                "HolderChanged", [.string(camera.name), .string(app.name)],
                others: [.string(camera.name), .string(Interrupter.anotherUsersApp.wireName)]
            ) { [self] in mayKnow(app, $0) }
        }
    }

    func tellFree(_ camera: CameraID) {
        guard let link = cameras[camera], link.freeIsUntold, arbiter.status(of: camera)?.tenancy != "revoking" else {
            return
        }
        link.freeIsUntold = false
        broadcast("HolderChanged", [.string(camera.name), .string("")])
    }

    /// A program outside the broker has the camera, or has it no more.
    func tellOutside(_ link: CameraLink) {
        statusIsDue = true
        tellUseChanged()
        // While a session of ours is cut for it, nobody has the camera but that program.
        guard let program = link.outside else {
            guard link.holder == nil else { return }
            return broadcast("HolderChanged", [.string(link.camera.name), .string("")])
        }
        broadcast(
            "HolderChanged", [.string(link.camera.name), .string(Interrupter.outside(program).wireName)])
    }

    /// One sealed message for all who may know everything, and one for the others; none for them where `others` is nil.
    private func broadcast(
        _ member: String, _ arguments: [WireValue], others: [WireValue]? = nil,
        to isTold: (UInt32) -> Bool = { _ in true }
    ) {
        var full: BusMessage?
        var reduced: BusMessage?
        for (place, listener) in audience.enumerated() where listener.connection.isReady {
            if let until = listener.isSilentUntil {
                if EventLoop.now < until { continue }
                audience[place].isSilentUntil = nil
            }
            if isTold(listener.uid) {
                if full == nil { full = broadcastMessage(listener.connection, member, arguments) }
                if let full { listener.connection.send(full) }
            } else if let others {
                if reduced == nil { reduced = broadcastMessage(listener.connection, member, others) }
                if let reduced { listener.connection.send(reduced) }
            }
        }
    }

    private func broadcastMessage(
        _ connection: BusConnection, _ member: String, _ arguments: [WireValue]
    ) -> BusMessage? {
        BusMessage.sealedSignal(
            on: connection, path: ObjectPath.broker, interface: InterfaceName.broker, member: member, arguments)
    }

    // MARK: Who may know what

    /// Root is trusted with everybody's facts. So is a broker's own user, where that user started it; as a service it
    /// has a user of its own, whose other programs are no more than anybody's.
    func isTrusted(_ client: BrokerClient) -> Bool { isTrusted(client.uid) }
    func isTrusted(_ uid: UInt32) -> Bool { uid == 0 || (uid == ownUser && !options.isService) }

    /// Who is, as sentences say it.
    var trustedWords: String { options.isService || ownUser == 0 ? "root" : "root and user \(ownUser)" }

    /// An app is shown by name to its own user, and to those who are trusted.
    func mayKnow(_ app: AppID, _ client: BrokerClient) -> Bool { mayKnow(app, client.uid) }
    private func mayKnow(_ app: AppID, _ uid: UInt32) -> Bool { uid == app.user || isTrusted(uid) }

    func shown(_ app: AppID, to client: BrokerClient) -> Interrupter {
        mayKnow(app, client) ? .app(app.name) : .anotherUsersApp
    }
}

extension Refusal {
    /// The error with the rule that is behind it: every verdict names its rule.
    var sentence: BrokerError {
        BrokerError(error.kind, rule.isEmpty ? error.message : "\(error.message) Because “\(rule)”.")
    }
}
