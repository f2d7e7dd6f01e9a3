import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Explain
import Scenario
import System

/// Publishes decisions: broadcasts, subscriptions, traces, the journal, the service manager's status, and metrics.
final class Publisher: BrokerPart {
    var metrics = BrokerMetrics()
    let decisionLines: ClientLines
    /// Subscribed clients: without one, no decision is written for them.
    private(set) var subscribers = 0
    var tracers = 0
    var traceFile: TraceFile?
    private var statusIsDue = false

    init(_ broker: Broker) throws(SystemFault) {
        decisionLines = try ClientLines(.decisions, broker.journal, on: broker.loop)
        super.init(of: broker)
    }

    func publish(_ event: Event, _ effects: [Effect], _ now: Moment) {
        if let camera = event.endsCutOf { sendFree(camera) }
        sendStatus()
        publishDecision(event, effects, now)
        desktops.publish(event, effects)
        broker.properties.publish(event, effects)
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
        case .camerasChanged: broker.audience.send("CamerasChanged", [])
        case .prioritiesChanged(let user):
            broker.audience.send("PrioritiesChanged", []) { [trust] in
                user == nil || $0 == user || trust.isTrusted($0)
            }
        case .question(let question): broker.permissions.send(question)
        case .questionEnded(let question, let user, let end):
            broker.permissions.sendAsking(user, "QuestionEnded", [.uint32(question), .string(end.rawValue)])
        case .answerKept(let app, let isClaimed, let answer, let origin):
            broker.permissions.answers.keep(app.user, app.name, isClaimed: isClaimed, answer, origin)
            if let asker { broker.permissions.sendAnswered(app, isClaimed: isClaimed, answer, by: asker) }
        case .holderChanged(let camera, let app): holderChanged(camera, app)
        }
    }

    private func holderChanged(_ camera: CameraID, _ app: AppID?) {
        guard let link = cameras[camera] else { return }
        link.holder = app
        clients.noteHolders()
        broker.store?.note(camera, app)
        // While its last holder is being cut a camera is nobody's to take; the next holder is often known.
        link.isFreeUnsent = app == nil
        guard let app else { return sendFree(camera) }
        broker.audience.send(
            "HolderChanged", [.string(camera.name), .string(app.name)],
            others: [.string(camera.name), .string(Interrupter.anotherUsersApp.wireName)]
        ) { [trust] in trust.mayKnow(app, $0) }
    }

    private func sendFree(_ camera: CameraID) {
        guard let link = cameras[camera], link.isFreeUnsent, !broker.arbiter.isRevoking(camera) else { return }
        link.isFreeUnsent = false
        broker.audience.send("HolderChanged", [.string(camera.name), .string("")])
    }

    /// A program outside the broker has the camera, or no longer has it.
    func outsideChanged(_ link: CameraLink) {
        statusIsDue = true
        desktops.notifyUseChanged()
        // While a session of ours is cut for it, nobody has the camera but that program.
        guard let program = link.outside else {
            guard link.holder == nil else { return }
            return broker.audience.send("HolderChanged", [.string(link.camera.name), .string("")])
        }
        broker.audience.send(
            "HolderChanged", [.string(link.camera.name), .string(Interrupter.outside(program).wireName)])
    }

    /// Why the broker runs without something of its options; empty when all is well.
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

    /// The line of `systemctl status`.
    var statusLine: String {
        let each = cameras.order.map { link in
            "\(link.camera.name): \(link.holder?.name ?? (link.isPresent ? "free" : "not there"))"
        }
        return each.joined(separator: ", ") + "; policy \(broker.arbiter.policy.name)"
            + (degraded.isEmpty ? "" : "; degraded")
    }

    private func sendStatus() {
        guard statusIsDue else { return }
        statusIsDue = false
        if ServiceManager.isPresent { ServiceManager.status(statusLine) }
    }

    func count(_ event: Event, _ effects: [Effect], at now: Moment, asker: BrokerClient?) {
        metrics.note(
            event, effects, at: now, asker: asker?.uid,
            sessions: ({ [self] in clients.owner(of: $0)?.uid }, { [self] in broker.arbiter.camera(of: $0) }))
    }
}

extension Event {
    /// The camera whose recorder core may have ended a cut.
    var endsCutOf: CameraID? {
        switch self {
        case .recorderCut(let camera, _), .recorderGone(let camera): camera
        default: nil
        }
    }
}

// MARK: Decisions

/// Steps in the scenario language, for the journal, for subscribers, and for `--decisions`: pasted, a bug report is a scenario.
extension Publisher {
    /// With more clients or sessions than this a trace names only those it is about: finding names must not cost more than
    /// deciding.
    private static let namedMax = 64

    private func publishDecision(_ event: Event, _ effects: [Effect], _ now: Moment) {
        // Time that passed, or a recorder's answer, without a consequence is not published.
        if effects.isEmpty && event.described.traits.contains(.routine) { return }
        guard subscribers > 0 || broker.journal.isJournal || broker.options.printsDecisions else { return }
        var writer = ScenarioWriter(names: names(event, effects), origin: broker.origin)
        let lines = writer.lines(event, at: now, effects)
        if broker.journal.isJournal || broker.options.printsDecisions { record(lines, event, effects) }
        if subscribers > 0 { sendDecided(lines, event, effects, writer, now) }
    }

