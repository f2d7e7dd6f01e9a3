import Arbiter
import Vocabulary

/// Every single fact that could have been otherwise for a session, in a fixed order: the session's own, those of the apps that it
/// meets, the machine's. Only facts that the policy reads, and causes of the machine that stand.
struct Alternatives {
    typealias Subject = Explanation.Alteration.Subject

    /// Other sessions that are looked at: more than anybody reads about in one answer.
    static let contendersMax = 8

    private let state: State
    private let slot: Slot<Session>
    private let session: Session
    private let client: Client
    private let app: NamedApp
    private let facts: Facts
    private let keys: Set<String>

    init?(to id: SessionID, in arbiter: Arbiter) {
        state = arbiter.state
        guard let slot = state.sessionSlots[id.rawValue] else { return nil }
        self.slot = slot
        session = state.sessions[slot]
        client = state.clients[session.client]
        app = state.name(client.app)
        facts = state.words(for: slot)
        keys = Set(arbiter.policy.testsRead.map(\.written.key))
    }

    /// - Parameter loses: also the end of each cause that keeps it from its camera.
    func all(loses: Bool) -> [Supposition] {
        var found = places(of: app, facts, .session) + ownWords
        found += recording(slot, .session, facts) + chosen(app, .session, facts) + ownLogin + ownRank
        found += attributes(of: app, .session, facts) + ownRight + ownPermission
        let contenders = contenders(oneOfEach: true)
        for other in contenders {
            let name = state.name(app(of: other))
            let facts = state.words(for: other)
            found += places(of: name, facts, .app(name.id)) + attributes(of: name, .app(name.id), facts)
            found += recording(other, .app(name.id), facts) + chosen(name, .app(name.id), facts)
        }
        if keys.contains("foreground-apps") { found += othersInFront(besides: contenders) }
        found += microphone
        if keys.contains("pressure") {
            found += SystemPressure.allCases.filter { $0 != facts.pressure }.map { level in
                suppose("pressure", of: .machine, to: "\"\(level.wireName)\"", .pressure, .pressureSettled(level))
            }
        }
        if keys.contains("mode") {
            let modes = [nil] + state.policy.source.modes.map(\.name) as [String?]
            found += modes.filter { $0 != facts.mode }.map { mode in
                suppose("mode", of: .machine, to: "\"\(mode ?? Mode.none)\"", .mode, .mode(mode))
            }
        }
        return loses ? found + ended : found
    }

    /// Every app that asks for its camera, or for a camera that cannot run beside it, with the events that stop its sessions.
    var stops: [(app: NamedApp, events: [Event])] {
        let asking = contenders(oneOfEach: false)
        return contenders(oneOfEach: true).map { first in
            let own = asking.filter { app(of: $0) == app(of: first) }
            return (state.name(app(of: first)), own.map { .stopRunning(state.id($0)) })
        }
    }

    // MARK: The client's own words

    private var ownWords: [Supposition] {
        let (id, clientID) = (state.id(slot), state.id(session.client))
        var found: [Supposition] = []
        if keys.contains("client") {
            found += ClientKind.allCases.filter { $0 != facts.client }.map { kind in
                suppose("client", to: "\"\(kind.rawValue)\"", .kind(clientID), .kind(clientID, kind))
            }
        }
        if keys.contains("multitasking") {
            let value = !facts.multitasking
            found.append(
                suppose("multitasking", to: "\(value)", .multitasking(clientID), .multitasking(clientID, value)))
        }
        if keys.contains("uses-audio") {
            let value = !facts.usesAudio
            found.append(suppose("uses-audio", to: "\(value)", .audio(id), .usesAudio(id, value)))
        }
        return found
    }

    private var ownRank: [Supposition] {
        guard client.loweredRank != nil, let lowered = state.clientTexts[Int(session.client.index)].loweredTo
        else { return [] }
        let id = state.id(session.client)
        let alteration = Explanation.Alteration(
            of: .session, key: "lowered-priority", from: "\"\(lowered)\"", to: "none")
        return [Supposition(alteration, .rank(id), .assumed([.rankAsGiven(id)]))]
    }

