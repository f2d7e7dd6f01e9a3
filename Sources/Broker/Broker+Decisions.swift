import Arbiter
import ArbiterProtocol
import Bus
import Machine
import Scenario

/// What happened, in the scenario language: for the journal, for watchers, and for `--decisions`. A bug report is then a
/// scenario by pasting.
extension Broker {
    /// With more clients or sessions than this a trace names only those it is about: finding names must not cost more than
    /// deciding.
    static let namedMax = 64

    /// Once for each step, after its effects.
    func tell(_ event: Event, _ effects: [Effect], _ now: Moment) {
        if statusIsDue {
            statusIsDue = false
            if ServiceManager.isPresent { ServiceManager.status(statusLine) }
        }
        // Time that passed, or a recorder's answer, without a consequence is no news.
        if effects.isEmpty && event.isRoutine { return }
        guard watchers > 0 || journal.isJournal || options.printsDecisions else { return }
        let writer = ScenarioWriter(names: names(event, effects), origin: origin)
        var learning = writer
        let lines = learning.lines(event, at: now, effects)
        if journal.isJournal || options.printsDecisions { record(lines, event, effects) }
        if watchers > 0 { inform(lines, event, effects, writer, now) }
    }

    private func record(_ lines: [String], _ event: Event, _ effects: [Effect]) {
        if !journal.isJournal {
            for line in lines { journal.send(.debug, line) }
            return
        }
        var fields = [(name: "CAMARB_DECISION", value: "\(arbiter.lastDecision)")]
        for effect in effects {
            switch effect {
            case .notify(_, let session, _, let notice):
                fields.append(("CAMARB_SESSION", "\(session.rawValue)"))
                if let app = owners[session.rawValue]?.client.app { fields.append(("CAMARB_APP", app.name)) }
                if let rule = notice.rule { fields.append(("CAMARB_RULE", rule)) }
            case .refused(let refusal): fields.append(("CAMARB_RULE", refusal.rule))
            case .announce(.holderChanged(let camera, _)): fields.append(("CAMARB_CAMERA", camera.name))
            default: break
            }
        }
        let text = lines.joined(separator: "\n")
        guard let user = user(behind: event, effects), !isTrusted(user) else {
            return journal.send(.info, text, fields)
        }
        decisionLines.send(.info, about: user, fields) { untold in
            untold == 0 ? text : "# \(untold) decisions about user \(user)'s clients were not written\n\(text)"
        }
    }

    /// Whose doing a step is, as far as the journal's limit goes: who asked, else who is told of it; nil: nobody's.
    private func user(behind event: Event, _ effects: [Effect]) -> UInt32? {
        let asking = event.users(
            sessions: { [self] in owners[$0.rawValue]?.client.uid }, clients: { [self] in clients[$0.rawValue]?.uid },
            // A login session's change is no client's doing.
            logins: { _ in [] })
        if let user = asking.first { return user }
        for case .notify(_, let session, _, _) in effects {
            if let user = owners[session.rawValue]?.client.uid { return user }
        }
        return nil
    }

    /// `Decided`, for those who asked. One who may not know everything sees what concerns nobody but its own user, facts of
    /// the machine without anybody's name in them, and of all else the notices of its own user's sessions.
    private func inform(
        _ lines: [String], _ event: Event, _ effects: [Effect], _ writer: ScenarioWriter, _ now: Moment
    ) {
        var whole: BusMessage?
        let told = effects.compactMap { effect -> UInt32? in
            guard case .notify(_, let session, _, _) = effect else { return nil }
            return owners[session.rawValue]?.client.uid
        }
        for client in clients.values where client.watches && client.connection.isReady {
            if isTrusted(client) || isAudible(event, told: told, to: client.uid) {
                if whole == nil { whole = decided(client, lines, now) }
                if let whole { client.connection.send(whole) }
            } else {
                let own = effects.filter { effect in
                    guard case .notify(_, let session, _, _) = effect else { return false }
                    return owners[session.rawValue]?.client.uid == client.uid
                }
                if own.isEmpty { continue }
                let notices = own.compactMap { writer.notice($0) }.map { "     " + $0 }
                let time = TimeText.write(now, from: origin)
                if let part = decided(client, [time] + notices, now) { client.connection.send(part) }
            }
        }
    }

    private func decided(_ client: BrokerClient, _ lines: [String], _ now: Moment) -> BusMessage? {
        BusMessage.sealedSignal(
            on: client.connection, path: ObjectPath.broker, interface: InterfaceName.broker, member: "Decided",
            [.uint64(arbiter.lastDecision), .int64(now.nanoseconds), .string(lines.joined(separator: "\n"))])
    }

    /// Whether one who is not trusted may hear of an event by name.
    /// - Parameter told: the users of the sessions that were told something by it, as far as they are known.
    func isAudible(_ event: Event, told: [UInt32], to user: UInt32) -> Bool {
        guard told.allSatisfy({ $0 == user }) else { return false }
        switch event.concern {
        case .everybody: return true
        case .whoeverIsTold: return !told.isEmpty
        case .users:
            let users = event.users(
                sessions: { [self] in owners[$0.rawValue]?.client.uid },
                clients: { [self] in clients[$0.rawValue]?.uid }, logins: usersOf)
            return !users.isEmpty && users.allSatisfy { $0 == user }
        }
    }

