import Vocabulary

extension Arbiter {
    /// Every single fact that could have been otherwise for a session, in a fixed order: the session's own, those of
    /// the apps it meets, the machine's. Only facts that the policy reads, and causes of the machine that stand.
    func suppositions(about id: SessionID, loses: Bool) -> [Supposition] {
        guard let session = state.sessions[id], let client = state.clients[session.client] else { return [] }
        let keys = Set(state.policy.testsRead.map(\.written.key))
        let facts = facts(of: session)
        var found: [Supposition] = places(of: session.app, .session, keys)
        func add(_ key: String, _ to: String, _ change: Supposition.Change, of subject: Explanation.Turn.Subject) {
            let from = FactReading.value(of: key, facts)
            found.append(Supposition(turn: .init(of: subject, key: key, from: from, to: to), change: change))
        }
        if keys.contains("client") {
            for kind in ClientKind.allCases where kind != facts.client {
                add("client", "\"\(kind.rawValue)\"", .kind(client.id, kind), of: .session)
            }
        }
        if keys.contains("multitasking") {
            add("multitasking", "\(!facts.multitasking)", .multitasking(client.id, !facts.multitasking), of: .session)
        }
        if keys.contains("uses-audio") {
            add("uses-audio", "\(!facts.usesAudio)", .usesAudio(id, !facts.usesAudio), of: .session)
        }
        if keys.contains("recording"), facts.isRecording { add("recording", "false", .notRecording(id), of: .session) }
        if keys.contains("operator") {
            let chosen = facts.operatorChosen ? nil : session.app
            add("operator", chosen == nil ? "\"none\"" : "\"chosen\"", .operatorChose(chosen), of: .session)
        }
        if keys.contains("login-session"), let login = client.loginSession {
            let active = facts.loginSession != .active
            add(
                "login-session", active ? "\"active\"" : "\"inactive\"", .loginSession(login, active: active),
                of: .session)
        }
        if let lowered = client.loweredTo {
            found.append(
                Supposition(
                    turn: .init(of: .session, key: "lowered-priority", from: "\"\(lowered)\"", to: "none"),
                    change: .rankAsGiven(client.id)))
        }
        found += attributes(of: session.app, .session, keys)
        for other in contenders(with: session) {
            found += places(of: other.app, .app(other.app), keys)
            found += attributes(of: other.app, .app(other.app), keys)
            if keys.contains("recording"), other.isRecording {
                let turn = Explanation.Turn(of: .app(other.app), key: "recording", from: "true", to: "false")
                found.append(Supposition(turn: turn, change: .notRecording(other.id)))
            }
            if keys.contains("operator") {
                let isChosen = state.world.operatorChoice == other.app
                let words = ["\"none\"", "\"chosen\""]
                let turn = Explanation.Turn(
                    of: .app(other.app), key: "operator", from: words[isChosen ? 1 : 0], to: words[isChosen ? 0 : 1])
                found.append(Supposition(turn: turn, change: .operatorChose(isChosen ? nil : other.app)))
            }
        }
        if keys.contains("foreground-apps") { found += othersInFront(of: session, keys) }
        found += machine(session, facts, keys)
        if loses { found += ended(session) }
        return found
    }

    /// How many other sessions are looked at: more than anybody reads about in one answer.
    static let contendersMax = 8

    /// Sessions of other apps that ask for this camera, or for one that it cannot run beside; who holds one first.
    private func contenders(with session: Session) -> [Session] {
        let budget = state.policy.contention.budget != nil
        let others = state.requesting.compactMap { state.sessions[$0] }.filter { other in
            other.app != session.app
                && (budget || other.camera == session.camera || state.policy.conflict(other.camera, session.camera))
        }
        let holding = others.filter { state.cameras[$0.camera]?.tenancy.held?.session == $0.id }
        var seen: Set<AppID> = []
        return (holding + others).filter { seen.insert($0.app).inserted }.prefix(Self.contendersMax).map { $0 }
    }