    private func record(_ lines: [String], _ event: Event, _ effects: [Effect]) {
        if !broker.journal.isJournal {
            for line in lines { broker.journal.send(.debug, line) }
            return
        }
        var fields = [(name: "CAMARB_DECISION", value: "\(broker.arbiter.lastDecision)")]
        for effect in effects {
            switch effect {
            case .notify(_, let session, _, let notice):
                fields.append(("CAMARB_SESSION", "\(session.rawValue)"))
                if let app = clients.owner(of: session)?.app { fields.append(("CAMARB_APP", app.name)) }
                if let rule = notice.rule { fields.append(("CAMARB_RULE", rule)) }
            case .refused(let refusal): fields.append(("CAMARB_RULE", refusal.rule))
            case .announce(.holderChanged(let camera, _)): fields.append(("CAMARB_CAMERA", camera.name))
            default: break
            }
        }
        let text = lines.joined(separator: "\n")
        guard let user = user(behind: event, effects), !trust.isTrusted(user) else {
            return broker.journal.send(.info, text, fields)
        }
        decisionLines.send(.info, about: user, fields) { skipped in
            skipped == 0 ? text : "# \(skipped) decisions about user \(user)'s clients were not written\n\(text)"
        }
    }

    /// The user that a step counts for in the journal's limit: the one that asked, else the first that is notified.
    private func user(behind event: Event, _ effects: [Effect]) -> UInt32? {
        // A login session's change is no client's doing.
        if let user = users(of: event, logins: { _ in [] }).first { return user }
        return effects.lazy.compactMap(notifiedUser).first
    }

    private func notifiedUser(_ effect: Effect) -> UInt32? {
        guard case .notify(_, let session, _, _) = effect else { return nil }
        return clients.owner(of: session)?.uid
    }

    /// `Decided`, for subscribers. A client that may not know everything receives the steps that concern its own user alone, facts
    /// of the machine that name no user, and of all else the notices of its own user's sessions. Text and data are made
    /// of the same event and the same effects, so that neither shows more than the other.
    private func sendDecided(
        _ lines: [String], _ event: Event, _ effects: [Effect], _ writer: ScenarioWriter, _ now: Moment
    ) {
        var whole: SealedSignal?
        let notified = effects.compactMap(notifiedUser)
        for client in clients.values where client.isSubscribed && client.connection.isReady {
            if trust.isTrusted(client) || isAudible(event, notified: notified, to: client.uid) {
                if whole == nil {
                    let parts = [event.decided(writer.names)] + effects.compactMap { $0.decided(writer.names) }
                    whole = decided(client, lines, parts, now)
                }
                if let whole { client.connection.send(whole) }
            } else {
                let own = effects.filter { notifiedUser($0) == client.uid }
                if own.isEmpty { continue }
                let notices = own.compactMap { writer.notice($0) }.map { "     " + $0 }
                let time = TimeText.write(now, from: broker.origin)
                let parts = own.compactMap { $0.decided(writer.names) }
                client.connection.send(decided(client, [time] + notices, parts, now))
            }
        }
    }

    private func decided(
        _ client: BrokerClient, _ lines: [String], _ parts: [WireDictionary], _ now: Moment
    ) -> SealedSignal {
        SealedSignal(
            "Decided",
            [
                .uint64(broker.arbiter.lastDecision), .int64(now.nanoseconds), .string(lines.joined(separator: "\n")),
                .dictionaries(parts),
            ], on: client.connection)
    }

    /// Whether a client that is not trusted may receive an event by name.
    /// - Parameter notified: the users of the sessions that were notified of it, as far as they are known.
    func isAudible(_ event: Event, notified: [UInt32], to user: UInt32) -> Bool {
        guard notified.allSatisfy({ $0 == user }) else { return false }
        switch event.described.concern {
        case .everybody: return true
        case .whoeverIsTold: return !notified.isEmpty
        case .usersOrEverybody where event.subjects.isEmpty: return true
        case .users, .usersOrEverybody:
            let users = users(of: event, logins: usersOf)
            return !users.isEmpty && users.allSatisfy { $0 == user }
        }
    }

    private func users(of event: Event, logins: (LoginSessionID) -> [UInt32]) -> [UInt32] {
        event.subjects.flatMap { subject -> [UInt32] in
            switch subject {
            case .client(let client): [clients[client.rawValue]?.uid].compactMap(\.self)
            case .session(let session): [clients.owner(of: session)?.uid].compactMap(\.self)
            case .user(let user): [user]
            case .loginSession(let session): logins(session)
            case .camera, .grant: []
            }
        }
    }

    /// The user that logind names, and the users of clients in the login session.
    private func usersOf(_ session: LoginSessionID) -> [UInt32] {
        let members = clients.values.filter { $0.loginSessions.contains(session) }.map(\.uid)
        return members + [desktops.logins?.user(of: session)].compactMap(\.self)
    }

    /// The names of all clients and sessions, or only of those of an event.
    func names(_ event: Event? = nil, _ effects: [Effect] = []) -> Names {
        var names = Names()
        var wanted: Set<UInt64>?
        if let event, clients.count > Self.namedMax || clients.owners.count > Self.namedMax {
            var involved: Set<UInt64> = []
            for subject in event.subjects {
                switch subject {
                case .client(let client): involved.insert(client.rawValue)
                case .session(let session):
                    if let owner = clients.owner(of: session)?.id { involved.insert(owner.rawValue) }
                case .user, .camera, .grant, .loginSession: break
                }
            }
            for case .notify(let client, _, _, _) in effects { involved.insert(client.rawValue) }
            wanted = involved
        }
        for (id, client) in clients.all.sorted(by: { $0.key < $1.key }) {
            guard let app = client.app, wanted?.contains(id) != false else { continue }
            names.addClient(client.name, app: app, id: client.id)
            for session in client.sessions {
                names.addSession(clients.owners[session.rawValue]?.name ?? client.name, client: client.id, id: session)
            }
        }
        return names
    }
}
