import Arbiter
import Vocabulary

/// What could be otherwise with what is not there any more, or would better not be: a source that left, and apps that ask too.
extension Alternatives {
    /// In front, if the source that left were there and said so. In the background is where an app counts as being by now.
    func saidAgain(of app: NamedApp, _ facts: Facts, _ subject: Subject) -> [Supposition] {
        let readers: Set = ["presence", "foreground-apps", "layout", "focused"]
        guard !facts.presence.isForeground, !keys.isDisjoint(with: readers),
            let gone = state.goneSource(for: app.id.user), state.app(app).map(state.isReached) ?? true
        else { return [] }
        let alteration = Explanation.Alteration(
            of: subject, key: "presence", from: "\"background\"",
            to: "\"foreground\", as the \(gone.source.rawValue) that left could say")
        return [
            Supposition(
                alteration, .place(app), by: .sourceAttached(gone.source, user: gone.user),
                .placed(app.id, .foreground(.fullscreen), focused: false, by: gone.source))
        ]
    }

    /// Every app that asks for its camera, or one that cannot run beside it, with all its sessions there as they stop.
    var stops: [(app: NamedApp, events: [Event])] {
        let asking = contenders(oneOfEach: false)
        return contenders(oneOfEach: true).map { first in
            let app = state.clients[state.sessions[first].client].app
            let own = asking.filter { state.clients[state.sessions[$0].client].app == app }
            return (state.name(app), own.map { .stopRunning(state.id($0)) })
        }
    }
}

/// What would give a session its camera where the right to it is missing, or is its seat's and the seat shows somebody else.
extension Alternatives {
    /// It has no right to its camera, or its seat shows somebody else: its user sits there; or the policy names it.
    var ownRight: [Supposition] {
        guard state.rightReason(of: session.client, on: session.camera) == .none || isAwayFromSeat else { return [] }
        var found: [Supposition] = []
        let rights = state.policy.source.rights
        func suppose(_ right: String, _ about: Supposition.About, by event: Event) {
            let alteration = Explanation.Alteration(
                of: .session, key: "right", from: isAwayFromSeat ? "\"away\"" : "none", to: right)
            found.append(Supposition(alteration, about, by: event))
        }
        if rights.seat, let seat = state.seat(of: session.camera) {
            // A login session that there is not: nothing but its being there is supposed.
            let login = LoginSessionID("another login session")
            suppose(
                "\"an active login session of user \(facts.user) at \(seat.name)\"", .login(login),
                by: .loginSession(login, LoginSessionFacts(active: true, seat: seat, user: facts.user)))
        }
        func name(_ right: String, _ change: (inout Rights) -> Void) {
            var policy = state.policy.source
            change(&policy.rights)
            suppose(right, .rights, by: .policyLoaded(policy))
        }
        name("\"users = [\(facts.user)] in [access]\"") { $0.users.append(Rights.Account(number: facts.user)) }
        if let service = facts.app {
            name("\"services = [\"\(service)\"] in [access]\"") { $0.services.append(service) }
        }
        if rights.identity == .strong { name("\"identity = \"any\" in [access]\"") { $0.identity = .any } }
        return found
    }

    /// Its user, or its desktop's permission store, says otherwise of it.
    var ownPermission: [Supposition] {
        let word = state.apps[client.app.slot][client.app].word
        var events: [Event] = []
        if word == .deniedInStore { events.append(.answered(app.id, isClaimed: false, nil, by: .permissionStore)) }
        guard !state.hasLeave(client) else { return [] }
        events.append(.answered(app.id, isClaimed: client.app.isClaimed, .allow, by: .user))
        let alteration = Explanation.Alteration(
            of: .session, key: "answer", from: word == .none ? "none" : "\"deny\"", to: "\"allow\"")
        return [Supposition(alteration, .answer(app.id), .assumed(events.map { .event($0) }))]
    }

    /// It would have the seat's right, and nobody of its user is at the seat now.
    private var isAwayFromSeat: Bool {
        client.login == nil && state.look(at: slot).machine.contains(.loginSessionInactive)
            && state.rightReason(of: session.client, on: session.camera) == .seat
    }
}