    /// An app elsewhere, in another layout, with or without the focus.
    private func places(
        of app: AppID, _ subject: Explanation.Turn.Subject, _ keys: Set<String>
    ) -> [Supposition] {
        guard believedSource(for: app) != nil else { return [] }
        let place = placement(of: app)
        var found: [Supposition] = []
        let inFront = place.presence.isForeground
        // In the background there is neither layout nor focus; in front without another word is the full screen.
        var readers: Set = ["presence", "foreground-apps", "layout", "focused"]
        if !inFront, keys.contains("layout") { readers = ["presence", "foreground-apps"] }
        if !keys.isDisjoint(with: readers) {
            let words = ["\"background\"", "\"foreground\""]
            let turn = Explanation.Turn(
                of: subject, key: "presence", from: words[inFront ? 1 : 0], to: words[inFront ? 0 : 1])
            found.append(Supposition(turn: turn, change: .layout(app, inFront ? nil : .fullscreen)))
        }
        if keys.contains("focused") {
            let turn = Explanation.Turn(
                of: subject, key: "focused", from: "\(place.isFocused)", to: "\(!place.isFocused)")
            found.append(Supposition(turn: turn, change: .focused(app, !place.isFocused)))
        }
        if keys.contains("layout") {
            for layout in Presence.Layout.allCases where layout != place.presence.layout {
                let turn = Explanation.Turn(
                    of: subject, key: "layout", from: place.presence.layout.map { "\"\($0.rawValue)\"" } ?? "none",
                    to: "\"\(layout.rawValue)\"")
                found.append(Supposition(turn: turn, change: .layout(app, layout)))
            }
        }
        return found
    }

    /// What a trusted source could say of an app instead.
    private func attributes(
        of app: AppID, _ subject: Explanation.Turn.Subject, _ keys: Set<String>
    ) -> [Supposition] {
        attributes(of: app).filter { keys.contains($0.name) }.flatMap { held -> [Supposition] in
            let values = state.policy.attributes.first { $0.name == held.name }?.values ?? []
            return values.filter { $0 != held.value }.map { value in
                let turn = Explanation.Turn(
                    of: subject, key: held.name, from: "\"\(held.value)\"", to: "\"\(value)\"")
                return Supposition(turn: turn, change: .attribute(app, name: held.name, value: value))
            }
        }
    }

    /// Apps of this user that are in front and ask for no camera, and one more that could be.
    private func othersInFront(of session: Session, _ keys: Set<String>) -> [Supposition] {
        let user = session.app.user
        let known = Set([session.app] + contenders(with: session).map(\.app))
        let others = (state.world.inFront[user] ?? []).filter { !known.contains($0) }
        var found = others.prefix(Self.contendersMax).flatMap { app in
            places(of: app, .app(app), ["presence"])
        }
        let another = AppID("another app", user: user)
        if foregroundApps(of: user) != .several, believedSource(for: another) != nil {
            let turn = Explanation.Turn(
                of: .app(another), key: "presence", from: "\"background\"", to: "\"foreground\"")
            found.append(Supposition(turn: turn, change: .layout(another, .fullscreen)))
        }
        return found
    }

    private func machine(_ session: Session, _ facts: Facts, _ keys: Set<String>) -> [Supposition] {
        var found: [Supposition] = []
        if keys.contains("microphone") {
            let user = session.app.user
            let takers = state.world.microphones.filter { $0 != session.app && ($0.user == user || $0.user == 0) }
            let turn = Explanation.Turn(
                of: .machine, key: "microphone", from: takers.isEmpty ? "\"free\"" : "\"taken\"",
                to: takers.isEmpty ? "\"taken\"" : "\"free\"")
            let apps = takers.isEmpty ? [AppID("another app", user: user)] : takers
            found.append(Supposition(turn: turn, change: .microphone(apps, taken: takers.isEmpty)))
        }
        if keys.contains("pressure") {
            for level in SystemPressure.allCases where level != facts.pressure {
                let turn = Explanation.Turn(
                    of: .machine, key: "pressure", from: "\"\(facts.pressure.wireName)\"", to: "\"\(level.wireName)\"")
                found.append(Supposition(turn: turn, change: .pressure(level)))
            }
        }
        return found
    }

    /// The machine's own causes, each ended.
    private func ended(_ session: Session) -> [Supposition] {
        builtInCauses(of: session).compactMap { live in
            let change: Supposition.Change? =
                switch live.cause {
                case .videoDeviceDisconnected: .present(session.camera)
                case .videoDeviceBlockedByPrivacy: .privacyOff(session.camera)
                case .systemSleep: .awake
                case .loginSessionInactive:
                    state.clients[session.client]?.loginSession.map { .loginSession($0, active: true) }
                case .sensitiveContentMitigationActivated: .notSensitive(session.id)
                case .videoDeviceInUseByAnotherClient: .notHeldOutside(session.camera)
                // A recorder that was lost comes back in its own time.
                default: nil
                }
            return change.map {
                Supposition(
                    turn: .init(of: .machine, key: live.cause.wireName, from: "stands", to: "ended"), change: $0)
            }
        }
    }
}
