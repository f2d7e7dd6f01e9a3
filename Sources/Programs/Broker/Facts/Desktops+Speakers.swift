import Arbiter
import ArbiterProtocol
import System

/// Which clients speak for users' desktops: clients ask to, and one that is displaced is told (`Speakers` decides).
extension Desktops {
    struct MaySpeak {
        var seat: Speakers.Seat
        var speaker: Speakers.Speaker
        var displaced: Speakers.Speaker?
    }

    /// Changes nothing yet.
    /// - Throws: `.notTrusted`, with a sentence: which client speaks already, or why this one may not.
    func askToSpeak(as role: Speakers.Role, _ client: BrokerClient) throws(BrokerError) -> MaySpeak {
        try clients.requireSameProcess(client)
        let group = ControlGroup(path: AppIdentity.controlGroup(client.pid) ?? "")
        guard let identity = AppIdentity.of(client.pid, user: client.uid, client.process) else {
            throw BrokerError(.disconnected, "The process that connected is gone.")
        }
        let speaker = Speakers.Speaker(
            client: client.id, process: client.pid, user: client.uid, name: client.app?.name ?? identity.name,
            origin: Speakers.Origin(group, user: client.uid))
        let seat = seat(role, client)
        switch speakers.answer(speaker, seat, units: units(for: role)) {
        case .speaks: return MaySpeak(seat: seat, speaker: speaker, displaced: nil)
        case .mayDisplacing(let displaced): return MaySpeak(seat: seat, speaker: speaker, displaced: displaced)
        case .refused(let sentence): throw BrokerError(.notTrusted, sentence)
        }
    }

    /// The user that a client speaks for: an agent for its own user alone; a trusted client's shell for everybody.
    private func seat(_ role: Speakers.Role, _ client: BrokerClient) -> Speakers.Seat {
        Speakers.Seat(role, user: role == .shell && trust.isTrusted(client) ? nil : client.uid)
    }

    /// Those that the policy in force names. Either of them may say which apps have microphones.
    private func units(for role: Speakers.Role) -> [String] {
        let policy = broker.arbiter.policy
        return switch role {
        case .shell: [policy.shellUnit].compactMap(\.self)
        case .agent: [policy.agentUnit].compactMap(\.self)
        case .microphones, .ask: [policy.agentUnit, policy.shellUnit].compactMap(\.self)
        }
    }

    /// What is said of a user's apps beside where they are: by the client that speaks for that user, and by trusted ones.
    func requireSpeaker(of app: AppID, _ client: BrokerClient) throws(BrokerError) {
        if trust.isTrusted(client) || speakers.speaks(client.id, for: app.user) { return }
        throw BrokerError(
            .notTrusted,
            client.more?.displaced
                ?? "Only a client that speaks for the user's desktop may say this; call Attach or WatchMicrophones first."
        )
    }

    /// What its user's desktop shows: to whoever speaks for it, and to whoever asks it.
    func requireDesktop(_ client: BrokerClient) throws(BrokerError) {
        if speakers.speaker(in: .init(.ask, user: client.uid))?.client == client.id { return }
        if trust.isTrusted(client) || speakers.speaks(client.id, for: client.uid) { return }
        throw BrokerError(
            .notTrusted,
            client.more?.displaced
                ?? "This is for clients that speak for the user's desktop; call Attach, WatchMicrophones or WatchQuestions first."
        )
    }