    private var ownLogin: [Supposition] {
        guard keys.contains("login-session"), let login = client.login else { return [] }
        let active = facts.loginSession != .active
        return [
            suppose(
                "login-session", to: active ? "\"active\"" : "\"inactive\"", .login(state.id(login)),
                .event(.loginSession(state.id(login), known(login, active: active))))
        ]
    }

    /// The known facts of a login session, in another state and unlocked.
    private func known(_ login: Slot<Login>, active: Bool) -> LoginSessionFacts {
        var facts = state.facts(of: login) ?? LoginSessionFacts(active: active, user: facts.user)
        (facts.isActive, facts.isLocked) = (active, false)
        return facts
    }

    private func recording(_ slot: Slot<Session>, _ subject: Subject, _ facts: Facts) -> [Supposition] {
        guard keys.contains("recording"), facts.isRecording else { return [] }
        let id = state.id(slot)
        return [suppose("recording", of: subject, facts, to: "false", .recording(id), .event(.stopRecording(id)))]
    }

    // MARK: Others' words about an app

    private static let presenceKeys: Set = ["presence", "foreground-apps", "layout", "focused"]

    /// Elsewhere, in another layout, with or without the focus.
    private func places(of app: NamedApp, _ facts: Facts, _ subject: Subject) -> [Supposition] {
        guard let speaker = state.speaker(for: app) else { return saidAgain(of: app, facts, subject) }
        let inFront = facts.presence.isForeground
        var found: [Supposition] = []
        // In the background there is neither layout nor focus; in front without another word is the full screen.
        let readers = !inFront && keys.contains("layout") ? ["presence", "foreground-apps"] : Self.presenceKeys
        if !keys.isDisjoint(with: readers) { found.append(crossing(app, speaker, isInFront: inFront, subject)) }
        if keys.contains("focused") {
            let alteration = alteration("focused", of: subject, facts, to: "\(!facts.isFocused)")
            found.append(Supposition(alteration, .focus(app.id.user), .focused(app, speaker, !facts.isFocused)))
        }
        if keys.contains("layout") {
            for layout in Presence.Layout.allCases where layout != facts.presence.layout {
                let alteration = alteration("layout", of: subject, facts, to: "\"\(layout.rawValue)\"")
                found.append(Supposition(alteration, .place(app), .layout(app, speaker, layout)))
            }
        }
        return found
    }

    private func crossing(_ app: NamedApp, _ speaker: Speaker, isInFront: Bool, _ subject: Subject) -> Supposition {
        let words = ["\"background\"", "\"foreground\""]
        let alteration = Explanation.Alteration(
            of: subject, key: "presence", from: words[isInFront ? 1 : 0], to: words[isInFront ? 0 : 1])
        return Supposition(alteration, .place(app), .layout(app, speaker, isInFront ? nil : .fullscreen))
    }

    /// In front, if the source that left were there and said so. In the background is where the app counts as being by now.
    private func saidAgain(of app: NamedApp, _ facts: Facts, _ subject: Subject) -> [Supposition] {
        guard !facts.presence.isForeground, !keys.isDisjoint(with: Self.presenceKeys),
            let gone = state.goneSource(for: app.id.user), state.app(app).map(state.isReached) ?? true
        else { return [] }
        let alteration = Explanation.Alteration(
            of: subject, key: "presence", from: "\"background\"",
            to: "\"foreground\", as the \(gone.source.rawValue) that left could say")
        return [
            Supposition(
                alteration, .place(app),
                by: [
                    .sourceAttached(gone.source, user: gone.user),
                    .placed(app.id, .foreground(.fullscreen), focused: false, by: gone.source),
                ])
        ]
    }

