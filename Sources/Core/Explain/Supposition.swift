import Arbiter
import Vocabulary

/// One fact, supposed to be otherwise. Only facts that could have been otherwise are supposed: what a source may say of an app, what
/// a client may say of itself, what an operator, a switch or the machine may do. Never an app's identity.
struct Supposition {
    let alteration: Explanation.Alteration
    let about: About
    let change: Change

    enum Change {
        /// The app in front in a layout, or in the background (`nil`).
        case layout(NamedApp, Speaker, Presence.Layout?)
        case focused(NamedApp, Speaker, Bool)
        case assumed([Assumption])
    }

    /// Two suppositions about the same contradict each other.
    enum About: Hashable {
        case place(NamedApp)
        /// Of a user's apps, one has it.
        case focus(UInt32)
        case kind(ClientID)
        case multitasking(ClientID)
        case rank(ClientID)
        case audio(SessionID)
        case recording(SessionID)
        case sensitive(AppID)
        case attribute(AppID, String)
        case login(LoginSessionID)
        case plug(CameraID)
        case outside(CameraID)
        case answer(AppID)
        case ownPrivacy(UInt32)
        case operatorChoice, microphone, pressure, mode, privacy, sleep, rights
    }

    init(_ alteration: Explanation.Alteration, _ about: About, _ change: Change) {
        (self.alteration, self.about, self.change) = (alteration, about, change)
    }

    init(_ alteration: Explanation.Alteration, _ about: About, by events: [Event]) {
        self.init(alteration, about, .assumed(events.map { .event($0) }))
    }
}

/// An app as the edge calls it. Two may bear one name: a vouched app, and one that only claims the name.
struct NamedApp: Hashable, Comparable {
    let id: AppID
    let isClaimed: Bool

    static func < (a: NamedApp, b: NamedApp) -> Bool { a.id != b.id ? a.id < b.id : !a.isClaimed && b.isClaimed }
}

/// The source that says where an app is.
enum Speaker: Hashable {
    /// A shell or an agent, by the app's name.
    case source(PresenceSource)
    /// The app itself, through one of its clients.
    case client(ClientID)
}

extension Arbiter {
    /// The same arbiter in a world where these facts are otherwise, with the event that followed.
    ///
    /// A copy takes the changes through the functions that take events, settles, and is stepped: nothing here predicts what a step
    /// would do. Where the event contradicts a supposition, the event did not come.
    /// - Parameter set: no two about the same.
    /// - Returns: `nil` where they contradict the world, such as the focus on an app in the background.
    func supposing(_ set: [Supposition], then event: Event, at moment: Moment) -> Arbiter? {
        var event: Event? = event
        var assumptions: [Assumption] = []
        var moves: [Move] = []
        for supposition in set {
            switch supposition.change {
            case .assumed(let changes): assumptions += changes
            case .layout(let app, let speaker, let layout):
                change(app, speaker, event, &moves) { $0.presence = layout.map { .foreground($0) } ?? .background }
            case .focused(let app, let speaker, let focused):
                change(app, speaker, event, &moves) { ($0.isFocused, $0.takesFocus) = (focused, focused) }
            }
        }
        // The app that gets the focus takes it from the app that has it.
        for move in moves.sorted(by: { ($0.takesFocus ? 1 : 0, $0.app) < ($1.takesFocus ? 1 : 0, $1.app) }) {
            if move.takesFocus, !move.presence.isForeground { return nil }
            if let said = event, state.says(said, where: move.app, move.speaker) {
                // It comes when it came, with another content.
                event = move.event
            } else {
                assumptions.append(.event(move.event))
            }
            if move.takesFocus { event = event.map { $0.withoutFocus(besides: move.app) } }
        }
        if let about = event?.about, set.contains(where: { $0.about == about }) { event = nil }
        var other = self
        other.assume(assumptions)
        _ = other.step(event ?? .timePassed, at: moment)
        return other
    }

    /// A place is supposed as a whole: over the event's, or over where the app was.
    private func change(
        _ app: NamedApp, _ speaker: Speaker, _ event: Event?, _ moves: inout [Move], _ body: (inout Move) -> Void
    ) {
        if let index = moves.firstIndex(where: { $0.app == app }) { return body(&moves[index]) }
        var move = Move(app: app, speaker: speaker, presence: .background, isFocused: false)
        if let event, state.says(event, where: app, speaker), let place = event.place {
            (move.presence, move.isFocused) = place
        } else if let ref = state.app(app) {
            let place = state.placement(of: ref)
            (move.presence, move.isFocused) = (place.presence, place.isFocused)
        }
        body(&move)
        moves.append(move)
    }
}

