package import Vocabulary

/// The apps' places on their users' screens, and the source whose report of them counts.
extension Arbiter {
    mutating func attachSource(_ source: PresenceSource, _ user: UInt32?) {
        guard source == .shell || source == .agent else { return }
        if let place = state.place(of: source, user) {
            switch state.sources[place].state {
            case .frozen(let until): state.sources[place].state = .resumed(until: until)
            case .lost: state.sources[place].state = .attached
            case .attached, .resumed: return
            }
        } else {
            state.sources.append(Source(isShell: source == .shell, user: user, state: .attached))
            state.sources.sort { ($0.isShell ? 1 : 0, $0.user ?? 0) < ($1.isShell ? 1 : 0, $1.user ?? 0) }
        }
        state.updateAllInFront()
        touchAll()
    }

    /// The source's placements, and no other's, hold for a moment longer.
    mutating func loseSource(_ source: PresenceSource, _ user: UInt32?) {
        guard let place = state.place(of: source, user), state.sources[place].state.isAttached else { return }
        state.sources[place].state = .frozen(until: state.now + Bound.sourceFreeze)
        for app in state.namedApps where speaks(state.sources[place], of: app) {
            state.apps[app][source].isStale = true
        }
        state.updateAllInFront()
        touchAll()
    }

    /// The freeze is over: placements of the lost source that no other repeated end.
    mutating func thaw(_ place: Int) {
        let source = state.sources[place]
        state.sources[place].state = source.state.isAttached ? .attached : .lost
        for app in state.namedApps where speaks(source, of: app) && state.apps[app][source.kind].isStale {
            state.apps[app][source.kind] = .nowhere
            state.updateUser(of: app) { if $0[focusOf: source.kind] == app { $0[focusOf: source.kind] = nil } }
            state.updateInFront(app)
            state.release(app)
        }
        state.updateAllInFront()
        touchAll()
    }

    private func speaks(_ source: Source, of app: Slot<App>) -> Bool {
        let placed = state.apps[app][source.kind]
        guard placed.isSomewhere else { return false }
        return source.user == nil ? !placed.isOwn : placed.isOwn && state.apps[app].user == source.user
    }

    /// - Parameter placed: `nil`: the source no longer places the app.
    mutating func place(_ id: AppID, _ placed: Placed?, _ source: PresenceSource) {
        guard source == .shell || source == .agent else { return }
        guard placed != nil || state.appNames[id] != nil else { return }
        let app = state.row(of: id)
        let before = state.foregroundApps(of: id.user)
        moveFocus(to: app, placed, source)
        var placed = placed ?? .nowhere
        // The placement counts as the source's for this user alone, where that is attached.
        let isOwn = state.place(of: source, id.user).map { state.sources[$0].state.isAttached } ?? false
        placed.isOwn = isOwn && placed.isSomewhere
        let isNews = !state.apps[app][source].says(placed)
        state.apps[app][source] = placed
        noteApp(app, since: before)
        if isNews, state.policy.reads.presence { notePriorities(of: app) }
        state.release(app)
    }

    /// One focus for each user: the app that gets it takes it from the app that had it.
    private mutating func moveFocus(to app: Slot<App>, _ placed: Placed?, _ source: PresenceSource) {
        let isFocused = placed?.isFocused == true
        guard let user = state.users.firstIndex(where: { $0.user == state.apps[app].user }) else { return }
        if let other = state.users[user][focusOf: source], other == app || isFocused {
            state.users[user][focusOf: source] = nil
            if other != app {
                state.apps[other][source].isFocused = false
                touch(other)
            }
        }
        if isFocused { state.users[user][focusOf: source] = app }
    }
}

extension State {
    func place(of source: PresenceSource, _ user: UInt32?) -> Int? {
        sources.firstIndex { $0.kind == source && $0.user == user }
    }

    private func sourceState(_ source: PresenceSource, for user: UInt32) -> Source.State? {
        var (own, everybody): (Source.State?, Source.State?)
        for one in sources where one.kind == source {
            if one.user == nil { everybody = one.state } else if one.user == user { own = one.state }
        }
        // An attached source counts before one that fell silent.
        if own?.isAttached == true || everybody == nil { return own }
        return everybody?.isAttached == true || own == nil ? everybody : own
    }

    /// A login session that takes over from a lost shell shows whether the user is there, not which apps are in front.
    package func isPresenceKnown(for user: UInt32) -> Bool {
        switch presenceStanding(for: user) {
        case .told, .kept: true
        case .lost, .login, .nobody: false
        }
    }