    /// Apps of this user that are in front and ask for no camera, and one more that could be.
    private func othersInFront(besides contenders: [Slot<Session>]) -> [Supposition] {
        let user = app.id.user
        let known = Set([client.app] + contenders.map(app(of:)))
        let others = state.namedApps.filter { state.apps[$0].user == user }.flatMap { slot in
            [false, true].map { state.ref(slot, isClaimed: $0) }
        }
        .filter { state.apps[$0.slot][$0].isInFront && !known.contains($0) }
        .map(state.name).sorted()
        var found: [Supposition] = others.prefix(Self.contendersMax).compactMap { other in
            state.speaker(for: other).map { crossing(other, $0, isInFront: true, .app(other.id)) }
        }
        let another = NamedApp(id: Self.anotherApp(of: user), isClaimed: false)
        if facts.foregroundApps != .several, let speaker = state.speaker(for: another) {
            found.append(crossing(another, speaker, isInFront: false, .app(another.id)))
        }
        return found
    }

    /// A made-up app: the search supposes only that it is in front, or on the phone.
    private static func anotherApp(of user: UInt32) -> AppID { AppID("another app", user: user) }

    private func chosen(_ app: NamedApp, _ subject: Subject, _ facts: Facts) -> [Supposition] {
        guard keys.contains("operator"), isReached(app) else { return [] }
        let chosen = facts.operatorChosen ? nil : app.id
        return [
            suppose(
                "operator", of: subject, facts, to: chosen == nil ? "\"none\"" : "\"chosen\"", .operatorChoice,
                .event(.operatorChose(chosen)))
        ]
    }

    /// The other values that a trusted source could give an app's attributes.
    private func attributes(of app: NamedApp, _ subject: Subject, _ facts: Facts) -> [Supposition] {
        guard isReached(app) else { return [] }
        return facts.attributes.filter { keys.contains($0.name) }.flatMap { held -> [Supposition] in
            let values = state.policy.source.attributes.first { $0.name == held.name }?.values ?? []
            return values.filter { $0 != held.value }.map { value in
                suppose(
                    held.name, of: subject, facts, to: "\"\(value)\"", .attribute(app.id, held.name),
                    .event(.attribute(app.id, name: held.name, value: value)))
            }
        }
    }

    /// Whether a fact by the app's name reaches the app: not while a vouched client has the name that it claims.
    private func isReached(_ app: NamedApp) -> Bool { state.app(app).map(state.isReached) ?? false }

    /// Sessions of other apps that ask for this camera, or for one that it cannot run beside; holders first.
    /// - Parameter oneOfEach: one of each app, of `contendersMax` apps.
    private func contenders(oneOfEach: Bool) -> [Slot<Session>] {
        let policy = state.policy.source
        let hasBudget = policy.contention.budget != nil
        let others = state.requesting.filter { other in
            let camera = state.sessions[other].camera
            return app(of: other) != client.app
                && (hasBudget || camera == session.camera
                    || policy.conflict(state.id(camera), state.id(session.camera)))
        }
        guard oneOfEach else { return others }
        let holding = others.filter { state.cameras[state.sessions[$0].camera].tenancy.held?.session == $0 }
        var seen: Set<AppRef> = []
        return (holding + others).filter { seen.insert(app(of: $0)).inserted }.prefix(Self.contendersMax).map { $0 }
    }

    private func app(of session: Slot<Session>) -> AppRef { state.clients[state.sessions[session].client].app }

    // MARK: Rights