    /// The app a shell means: `name@uid`, or a name, of a user that has such an app connected, or of its own user.
    func app(_ text: String, by client: BrokerClient) throws(BrokerError) -> AppID {
        let named = AppID.namingUser(text)
        let name = named?.name ?? text[...]
        guard !name.isEmpty, name.utf8.count <= AppIdentity.nameBytesMax else {
            throw BrokerError(
                .invalidValue,
                "app is \(text.quotedShort); it takes a name of 1 to \(AppIdentity.nameBytesMax) bytes, and @USER behind it."
            )
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

    func attach(_ source: PresenceSource, _ client: BrokerClient, _ mayBe: MaySpeak) {
        if sit(source, client, mayBe) { broker.step(.sourceAttached(source, user: mayBe.seat.user)) }
    }

    /// Takes the seat of a source; its former speaker stops being one.
    /// - Returns: false: the client had it already. Else the core is to be told, as soon as what comes with it is said.
    func sit(_ source: PresenceSource, _ client: BrokerClient, _ mayBe: MaySpeak) -> Bool {
        if client.more?.sources.contains(source) == true { return false }
        sit(client, mayBe).sources.append(source)
        return true
    }

    private func sit(_ client: BrokerClient, _ mayBe: MaySpeak) -> BrokerClient.More {
        if let displaced = mayBe.displaced { silence(displaced, mayBe.seat, for: mayBe.speaker) }
        let more = client.withMore()
        more.displaced = nil
        speakers.seat(mayBe.speaker, mayBe.seat)
        return more
    }

    func detach(_ source: PresenceSource, _ client: BrokerClient) {
        guard let more = client.more, let place = more.sources.firstIndex(of: source) else { return }
        more.sources.remove(at: place)
        if more.sources.isEmpty { more.sourceWords = "" }
        let seat = seat(source == .shell ? .shell : .agent, client)
        speakers.leave(client.id, seat)
        forget { $0.forgetPlaces(of: .client(client.id), as: source) }
        broker.step(.sourceGone(source, user: seat.user))
    }

    func reportMicrophones(_ on: Bool, _ client: BrokerClient) throws(BrokerError) {
        guard on else { return forgetMicrophones(client) }
        _ = sit(client, try askToSpeak(as: .microphones, client))
    }

    func forgetMicrophones(_ client: BrokerClient) { speakers.leave(client.id, seat(.microphones, client)) }

    func answerQuestions(_ on: Bool, _ client: BrokerClient) throws(BrokerError) {
        guard on else { return forgetAsking(client) }
        _ = sit(client, try askToSpeak(as: .ask, client))
        broker.step(.questionsWatched(user: client.uid, true))
    }

    func forgetAsking(_ client: BrokerClient) {
        let seat = seat(.ask, client)
        guard speakers.speaker(in: seat)?.client == client.id else { return }
        speakers.leave(client.id, seat)
        broker.step(.questionsWatched(user: client.uid, false))
    }

    /// What it said ends as when it leaves, and it is told which client speaks in its place.
    private func silence(_ speaker: Speakers.Speaker, _ seat: Speakers.Seat, for successor: Speakers.Speaker?) {
        guard let client = clients[speaker.client.rawValue], let more = client.more else { return }
        let who = successor?.words ?? "a unit that the policy names"
        clients.lines.send(
            .notice, about: speaker.user, "\(speaker.words) is no longer the \(seat.words): that is for \(who)")
        more.displaced = "This client is no longer the \(seat.words): that is for \(who)."
        switch seat.role {
        case .shell: detach(.shell, client)
        case .agent: detach(.agent, client)
        case .microphones: forgetMicrophones(client)
        case .ask: forgetAsking(client)
        }
        if !trust.isTrusted(client), !speakers.speaks(client.id, for: client.uid) {
            clients.release(.microphones, more.microphones.count, of: client)
            more.microphones = []
            forget { $0.forgetMicrophones(of: .client(client.id)) }
        }
        tellShell(client, "Displaced", [.string(seat.role.rawValue), .string(who)])
    }

    /// After a policy was loaded that names units where none was named: apps and sandboxes fall silent.
    func silenceWhoMayNotSpeak() {
        for (seat, speaker) in speakers.shutOut(units: units(for:)) { silence(speaker, seat, for: nil) }
    }

    /// Which client speaks for what, as far as the asker may know: its own user's by name.
    func speakers(for client: BrokerClient) -> [SpeakerStatus] {
        speakers.all.filter { trust.isTrusted(client) || $0.seat.user == nil || $0.seat.user == client.uid }
            .map { seat, speaker in
                let isKnown = trust.mayKnow(AppID(speaker.name, user: speaker.user), client)
                let own = clients[speaker.client.rawValue]
                return SpeakerStatus {
                    ($0.role, $0.user, $0.isWeak) = (seat.role.rawValue, seat.user, own?.isWeak ?? false)
                    guard isKnown else { return }
                    ($0.app, $0.process) = (.app(speaker.name), speaker.process)
                    $0.unit = speaker.origin.unit ?? ""
                    $0.source = seat.role == .microphones ? "" : own?.more?.sourceWords ?? ""
                }
            }
    }
}
