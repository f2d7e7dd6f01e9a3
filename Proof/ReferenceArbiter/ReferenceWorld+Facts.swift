import ArbiterProtocol

/// The facts that a policy may read, derived from the world anew each time.
extension ReferenceWorld {
    func app(_ session: Session) -> App { clients[session.client]?.app ?? App(AppID("", user: 0), isClaimed: true) }
    func clients(of app: App) -> [Client] { clients.values.filter { $0.app == app } }

    /// Words about a name reach an app that only claims it while no vouched client of that name is connected.
    func isReached(_ app: App) -> Bool { !app.isClaimed || clients(of: App(app.id, isClaimed: false)).isEmpty }

    func facts(_ session: Session, _ policy: Policy) -> Facts {
        let app = app(session)
        let client = clients[session.client]
        let place = place(of: app, policy.sources)
        return Facts(
            app: app.isClaimed ? nil : app.id.name, claimedApp: client?.claimedName, user: app.id.user,
            loginSession: loginState(client), presence: place.presence, isFocused: place.isFocused,
            foregroundApps: foregroundApps(as: place, user: app.id.user, policy.sources), client: client?.kind ?? .app,
            multitasking: client?.multitasking ?? false, camera: session.camera,
            position: cameras[session.camera]?.position ?? .external, usesAudio: session.usesAudio,
            microphoneTaken: microphones.contains {
                [0, app.id.user].contains($0.user) && !($0 == app.id && isReached(app))
            }, pressure: pressure, isRecording: session.isRecording, bidIsNew: !session.hasRun,
            operatorChosen: operatorChoice == app.id && isReached(app),
            attributes: policy.attributes.map { value($0, of: app) }, mode: mode(policy.modes))
    }

    func loginState(_ client: Client?) -> Facts.LoginState {
        guard let login = client?.login.flatMap({ logins[$0] }) else { return .none }
        return login.isActive && !login.isLocked ? .active : .inactive
    }

    /// The value that the app was given, where that reaches it, or the weakest that one of its clients took.
    func value(_ attribute: Attribute, of app: App) -> Facts.AttributeValue {
        let values = attribute.values
        let given = isReached(app) ? attributes[app.id]?[attribute.name] : nil
        let place = given.flatMap(values.firstIndex(of:)) ?? values.firstIndex(of: attribute.defaultValue) ?? 0
        let lowered = clients(of: app).compactMap { $0.loweredValues[attribute.name].flatMap(values.firstIndex(of:)) }
        let weakest = max(place, lowered.max() ?? 0)
        return Facts.AttributeValue(name: attribute.name, value: values[weakest], place: weakest)
    }

    /// The one that was set by hand goes before the calendar's; the policy has to declare it.
    func mode(_ modes: [Mode]) -> String? {
        [modeByHand, calendarMode].compactMap { $0 }.first { name in modes.contains { $0.name == name } }
    }

    /// By the first believed source that has something to say.
    func place(of app: App, _ believed: [PresenceSource]) -> Place {
        var frozen: PresenceSource?
        var isLost = false
        for source in believed {
            switch source {
            case .shell, .agent:
                guard let speaker = speaker(source, for: app.id.user) else { continue }
                if speaker.isThere { return said(of: app, by: source) }
                if speaker.frozenUntil == nil { isLost = true } else { frozen = frozen ?? source }
            case .selfDeclared:
                // An app's own word never puts it before another user's app, but it may step back.
                if let place = declared[app], !place.presence.isForeground || !severalUsersAsk { return place }
            case .loginSession:
                // A lock is a cause of its own.
                let states = clients.sorted { $0.key < $1.key }.filter { $0.value.app == app }
                    .compactMap { $0.value.login.flatMap { logins[$0] } }
                if let login = states.first { return login.isActive ? .unknown : .background }
            }
        }
        if let frozen { return said(of: app, by: frozen) }
        return isLost ? .background : .unknown
    }

    private func said(of app: App, by source: PresenceSource) -> Place {
        isReached(app) ? said[source]?[app.id]?.place ?? .background : .background
    }

    /// The user's own speaker or the one for all; an attached speaker comes first.
    private func speaker(_ source: PresenceSource, for user: UInt32) -> Speaker? {
        let own = speakers.first { $0.source == source && $0.user == user }
        let all = speakers.first { $0.source == source && $0.user == nil }
        if let own, own.isThere || all?.isThere != true {
            // The contract leaves open which counts when both are lost: here the user's own.
            return own
        }
        return all
    }

    /// The number of a user's apps in front, for an app at this place.
    private func foregroundApps(as place: Place, user: UInt32, _ believed: [PresenceSource]) -> Facts.ForegroundApps {
        guard isCountable(user, believed) else { return .one }
        let named = Set(clients.values.map(\.app.id))
        let unborn = Set(said.values.flatMap(\.keys)).subtracting(named)
        let apps = Set(clients.values.map(\.app)).union(unborn.map { App($0, isClaimed: false) })
        let count = apps.filter { app in
            // An app that requires the full screen does not count beside others.
            app.id.user == user && !clients(of: app).contains(where: \.requiresFullScreen)
                && self.place(of: app, believed).presence.isForeground
        }.count
        if count == 0 { return place.presence.isForeground ? .one : .none }
        return count == 1 ? .one : .several
    }

    /// Whether the first source with something to say tells apps apart, which a login session does not.
    private func isCountable(_ user: UInt32, _ believed: [PresenceSource]) -> Bool {
        var isFrozen = false
        for source in believed {
            switch source {
            case .shell, .agent:
                let speaker = speaker(source, for: user)
                if speaker?.isThere == true { return true }
                if speaker?.frozenUntil != nil { isFrozen = true }
            case .selfDeclared: if declared.keys.contains(where: { $0.id.user == user }) { return true }
            case .loginSession: if !logins.isEmpty { return false }
            }
        }
        return isFrozen
    }

    /// Whether the client has a right to the camera, and whether it may use it now: its seat may show another user.
    func right(_ client: Client, to camera: CameraID, _ rights: Rights) -> (has: Bool, now: Bool) {
        let user = client.app.id.user
        if user == 0 { return (true, true) }
        if rights.identity == .strong, client.identity.isWeak { return (false, false) }
        let isNamed =
            client.identity.isOwn || rights.users.contains { $0.number == user }
            || client.identity.groups.contains { group in rights.groups.contains { $0.number == group } }
            || (!client.app.isClaimed && rights.services.contains(client.app.id.name))
        if isNamed { return (true, true) }
        guard rights.seat, let seat = cameras[camera]?.seat else { return (false, false) }
        if client.identity.login == .seat { return (true, true) }
        let own = logins.filter { ($0.value.user == user || $0.key == client.login) && $0.value.seat == seat }
        return (!own.isEmpty, own.values.contains { $0.isActive && !$0.isLocked })
    }

    /// Cause 102: its login session is not active, or its seat shows another user.
    func isAway(_ session: Session, _ rights: Rights) -> Bool {
        guard let client = clients[session.client] else { return false }
        return loginState(client) == .inactive || !right(client, to: session.camera, rights).now
    }

    var severalUsersAsk: Bool { Set(sessions.values.filter { $0.started != nil }.map { app($0).id.user }).count > 1 }
}