    /// Where it has no right to its camera, or its seat shows somebody else: its user sits there, or the policy names it.
    private var ownRight: [Supposition] {
        let right = state.rightReason(of: session.client, on: session.camera)
        let isAway =
            client.login == nil && right == .seat
            && state.look(at: slot).machine.contains(.loginSessionInactive)
        guard right == .none || isAway else { return [] }
        var found: [Supposition] = []
        let rights = state.policy.source.rights
        func suppose(_ right: String, _ about: Supposition.About, by event: Event) {
            let alteration = Explanation.Alteration(
                of: .session, key: "right", from: isAway ? "\"away\"" : "none", to: right)
            found.append(Supposition(alteration, about, by: [event]))
        }
        if rights.seat, let seat = state.seat(of: session.camera) {
            // A login session that is not there: only its being there is supposed.
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

    private var ownPermission: [Supposition] {
        let word = state.apps[client.app.slot][client.app].word
        guard !state.hasLeave(client) else { return [] }
        var events: [Event] = [.answered(app.id, isClaimed: client.app.isClaimed, .allow, by: .user)]
        if word == .deniedInStore {
            events.insert(.answered(app.id, isClaimed: false, nil, by: .permissionStore), at: 0)
        }
        let alteration = Explanation.Alteration(
            of: .session, key: "answer", from: word == .none ? "none" : "\"deny\"", to: "\"allow\"")
        return [Supposition(alteration, .answer(app.id), by: events)]
    }

    // MARK: The machine

    private var microphone: [Supposition] {
        guard keys.contains("microphone") else { return [] }
        let user = app.id.user
        let takers = state.microphones.filter { taker in
            let owner = state.apps[taker].user
            return (owner == user || owner == 0) && !(taker == client.app.slot && state.isReached(client.app))
        }
        let alteration = alteration("microphone", of: .machine, to: takers.isEmpty ? "\"taken\"" : "\"free\"")
        let events: [Event] =
            takers.isEmpty
            ? [.microphone(Self.anotherApp(of: user), taken: true)]
            : takers.map { .microphone(state.id($0), taken: false) }
        return [Supposition(alteration, .microphone, by: events)]
    }

    /// The machine's own causes, each ended. A recorder that was lost comes back in its own time.
    private var ended: [Supposition] {
        let camera = state.cameras[session.camera]
        let id = state.id(session.camera)
        var found: [Supposition] = []
        func end(_ cause: Cause, _ about: Supposition.About, by events: Event...) {
            let alteration = Explanation.Alteration(of: .machine, key: cause.wireName, from: "stands", to: "ended")
            found.append(Supposition(alteration, about, by: events))
        }
        if !camera.isPresent {
            let capabilities = state.cameraSettings[session.camera].capabilities
            let seat = state.seat(of: session.camera) ?? .usual
            end(.videoDeviceDisconnected, .plug(id), by: .cameraAppeared(id, capabilities, seat: seat))
        }
        if camera.isPrivate || state.world.isPrivate {
            end(.videoDeviceBlockedByPrivacy, .privacy, by: .privacy(nil, on: false), .privacy(id, on: false))
        }
        if state.privateUsers.contains(app.id.user) {
            end(.videoDeviceBlockedByPrivacy, .ownPrivacy(app.id.user), by: .ownPrivacy(user: app.id.user, on: false))
        }
        if state.world.isAsleep { end(.systemSleep, .sleep, by: .sleep(false)) }
        if facts.loginSession == .inactive, let login = client.login {
            let id = state.id(login)
            end(.loginSessionInactive, .login(id), by: .loginSession(id, known(login, active: true)))
        }
        if session.has.contains(.sensitiveContent) {
            end(
                .sensitiveContentMitigationActivated, .sensitive(app.id),
                by: .continueAfterSensitiveContent(state.id(slot)))
        }
        if camera.isHeldOutside { end(.videoDeviceInUseByAnotherClient, .outside(id), by: .heldOutside(id, false)) }
        return found
    }

    private func suppose(
        _ key: String, of subject: Subject = .session, _ facts: Facts? = nil, to value: String,
        _ about: Supposition.About, _ change: Assumption
    ) -> Supposition {
        Supposition(alteration(key, of: subject, facts, to: value), about, .assumed([change]))
    }

    private func alteration(
        _ key: String, of subject: Subject, _ facts: Facts? = nil, to value: String
    ) -> Explanation.Alteration {
        Explanation.Alteration(of: subject, key: key, from: (facts ?? self.facts).written(key), to: value)
    }
}
