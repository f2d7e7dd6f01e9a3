import Arbiter
import ArbiterProtocol
import System

/// Which clients speak for users' desktops (`Speakers` decides); a client that is displaced is notified.
extension Desktops {
    struct Admission {
        var slot: Speakers.Slot
        var speaker: Speakers.Speaker
        var displaced: Speakers.Speaker?
    }

    /// Changes nothing yet.
    /// - Throws: `.notTrusted`, with a sentence: which client speaks already, or why this one may not.
    func admit(as role: Speakers.Role, _ client: BrokerClient) throws(BrokerError) -> Admission {
        let identity = try clients.identity(of: client)
        let group = ControlGroup(path: AppIdentity.controlGroup(client.pid) ?? "")
        let speaker = Speakers.Speaker(
            client: client.id, process: client.pid, user: client.uid, name: client.app?.name ?? identity.name,
            origin: Speakers.Origin(group, user: client.uid))
        let slot = slot(role, client)
        switch speakers.answer(speaker, slot, units: units(for: role)) {
        case .speaks: return Admission(slot: slot, speaker: speaker)
        case .mayDisplacing(let displaced): return Admission(slot: slot, speaker: speaker, displaced: displaced)
        case .refused(let sentence): throw BrokerError(.notTrusted, sentence)
        }
    }

    /// A client speaks for its own user; a trusted client's shell for everybody.
    private func slot(_ role: Speakers.Role, _ client: BrokerClient) -> Speakers.Slot {
        Speakers.Slot(role, user: role == .shell && trust.isTrusted(client) ? nil : client.uid)
    }

    /// The units that the policy in force names. Each of them may report which apps have microphones.
    private func units(for role: Speakers.Role) -> [String] {
        let policy = broker.arbiter.policy
        let units =
            switch role {
            case .shell: [policy.shellUnit]
            case .agent: [policy.agentUnit]
            case .microphones, .ask: [policy.agentUnit, policy.shellUnit]
            }
        return units.compactMap(\.self)
    }

    /// Facts of a user's apps beside their places come from the client that speaks for that user, and from trusted ones.
    func requireSpeaker(of app: AppID, _ client: BrokerClient) throws(BrokerError) {
        if trust.isTrusted(client) || speakers.speaks(client.id, for: app.user) { return }
        throw client.notTrusted(
            "Only a client that speaks for the user's desktop may say this; call Attach or WatchMicrophones first.")
    }

    /// A user's desktop is shown to clients that speak for it, and to the client that asks its user.
    func requireDesktop(_ client: BrokerClient) throws(BrokerError) {
        if isAsking(client, for: client.uid) || trust.isTrusted(client) || speakers.speaks(client.id, for: client.uid) {
            return
        }
        throw client.notTrusted(
            "This is for clients that speak for the user's desktop; call Attach, WatchMicrophones or WatchQuestions first."
        )
    }

    func isAsking(_ client: BrokerClient, for user: UInt32) -> Bool {
        speakers.speaker(in: .init(.ask, user: user))?.client == client.id
    }

    /// The app `name@uid`, or `name` of a user that has such an app connected, or of the client's own user.
    func app(_ text: String, by client: BrokerClient) throws(BrokerError) -> AppID {
        let named = AppID.namingUser(text)
        let name = named?.name ?? text[...]
        guard !name.isEmpty, name.utf8.count <= AppIdentity.nameBytesMax else {
            throw .invalid("app", text, takes: "a name of 1 to \(AppIdentity.nameBytesMax) bytes, and @USER behind it")
        }
        var app = AppID(AppIdentity.safe(name), user: named?.user ?? client.uid)
        if named == nil, trust.isTrusted(client), !clients.values.contains(where: { $0.app == app }) {
            let users = clients.values.compactMap { $0.app?.name == app.name ? $0.uid : nil }
            if let user = users.min() { app = AppID(app.name, user: user) }
        }
        guard app.user == client.uid || trust.isTrusted(client) else {
            throw BrokerError(
                .notTrusted, "A shell is believed for its own user \(client.uid), not for user \(app.user).")
        }
        return app
    }

    // MARK: Coming and going

    func attach(_ source: PresenceSource, _ client: BrokerClient, _ admission: Admission) {
        if take(source, client, admission) { broker.step(.sourceAttached(source, user: admission.slot.user)) }
    }