    /// The source that `placement(of:)` reads for a user's apps. An app without a login session is placed as if no
    /// source existed.
    package func presenceStanding(for user: UInt32) -> PresenceStanding {
        var gone: PresenceStanding?
        for source in policy.sources {
            switch source {
            case .shell, .agent:
                switch sourceState(source, for: user) {
                case .attached, .resumed: return .told
                case .frozen: gone = .kept
                case .lost: gone = gone ?? .lost
                case nil: continue
                }
            case .selfDeclared: if users.contains(where: { $0.user == user && $0.declared > 0 }) { return .told }
            case .loginSession: if logins.rows.contains(where: \.isKnown) { return .login }
            }
        }
        return gone ?? .nobody
    }

    /// Where an app is, by the first trusted source that places it (semantics.md §9, row 16).
    package func placement(of ref: AppRef) -> Placed {
        if policy.sources.isEmpty { return .unknown }
        let app = apps[ref.slot]
        var frozen: PresenceSource?
        var isLost = false
        for source in policy.sources {
            switch source {
            case .shell, .agent:
                switch sourceState(source, for: app.user) {
                case .attached, .resumed: return said(of: ref, by: source)
                case .frozen: if frozen == nil { frozen = source }
                case .lost: isLost = true
                case nil: continue
                }
            case .selfDeclared:
                // Between users no app comes to the front by its own claim.
                let declared = app[ref].declared
                if declared.isSomewhere, !(world.severalUsersAsk && declared.isForeground) { return declared }
            case .loginSession:
                if let isActive = isLoginSessionActive(of: ref) { return isActive ? .unknown : .background }
            }
        }
        if let frozen { return said(of: ref, by: frozen) }
        return isLost ? .background : .unknown
    }

    private func said(of ref: AppRef, by source: PresenceSource) -> Placed {
        let placed = apps[ref.slot][source]
        return placed.isSomewhere && isReached(ref) ? placed : .background
    }

    /// `nil` when the app has no reported login session.
    private func isLoginSessionActive(of app: AppRef) -> Bool? {
        for client in clients(of: app) {
            if let login = clients[client].login, logins[login].isKnown { return logins[login].isActive }
        }
        return nil
    }

    // MARK: Apps in front

    func foregroundApps(of user: UInt32) -> Facts.ForegroundApps {
        // Without a source of placements no app counts as beside another.
        guard !policy.sources.isEmpty, isPresenceKnown(for: user) else { return .one }
        return switch users.first(where: { $0.user == user })?.inFront ?? 0 {
        case 0: .none
        case 1: .one
        default: .several
        }
    }

    /// The count that an app so placed sees: an app that requires the full screen is not counted, and still in front.
    func counted(_ apps: Facts.ForegroundApps, from placed: Placed) -> Facts.ForegroundApps {
        apps == .none && placed.isForeground ? .one : apps
    }

    /// The one other app of the user in front; `nil`: none, or several.
    func appBeside(_ app: AppRef) -> AppRef? {
        var found: AppRef?
        let user = apps[app.slot].user
        for row in apps.rows.indices where apps.rows[row].user == user && apps.rows[row].generation != 0 {
            let both = (vouched: ref(Slot(row), isClaimed: false), claimed: ref(Slot(row), isClaimed: true))
            let isFirst = apps.rows[row].vouched.isInFront && both.vouched != app
            let isSecond = apps.rows[row].claimed.isInFront && both.claimed != app
            guard isFirst || isSecond else { continue }
            if found != nil || (isFirst && isSecond) { return nil }
            found = isFirst ? both.vouched : both.claimed
        }
        return found
    }

    package var namedApps: [Slot<App>] {
        apps.rows.indices.filter { apps.rows[$0].generation != 0 }.map { Slot($0) }
    }

    /// An app that requires the full screen is in front alone or not at all: it never counts as one of several.
    private func countsAsInFront(_ app: AppRef) -> Bool {
        let row = apps[app.slot]
        // A name without clients is counted where a shell or an agent puts it.
        let isThere =
            row[app].firstClient != nil
            || (!app.isClaimed && !row.isConnected && (row.byShell.isSomewhere || row.byAgent.isSomewhere))
        guard isThere, placement(of: app).isForeground else { return false }
        for client in clients(of: app) where clients[client].requiresFullScreen { return false }
        return true
    }

    /// - Returns: whether one of the name's apps came to the front, or left it.
    @discardableResult mutating func updateInFront(_ slot: Slot<App>) -> Bool {
        let vouched = updateInFront(ref(slot, isClaimed: false))
        let claimed = updateInFront(ref(slot, isClaimed: true))
        return vouched || claimed
    }

    private mutating func updateInFront(_ app: AppRef) -> Bool {
        let counts = countsAsInFront(app)
        guard counts != apps[app.slot][app].isInFront else { return false }
        apps[app.slot][app].isInFront = counts
        updateUser(of: app.slot) { $0.inFront += counts ? 1 : -1 }
        return true
    }

    /// After a source came or went, or the policy trusts others.
    mutating func updateAllInFront() { for app in namedApps { updateInFront(app) } }
}