    /// Whose a login session is: who logind says, and whose clients are in it.
    private func usersOf(_ session: LoginSessionID) -> [UInt32] {
        let members = clients.values.filter { $0.loginSessions.contains(session) }.map(\.uid)
        return members + [logins?.user(of: session)].compactMap(\.self)
    }

    // MARK: Names

    /// Everybody's, or only of those an event is about.
    func names(_ event: Event? = nil, _ effects: [Effect] = []) -> Names {
        var names = Names()
        var wanted: Set<UInt64>?
        if let event, clients.count > Self.namedMax || owners.count > Self.namedMax {
            var involved = Set(event.clients.map(\.rawValue))
            for session in event.sessions {
                owners[session.rawValue].map { _ = involved.insert($0.client.id.rawValue) }
            }
            for case .notify(let client, _, _, _) in effects { involved.insert(client.rawValue) }
            wanted = involved
        }
        for (id, client) in clients.sorted(by: { $0.key < $1.key }) {
            guard let app = client.app, wanted?.contains(id) != false else { continue }
            names.addClient(client.name, app: app, id: client.id)
            for session in client.sessions {
                names.addSession(owners[session.rawValue]?.name ?? client.name, client: client.id, id: session)
            }
        }
        return names
    }
}

extension SessionEvent {
    /// The rule an event names.
    var rule: String? {
        switch self {
        case .willBeInterrupted(_, _, _, let rule), .wasInterrupted(_, _, _, _, let rule),
            .interruptionChanged(_, _, _, let rule), .accessChanged(_, _, let rule), .sessionStopped(_, let rule):
            rule
        default: nil
        }
    }
}

extension Event {
    /// Comes by itself, and means nothing where nothing follows from it.
    var isRoutine: Bool {
        switch self {
        case .timePassed, .recorderStreaming, .recorderCut, .recorderConfigured, .recorderClosedStreams, .recorderGone,
            .recordingFinished,
            .photoCaptured, .rampFinished, .heldOutside, .openStream:
            true
        default: false
        }
    }

    /// The camera whose recorder core may have ended a cut.
    var recorderNewsOf: CameraID? {
        switch self {
        case .recorderCut(let camera, _), .recorderGone(let camera): camera
        default: nil
        }
    }

    var clients: [ClientID] {
        switch self {
        case .connected(let client, _, _), .declared(let client, _), .declaredPresence(let client, _, _),
            .loweredPriority(let client, _), .loweredAttribute(let client, _, _), .disconnected(let client),
            .created(_, let client, _, _, _):
            [client]
        default: []
        }
    }

    var sessions: [SessionID] {
        switch self {
        case .created(let session, _, _, _, _), .startRunning(let session), .reclaimed(let session, _),
            .stopRunning(let session),
            .beginConfiguration(let session), .commitConfiguration(let session), .configure(let session, _),
            .openStream(let session), .capturePhoto(let session), .startRecording(let session),
            .stopRecording(let session), .ready(let session, _), .continueAfterSensitiveContent(let session),
            .closed(let session):
            [session]
        default: []
        }
    }

    enum Concern {
        /// A fact of the machine, with nobody's name in it.
        case everybody
        /// It speaks of certain users' clients, apps or login sessions; of those alone who are trusted where it speaks of none.
        case users
        /// It is about a camera, and so about who holds it: about those whose sessions it was told to.
        case whoeverIsTold
    }

    /// Whom it concerns, beside those who are trusted with everything.
    var concern: Concern {
        switch self {
        case .cameraAppeared, .cameraDisappeared, .privacy, .heldOutside, .pressure, .sleep, .policyLoaded,
            .sourceAttached(_, user: nil), .sourceGone(_, user: nil):
            .everybody
        case .recorderStreaming, .recorderCut, .recorderClosedStreams, .recorderConfigured,
            .recorderRefusedConfiguration, .recorderGone, .deviceFailed, .recordingFinished, .photoCaptured,
            .rampFinished, .recorderTrouble, .timePassed:
            .whoeverIsTold
        case .connected, .declared, .declaredPresence, .loweredPriority, .loweredAttribute, .disconnected, .created,
            .startRunning, .reclaimed, .stopRunning, .beginConfiguration, .commitConfiguration, .configure, .openStream,
            .capturePhoto, .startRecording, .stopRecording, .ready, .continueAfterSensitiveContent, .closed,
            .sourceAttached, .sourceGone, .placed, .unplaced, .microphone, .sensitiveContent, .operatorChose,
            .attribute, .loginSession, .loginSessionEnded, .reserved, .answered, .questionAnswered, .questionsWatched,
            .stoppedByUser, .ownPrivacy:
            .users
        }
    }

    /// Whose apps and login sessions the event speaks of.
    func users(
        sessions of: (SessionID) -> UInt32?, clients: (ClientID) -> UInt32?, logins: (LoginSessionID) -> [UInt32]
    ) -> [UInt32] {
        var users = self.clients.compactMap(clients) + sessions.compactMap(of)
        switch self {
        case .placed(let app, _, _, _), .unplaced(let app, _), .microphone(let app, _), .sensitiveContent(let app),
            .operatorChose(let app?), .attribute(let app, _, _),
            .reserved(_, let app, _), .answered(let app, _, _, _), .stoppedByUser(let app):
            users.append(app.user)
        case .sourceAttached(_, let user?), .sourceGone(_, let user?), .questionsWatched(let user, _),
            .ownPrivacy(let user, _):
            users.append(user)
        case .loginSession(let session, _), .loginSessionEnded(let session): users += logins(session)
        default: break
        }
        return users
    }
}
