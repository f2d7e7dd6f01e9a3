import Vocabulary

extension Arbiter {
    mutating func attachSource(_ source: PresenceSource, _ user: UInt32?, _ turn: inout Turn) {
        let key = World.SourceKey(source: source, user: user)
        switch state.world.sources[key] {
        case .frozen(let until): state.world.sources[key] = .resumed(until: until)
        case .lost, nil: state.world.sources[key] = .attached
        case .attached, .resumed: return
        }
        rebuildInFront()
        touchAllRequesting(&turn)
    }

    mutating func loseSource(_ source: PresenceSource, _ user: UInt32?, _ turn: inout Turn) {
        let key = World.SourceKey(source: source, user: user)
        guard state.world.sources[key]?.isAttached == true else { return }
        state.world.sources[key] = .frozen(until: state.now + Bound.sourceFreeze)
        for place in state.world.placements.keys where speaks(key, of: place) {
            state.world.placements[place]?.isStale = true
        }
        rebuildInFront()
        touchAllRequesting(&turn)
    }

    /// The freeze is over: what the lost source said, and nobody repeated, no longer holds.
    mutating func thaw(_ key: World.SourceKey, _ turn: inout Turn) {
        state.world.sources[key] = state.world.sources[key]?.isAttached == true ? .attached : .lost
        state.world.placements = state.world.placements.filter { !speaks(key, of: $0.key) || !$0.value.isStale }
        for (focus, app) in state.world.focus
        where state.world.placements[World.PlacementKey(source: focus.source, app: app)] == nil {
            state.world.focus[focus] = nil
        }
        rebuildInFront()
        touchAllRequesting(&turn)
    }

    private func speaks(_ key: World.SourceKey, of place: World.PlacementKey) -> Bool {
        place.source == key.source && (key.user == nil || place.app.user == key.user)
    }

    mutating func place(_ app: AppID, _ placement: World.Placement?, _ source: PresenceSource, _ turn: inout Turn) {
        let before = foregroundApps(of: app.user)
        let focus = World.FocusKey(source: source, user: app.user)
        // The focus is one for each user: who gets it takes it from the app that had it.
        if let other = state.world.focus[focus], other == app || placement?.isFocused == true {
            state.world.focus[focus] = nil
            if other != app {
                state.world.placements[World.PlacementKey(source: source, app: other)]?.isFocused = false
                touch(app: other, &turn)
            }
        }
        if placement?.isFocused == true { state.world.focus[focus] = app }
        state.world.placements[World.PlacementKey(source: source, app: app)] = placement
        updateInFront(app, since: before, &turn)
        touch(app: app, &turn)
    }

    // MARK: What is believed

    private func sourceState(_ source: PresenceSource, for user: UInt32) -> World.SourceState? {
        let own = state.world.sources[World.SourceKey(source: source, user: user)]
        let everybody = state.world.sources[World.SourceKey(source: source, user: nil)]
        // One that speaks now is believed before one that fell silent.
        if own?.isAttached == true || everybody == nil { return own }
        return everybody?.isAttached == true || own == nil ? everybody : own
    }

    /// The source that counts now tells this user's apps apart, so that counting them makes sense. A login
    /// session that takes over from a lost shell knows whether the user is there, not how many apps are in front.
    func isPresenceKnown(for user: UInt32) -> Bool {
        var isFrozen = false
        for source in state.policy.sources {
            switch source {
            case .shell, .agent:
                switch sourceState(source, for: user) {
                case .attached, .resumed: return true
                case .frozen: isFrozen = true
                case .lost, nil: continue
                }
            case .selfDeclared: if state.world.declared[user]?.isEmpty == false { return true }
            case .loginSession: if !state.world.loginSessions.isEmpty { return false }
            }
        }
        return isFrozen
    }

    /// Where an app is, by the first believed source that has something to say (semantics.md §9, row 16).
    func placement(of app: AppID) -> World.Placement {
        var frozen: PresenceSource?
        var isLost = false
        for source in state.policy.sources {
            switch source {
            case .shell, .agent:
                switch sourceState(source, for: app.user) {
                case .attached, .resumed:
                    return state.world.placements[World.PlacementKey(source: source, app: app)] ?? .background
                case .frozen: if frozen == nil { frozen = source }
                case .lost: isLost = true
                case nil: continue
                }
            case .selfDeclared:
                if let declared = state.world.declared[app.user]?[app] { return declared }
            case .loginSession:
                if let active = isLoginSessionActive(of: app) { return active ? .unknown : .background }
            }
        }
        if let frozen { return state.world.placements[World.PlacementKey(source: frozen, app: app)] ?? .background }
        return isLost ? .background : .unknown
    }

    /// Nil when the app has no login session that anybody reported.
    private func isLoginSessionActive(of app: AppID) -> Bool? {
        for client in state.apps[app] ?? [] {
            if let id = state.clients[client]?.loginSession, let login = state.world.loginSessions[id] {
                return login.isActive
            }
        }
        return nil
    }

    // MARK: Who is in front

    private func requiresFullScreen(_ app: AppID) -> Bool {
        (state.apps[app] ?? []).contains { state.clients[$0]?.attributes.requiresFullScreen == true }
    }

    /// An app that requires the full screen is in front alone or not at all: it never counts as one of several.
    private func countsAsInFront(_ app: AppID) -> Bool {
        placement(of: app).presence.isForeground && !requiresFullScreen(app)
    }

    mutating func updateInFront(_ app: AppID) {
        if countsAsInFront(app) && (state.apps[app] != nil || isPlaced(app)) {
            state.world.inFront[app.user, default: []].insertSorted(app)
        } else {
            state.world.inFront[app.user]?.removeSorted(app)
            if state.world.inFront[app.user]?.isEmpty == true { state.world.inFront[app.user] = nil }
        }
    }

    /// The same, and whoever reads the number of apps in front is looked at again when it is not what it was before:
    /// what an app says of itself may also be the first that is known at all.
    mutating func updateInFront(_ app: AppID, since before: Facts.ForegroundApps, _ turn: inout Turn) {
        updateInFront(app)
        guard before != foregroundApps(of: app.user) else { return }
        for session in state.requesting where state.sessions[session]?.app.user == app.user { touch(session, &turn) }
    }

    private func isPlaced(_ app: AppID) -> Bool {
        [PresenceSource.shell, .agent].contains {
            state.world.placements[World.PlacementKey(source: $0, app: app)] != nil
        }
    }

    /// After a source came or went, or the policy believes others.
    mutating func rebuildInFront() {
        state.world.inFront = [:]
        for app in state.apps.keys { updateInFront(app) }
        for key in state.world.placements.keys { updateInFront(key.app) }
    }
}