    /// Takes the slot of a source.
    /// - Returns: false where the client had it already; else the core is to be stepped after the source's first facts.
    func take(_ source: PresenceSource, _ client: BrokerClient, _ admission: Admission) -> Bool {
        if client.more?.sources.contains(source) == true { return false }
        take(client, admission).sources.append(source)
        return true
    }

    @discardableResult
    private func take(_ client: BrokerClient, _ admission: Admission) -> BrokerClient.More {
        if let displaced = admission.displaced { displace(displaced, admission.slot, for: admission.speaker) }
        let more = client.withMore()
        more.displaced = nil
        speakers.assign(admission.speaker, to: admission.slot)
        return more
    }

    func detach(_ source: PresenceSource, _ client: BrokerClient) {
        guard let more = client.more, let index = more.sources.firstIndex(of: source) else { return }
        more.sources.remove(at: index)
        if more.sources.isEmpty { more.sourceWords = "" }
        let slot = slot(source.role, client)
        speakers.leave(client.id, slot)
        forget { $0.forgetPlaces(of: .client(client.id), as: source) }
        broker.step(.sourceGone(source, user: slot.user))
    }

    func watchMicrophones(_ on: Bool, _ client: BrokerClient) throws(BrokerError) {
        guard on else { return forgetMicrophones(client) }
        take(client, try admit(as: .microphones, client))
    }

    func forgetMicrophones(_ client: BrokerClient) { speakers.leave(client.id, slot(.microphones, client)) }

    func watchQuestions(_ on: Bool, _ client: BrokerClient) throws(BrokerError) {
        guard on else { return forgetAsking(client) }
        take(client, try admit(as: .ask, client))
        broker.step(.questionsWatched(user: client.uid, true))
    }

    func forgetAsking(_ client: BrokerClient) {
        guard isAsking(client, for: client.uid) else { return }
        speakers.leave(client.id, slot(.ask, client))
        broker.step(.questionsWatched(user: client.uid, false))
    }

    /// The speaker's facts end as when it leaves, and it is notified which client speaks in its place.
    private func displace(_ speaker: Speakers.Speaker, _ slot: Speakers.Slot, for successor: Speakers.Speaker?) {
        guard let client = clients[speaker.client.rawValue], let more = client.more else { return }
        let who = successor?.words ?? "a unit that the policy names"
        clients.lines.send(
            .notice, about: speaker.user, "\(speaker.words) is no longer the \(slot.words): that is for \(who)")
        more.displaced = "This client is no longer the \(slot.words): that is for \(who)."
        switch slot.role {
        case .shell: detach(.shell, client)
        case .agent: detach(.agent, client)
        case .microphones: forgetMicrophones(client)
        case .ask: forgetAsking(client)
        }
        if !trust.isTrusted(client), !speakers.speaks(client.id, for: client.uid) {
            clients.release(.microphones, more.microphones.count, of: client.uid)
            more.microphones = []
            forget { $0.forgetMicrophones(of: .client(client.id)) }
        }
        send(client, "Displaced", [.string(slot.role.rawValue), .string(who)])
    }

    /// After a policy was loaded that names units where none was named: apps and sandboxes speak no longer.
    func displaceShutOut() {
        for (slot, speaker) in speakers.shutOut(units: units(for:)) { displace(speaker, slot, for: nil) }
    }

    func speaking(for user: UInt32) -> [BrokerClient] {
        Set(speakers.all.filter { $0.slot.user == nil || $0.slot.user == user }.map(\.speaker.client)).sorted()
            .compactMap { clients[$0.rawValue] }
    }

    /// The speakers that a client may know; its own user's by name.
    func speakers(for client: BrokerClient) -> [SpeakerStatus] {
        speakers.all.filter { trust.isTrusted(client) || $0.slot.user == nil || $0.slot.user == client.uid }
            .map { slot, speaker in
                let isKnown = trust.mayKnow(AppID(speaker.name, user: speaker.user), client)
                let own = clients[speaker.client.rawValue]
                return SpeakerStatus {
                    ($0.role, $0.user, $0.isWeak) = (slot.role.rawValue, slot.user, own?.isWeak ?? false)
                    guard isKnown else { return }
                    ($0.app, $0.process) = (.app(speaker.name), speaker.process)
                    $0.unit = speaker.origin.unit ?? ""
                    $0.source = slot.role == .microphones ? "" : own?.more?.sourceWords ?? ""
                }
            }
    }
}
