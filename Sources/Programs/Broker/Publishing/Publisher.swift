import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Explain
import System

/// What is told of what was decided: news, decisions, traces, the journal, the service manager's line, and numbers.
final class Publisher: BrokerPart {
    var metrics = BrokerMetrics()
    let decisionLines: ClientLines
    /// Subscribed clients, so that nobody pays for a trace that nobody reads.
    private(set) var subscribers = 0
    var tracers = 0
    var traceFile: TraceFile?
    var statusIsDue = false

    init(_ broker: Broker) throws(SystemFault) {
        decisionLines = try ClientLines(.decisions, broker.journal, on: broker.loop)
        super.init(of: broker)
    }

    func publish(_ event: Event, _ effects: [Effect], _ now: Moment) {
        if let camera = event.recorderNewsOf { tellFree(camera) }
        tell(event, effects, now)
        broker.desktops.tell(event, effects)
        broker.properties.tell(event, effects)
        trace(event, effects, now)
    }

    func subscribe(_ client: BrokerClient, _ on: Bool) {
        guard on != client.isSubscribed else { return }
        client.isSubscribed = on
        subscribers += on ? 1 : -1
    }

    func forget(_ client: BrokerClient) {
        subscribe(client, false)
        setTraces(client, false)
    }

    func announce(_ news: Effect.Announcement, for asker: BrokerClient?) {
        statusIsDue = true
        switch news {
        case .camerasChanged: broker.audience.tell("CamerasChanged", [])
        case .prioritiesChanged(let user):
            broker.audience.tell("PrioritiesChanged", []) { [trust] in user == nil || $0 == user || trust.isTrusted($0)
            }
        case .question(let question): broker.permissions.tell(question)
        case .questionEnded(let question, let user, let end):
            broker.permissions.tellQuestionEnded(question, of: user, end)
        case .answerKept(let app, let isClaimed, let answer, let origin):
            broker.permissions.answers.keep(app.user, app.name, isClaimed: isClaimed, answer, origin)
            if let asker { broker.permissions.tellAnswered(app, isClaimed: isClaimed, answer, by: asker) }
        case .holderChanged(let camera, let app): holderChanged(camera, app)
        }
    }

    private func holderChanged(_ camera: CameraID, _ app: AppID?) {
        guard let link = cameras[camera] else { return }
        link.holder = app
        clients.noteHolders()
        broker.store?.note(camera, app)
        link.freeIsUntold = false
        guard let app else {
            // While its last holder is being cut a camera is nobody's to take; the next holder is often known.
            link.freeIsUntold = true
            tellFree(camera)
            return
        }
        broker.audience.tell(
            "HolderChanged", [.string(camera.name), .string(app.name)],
            others: [.string(camera.name), .string(Interrupter.anotherUsersApp.wireName)]
        ) { [trust] in trust.mayKnow(app, $0) }
    }

    func tellFree(_ camera: CameraID) {
        guard let link = cameras[camera], link.freeIsUntold, !broker.arbiter.isRevoking(camera) else { return }
        link.freeIsUntold = false
        broker.audience.tell("HolderChanged", [.string(camera.name), .string("")])
    }

    /// A program outside the broker has the camera, or no longer has it.
    func tellOutside(_ link: CameraLink) {
        statusIsDue = true
        broker.desktops.tellUseChanged()
        // While a session of ours is cut for it, nobody has the camera but that program.
        guard let program = link.outside else {
            guard link.holder == nil else { return }
            return broker.audience.tell("HolderChanged", [.string(link.camera.name), .string("")])
        }
        broker.audience.tell(
            "HolderChanged", [.string(link.camera.name), .string(Interrupter.outside(program).wireName)])
    }

    /// Why the broker runs without what it was told to use; empty when all is well.
    var degraded: String {
        var reasons = broker.policy.trouble.isEmpty ? [] : [broker.policy.trouble]
        let unknown = broker.arbiter.policy.rights.unknownNames
        if !unknown.isEmpty {
            reasons.append(
                "[access] names users or groups that this machine does not know: \(unknown.joined(separator: ", ")).")
        }
        for link in cameras.order {
            if let trouble = link.trouble { reasons.append("Camera “\(link.camera.name)”: \(trouble)") }
        }
        if let trouble = traceFile?.trouble, !trouble.isEmpty { reasons.append(trouble) }
        if broker.options.trustsClaims {
            reasons.append("Claims are believed (--trust-claims): any program can pass for any app.")
        }
        return reasons.joined(separator: " ")
    }

    /// What `systemctl status` shows.
    var statusLine: String {
        let each = cameras.order.map { link in
            "\(link.camera.name): \(link.holder?.name ?? (link.isPresent ? "free" : "not there"))"
        }
        return each.joined(separator: ", ") + "; policy \(broker.arbiter.policy.name)"
            + (degraded.isEmpty ? "" : "; degraded")
    }

    func tellServiceManager() {
        guard statusIsDue else { return }
        statusIsDue = false
        if ServiceManager.isPresent { ServiceManager.status(statusLine) }
    }
}

extension Event {
    /// The camera whose recorder core may have ended a cut.
    var recorderNewsOf: CameraID? {
        switch self {
        case .recorderCut(let camera, _), .recorderGone(let camera): camera
        default: nil
        }
    }
}

extension Publisher {
    func count(_ event: Event, _ effects: [Effect], at now: Moment, asker: BrokerClient?) {
        let sessions: BrokerMetrics.Sessions = (
            user: { [self] in clients.owner(of: $0)?.uid },
            camera: { [self] in broker.arbiter.status(of: $0)?.camera }
        )
        metrics.note(event, effects, at: now, asker: asker?.uid, sessions: sessions)
    }
}
