import Vocabulary

extension Arbiter {
    /// The same arbiter in a world where these facts are otherwise, with the event that followed.
    ///
    /// A copy takes the changes through the functions that take events, settles, and is stepped: nothing here
    /// predicts what a step would do. What the event says against a supposition, it did not say.
    /// - Returns: nil: they contradict each other or the world, such as the focus on an app in the background.
    func supposing(_ set: [Supposition], then event: Event, at moment: Moment) -> Arbiter? {
        guard Supposition.agree(set) else { return nil }
        var other = self
        var turn = Turn(event: .timePassed, verdicts: Verdicts(areKept: false))
        var event: Event? = event
        var places: [AppID: World.Placement] = [:]
        for supposition in set {
            switch supposition.change {
            case .layout(let app, let layout):
                var place = places[app] ?? said(of: app, event)
                place.presence = layout.map { .foreground($0) } ?? .background
                places[app] = place
            case .focused(let app, let focused):
                var place = places[app] ?? said(of: app, event)
                place.isFocused = focused
                places[app] = place
            default: other.suppose(supposition, &turn)
            }
        }
        for (app, place) in places.sorted(by: { $0.key < $1.key }) {
            var place = place
            let isFocusSupposed = set.contains { $0.change == .focused(app, true) }
            if !place.presence.isForeground {
                if isFocusSupposed { return nil }
                place.isFocused = false
            }
            guard let placed = placedEvent(app, place) else { return nil }
            if let said = event, says(of: app, said) {
                // It comes when it came, and says otherwise.
                event = placed
            } else {
                other.take(placed, &turn)
            }
            if isFocusSupposed { event = event.map { $0.withoutFocus(besides: app) } }
        }
        if let about = event?.about, set.contains(where: { $0.about == about }) { event = nil }
        other.settle(&turn)
        _ = other.step(event ?? .timePassed, at: moment)
        return other
    }

    private mutating func suppose(_ supposition: Supposition, _ turn: inout Turn) {
        switch supposition.change {
        case .layout, .focused: preconditionFailure("a place is supposed as a whole")
        case .kind(let client, let kind):
            state.clients[client]?.attributes.kind = kind
            touchSessions(of: client, &turn)
        case .multitasking(let client, let optedIn):
            state.clients[client]?.attributes.multitasking = optedIn
            touchSessions(of: client, &turn)
        case .rankAsGiven(let client):
            state.clients[client]?.loweredTo = nil
            touchSessions(of: client, &turn)
        case .usesAudio(let session, let uses):
            state.sessions[session]?.configuration[.usesAudio] = .flag(uses)
            touch(session, &turn)
        case .notRecording(let session):
            _ = step(.stopRecording(session), at: state.now)
        case .operatorChose(let app): operatorChose(app, &turn)
        case .attribute(let app, let name, let value): attribute(app, name, value, &turn)
        case .loginSession(let login, let active):
            loginSession(login, World.LoginSession(isActive: active, isLocked: false), &turn)
        case .microphone(let apps, let taken): for app in apps { microphone(app, taken, &turn) }
        case .pressure(let level):
            // As if it had lasted: a lower pressure counts only then.
            state.world.falling = []
            state.world.pressure = level
            touchAllRequesting(&turn)
        case .privacyOff(let camera):
            privacy(nil, false, &turn)
            privacy(camera, false, &turn)
        case .awake: sleep(false, &turn)
        case .present(let camera):
            if let capabilities = state.cameras[camera]?.capabilities { appear(camera, capabilities, &turn) }
        case .notHeldOutside(let camera): heldOutside(camera, false, &turn)
        case .notSensitive(let session):
            state.sessions[session]?.isSensitive = false
            touch(session, &turn)
        }
    }

    private func touchSessions(of client: ClientID, _ turn: inout Turn) {
        for session in state.clients[client]?.sessions ?? [] { touch(session, &turn) }
    }

    /// Where an app is: as the event says, or as it was before.
    private func said(of app: AppID, _ event: Event?) -> World.Placement {
        if case .placed(app, let presence, let focused, _)? = event {
            return World.Placement(presence: presence, isFocused: focused)
        }
        if case .declaredPresence(let client, let presence, let focused)? = event, state.clients[client]?.app == app {
            return World.Placement(presence: presence, isFocused: focused)
        }
        return placement(of: app)
    }

    /// Whether the event is about where an app is.
    private func says(of app: AppID, _ event: Event) -> Bool {
        switch event {
        case .placed(let other, _, _, _), .unplaced(let other, _): other == app
        case .declaredPresence(let client, _, _): state.clients[client]?.app == app
        default: false
        }
    }

    /// The event by which the app comes to this place; nil: nobody can say so.
    private func placedEvent(_ app: AppID, _ place: World.Placement) -> Event? {
        guard let source = believedSource(for: app) else { return nil }
        guard source == .selfDeclared else {
            return .placed(app, place.presence, focused: place.isFocused, by: source)
        }
        return state.apps[app]?.first.map { .declaredPresence($0, place.presence, focused: place.isFocused) }
    }

    /// Who says where an app is, so that it could say otherwise; nil: nobody can.
    func believedSource(for app: AppID) -> PresenceSource? {
        for source in state.policy.sources {
            switch source {
            case .shell, .agent:
                let attached = [app.user, nil].contains {
                    state.world.sources[World.SourceKey(source: source, user: $0)]?.isAttached == true
                }
                if attached { return source }
            case .selfDeclared:
                if state.apps[app] != nil { return source }
            case .loginSession: return nil
            }
        }
        return nil
    }
}

extension Event {
    /// An event that gives another app the focus does not, where this one is supposed to have it.
    fileprivate func withoutFocus(besides app: AppID) -> Event {
        if case .placed(let other, let presence, true, let source) = self, other.user == app.user {
            return .placed(other, presence, focused: false, by: source)
        }
        return self
    }
}
