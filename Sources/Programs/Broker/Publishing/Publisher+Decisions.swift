import Arbiter
import ArbiterProtocol
import Bus
import Scenario
import System

/// What happened, in the scenario language: for the journal, for subscribers, and for `--decisions`. A bug report is then a
/// scenario by pasting.
extension Publisher {
    /// With more clients or sessions than this a trace names only those it is about: finding names must not cost more than
    /// deciding.
    static let namedMax = 64

    func tell(_ event: Event, _ effects: [Effect], _ now: Moment) {
        tellServiceManager()
        // Time that passed, or a recorder's answer, without a consequence is no news.
        if effects.isEmpty && event.described.traits.contains(.routine) { return }
        guard subscribers > 0 || broker.journal.isJournal || broker.options.printsDecisions else { return }
        var writer = ScenarioWriter(names: names(event, effects), origin: broker.origin)
        let lines = writer.lines(event, at: now, effects)
        if broker.journal.isJournal || broker.options.printsDecisions { record(lines, event, effects) }
        if subscribers > 0 { inform(lines, event, effects, writer, now) }
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
        decisionLines.send(.info, about: user, fields) { untold in
            untold == 0 ? text : "# \(untold) decisions about user \(user)'s clients were not written\n\(text)"
        }
    }

    /// The user that a step is counted for in the journal's limit: the one that asked, else one that is told of it; nil: none.
    private func user(behind event: Event, _ effects: [Effect]) -> UInt32? {
        // A login session's change is no client's doing.
        if let user = users(of: event, logins: { _ in [] }).first { return user }
        for case .notify(_, let session, _, _) in effects {
            if let user = clients.owner(of: session)?.uid { return user }
        }
        return nil
    }

    /// `Decided`, for clients that asked. One that may not know everything sees what concerns its own user alone, facts
    /// of the machine that name no user, and of all else the notices of its own user's sessions. Text and data are made
    /// of the same event and the same effects, so that neither says what the other may not.
    private func inform(
        _ lines: [String], _ event: Event, _ effects: [Effect], _ writer: ScenarioWriter, _ now: Moment
    ) {
        var whole: SealedSignal?
        let told = effects.compactMap { effect -> UInt32? in
            guard case .notify(_, let session, _, _) = effect else { return nil }
            return clients.owner(of: session)?.uid
        }
        for client in clients.values where client.isSubscribed && client.connection.isReady {
            if trust.isTrusted(client) || isAudible(event, told: told, to: client.uid) {
                if whole == nil {
                    let parts = [event.decided(writer.names)] + effects.compactMap { $0.decided(writer.names) }
                    whole = decided(client, lines, parts, now)
                }
                if let whole { client.connection.send(whole) }
            } else {
                let own = effects.filter { effect in
                    guard case .notify(_, let session, _, _) = effect else { return false }
                    return clients.owner(of: session)?.uid == client.uid
                }
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
            on: client.connection, path: ObjectPath.broker, interface: InterfaceName.broker, member: "Decided",
            [
                .uint64(broker.arbiter.lastDecision), .int64(now.nanoseconds), .string(lines.joined(separator: "\n")),
                .dictionaries(parts),
            ])
    }

    /// Whether a client that is not trusted may hear of an event by name.
    /// - Parameter told: the users of the sessions that were told something by it, as far as they are known.
    func isAudible(_ event: Event, told: [UInt32], to user: UInt32) -> Bool {
        guard told.allSatisfy({ $0 == user }) else { return false }
        switch event.described.concern {
        case .everybody: return true
        case .whoeverIsTold: return !told.isEmpty
        case .usersOrEverybody where event.subjects.isEmpty: return true
        case .users, .usersOrEverybody:
            let users = users(of: event, logins: usersOf)
            return !users.isEmpty && users.allSatisfy { $0 == user }
        }
    }

    /// Whose clients, sessions, apps and login sessions the event speaks of.
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

    /// Whose a login session is: the user that logind names, and the users of clients in it.
    private func usersOf(_ session: LoginSessionID) -> [UInt32] {
        let members = clients.values.filter { $0.loginSessions.contains(session) }.map(\.uid)
        return members + [broker.desktops.logins?.user(of: session)].compactMap(\.self)
    }

    /// Everybody's, or only of those an event is about.
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
