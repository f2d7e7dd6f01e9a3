import Arbiter
import Vocabulary

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
        name("\"users = [\(facts.user)] in [access]\"") {
            $0.users.append(Rights.Account(number: facts.user))
        }
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
        if word == .deniedInStore {
            events.append(.answered(app.id, isClaimed: false, nil, by: .permissionStore))
        }
        guard word != .allowed, state.permission(of: slot) != .given else { return [] }
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