private struct Move {
    let app: NamedApp
    let speaker: Speaker
    var presence: Presence
    var isFocused: Bool
    var takesFocus = false

    var event: Event {
        let focused = isFocused && presence.isForeground
        return switch speaker {
        case .source(let source): .placed(app.id, presence, focused: focused, by: source)
        case .client(let client): .declaredPresence(client, presence, focused: focused)
        }
    }
}

extension State {
    /// Whether the event says where an app is, by the believed source.
    fileprivate func says(_ event: Event, where app: NamedApp, _ speaker: Speaker) -> Bool {
        switch (event, speaker) {
        case (.placed(app.id, _, _, let source), _), (.unplaced(app.id, let source), _): speaker == .source(source)
        case (.declaredPresence(let client, _, _), .client):
            clientSlots[client.rawValue].map { name(clients[$0].app) } == app
        default: false
        }
    }

    func name(_ app: AppRef) -> NamedApp { NamedApp(id: id(app), isClaimed: app.isClaimed) }
    func app(_ name: NamedApp) -> AppRef? { app(name.id).map { ref($0, isClaimed: name.isClaimed) } }

    func speaker(for name: NamedApp) -> Speaker? {
        let app = app(name)
        for source in policy.source.sources {
            switch source {
            case .shell, .agent:
                guard isAttached(source, for: name.id.user) else { continue }
                // While a vouched app is connected, nothing that is said by its name reaches an app that only claims it.
                return app.map(isReached) ?? true ? .source(source) : nil
            case .selfDeclared: if let client = app.flatMap({ clients(of: $0).first }) { return .client(id(client)) }
            case .loginSession: return nil
            }
        }
        return nil
    }

    /// The source that spoke for a user, and has left: a shell or an agent that came back could say where apps are.
    func goneSource(for user: UInt32) -> (source: PresenceSource, user: UInt32?)? {
        for source in policy.source.sources {
            let kind = sources.filter { $0.kind == source && ($0.user ?? user) == user }
            if kind.contains(where: \.state.isAttached) { return nil }
            // The user's own shell before the shell of everybody.
            if let gone = kind.first(where: { $0.user != nil }) ?? kind.first { return (source, gone.user) }
        }
        return nil
    }

    /// The first source that was still believed for a moment, and no longer is in `after`.
    func source(silencedBefore after: State) -> PresenceSource? {
        sources.first { source in
            guard case .frozen = source.state else { return false }
            return after.sources.contains { one in
                if one.kind == source.kind, one.user == source.user, case .lost = one.state { true } else { false }
            }
        }?.kind
    }

    private func isAttached(_ source: PresenceSource, for user: UInt32) -> Bool {
        sources.contains { $0.isShell == (source == .shell) && ($0.user ?? user) == user && $0.state.isAttached }
    }
}

extension Event {
    fileprivate var place: (Presence, Bool)? {
        switch self {
        case .placed(_, let presence, let focused, _), .declaredPresence(_, let presence, let focused):
            (presence, focused)
        default: nil
        }
    }

    /// An event that gives another app the focus does not, where this app is supposed to have it.
    fileprivate func withoutFocus(besides app: NamedApp) -> Event {
        if case .placed(let other, let presence, true, let source) = self, other != app.id, other.user == app.id.user {
            return .placed(other, presence, focused: false, by: source)
        }
        return self
    }

    /// The subject of the event, where a supposition can contradict it.
    fileprivate var about: Supposition.About? {
        switch self {
        case .microphone: .microphone
        case .pressure: .pressure
        case .modeSet, .calendar: .mode
        case .operatorChose: .operatorChoice
        case .attribute(let app, let name, _): .attribute(app, name)
        case .privacy: .privacy
        case .sleep: .sleep
        case .answered(let app, _, _, _): .answer(app)
        case .ownPrivacy(let user, _): .ownPrivacy(user)
        case .sensitiveContent(let app): .sensitive(app)
        case .loweredPriority(let client, _): .rank(client)
        case .loginSession(let login, _), .loginSessionEnded(let login): .login(login)
        case .cameraDisappeared(let camera), .cameraAppeared(let camera, _, _): .plug(camera)
        case .heldOutside(let camera, _): .outside(camera)
        default: nil
        }
    }
}
