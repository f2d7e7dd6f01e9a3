import Vocabulary

extension Arbiter {
    mutating func connect(_ id: ClientID, _ app: AppID, _ identity: ClientIdentity) {
        // A second event of the same client changes nothing.
        guard state.client(id) == nil else { return }
        let name = state.row(of: app)
        let ref = state.ref(name, isClaimed: !identity.isVerified)
        let before = state.foregroundApps(of: app.user)
        var marks: Client.Marks = []
        if identity.isWeak { marks.insert(.weak) }
        if identity.isOwn { marks.insert(.own) }
        if identity.login == .seat { marks.insert(.sits) }
        var login: Slot<Login>?
        if case .session(let id) = identity.login {
            login = state.row(of: id)
            login.map { state.logins[$0].clients += 1 }
        }
        let slot = state.clients.insert(Client(id: id.rawValue, app: ref, login: login, marks: marks))
        state.clientSlots.insert(slot, for: id.rawValue)
        state.clientTexts.put(ClientTexts(groups: identity.groups), at: slot)
        state.link(slot, to: ref)
        state.identify(slot)
        noteApp(name, since: before)
    }

    /// The app's name and kind are fixed with its first session; multitasking attributes may change any time.
    mutating func declare(_ id: ClientID, _ attributes: ClientAttributes) throws(Refusal) {
        guard let slot = state.client(id) else { return }
        let client = state.clients[slot]
        let name = state.appNames[client.app.slot]
        let claims = attributes.claimedApp ?? state.clientTexts[slot].claimedApp
        let isSame = claims == state.clientTexts[slot].claimedApp && attributes.kind == client.kind.word
        guard isSame || client.firstSession == nil else {
            throw .declaredLate(sessions: state.sessions(of: slot).count)
        }
        let before = state.foregroundApps(of: name.user)
        state.clientTexts[slot].claimedApp = claims
        state.clients[slot].kind = Client.Kind(attributes.kind)
        state.clients[slot].multitasking = attributes.multitasking
        state.clients[slot].requiresFullScreen = attributes.requiresFullScreen
        if let claims, client.app.isClaimed, claims != name.name { move(slot, to: claims, since: before) }
        state.identify(slot)
        noteApp(state.clients[slot].app.slot, since: before)
    }

    /// A client without a vouched name claims another app.
    private mutating func move(_ slot: Slot<Client>, to name: String, since before: Facts.ForegroundApps) {
        let old = state.clients[slot].app
        let user = state.apps[old.slot].user
        state.unlink(slot, from: old)
        let row = state.row(of: AppID(name, user: user))
        let new = state.ref(row, isClaimed: true)
        state.clients[slot].app = new
        state.link(slot, to: new)
        noteApp(old.slot, since: before)
        state.release(old.slot)
    }

    mutating func declarePresence(_ id: ClientID, _ placed: Placed) {
        guard let slot = state.client(id) else { return }
        let app = state.clients[slot].app
        let said = state.apps[app.slot][app].declared
        let before = state.foregroundApps(of: state.apps[app.slot].user)
        if !said.isSomewhere { state.updateUser(of: app.slot) { $0.declared += 1 } }
        state.apps[app.slot][app].declared = placed
        noteApp(app.slot, since: before)
        if !said.says(placed), state.policy.reads.presence { notePriorities(of: app) }
    }

    mutating func lowerPriority(_ id: ClientID, _ rank: String) throws(Refusal) {
        guard let slot = state.client(id) else { return }
        let ranks = policy.ranks
        guard let wanted = ranks.firstIndex(of: rank) else {
            throw .unknown("rank", rank, of: policy.name, has: ranks, .ranksOfThePolicy)
        }
        let own = state.sessions(of: slot).map { state.look(at: $0).rank.rank }.min()
        let strongest = own ?? state.clients[slot].loweredRank.map(Int.init) ?? 0
        guard wanted >= strongest else { throw .raised("Rank", to: rank, from: ranks[strongest]) }
        if state.clientTexts[slot].loweredTo == rank { return }
        state.clientTexts[slot].loweredTo = rank
        state.identify(slot)
        touch(client: slot)
        notePriorities(of: state.clients[slot].app)
    }

    /// All cameras that the client held are free in this step.
    mutating func disconnect(_ id: ClientID) {
        guard let slot = state.client(id) else { return }
        let client = state.clients[slot]
        let before = state.foregroundApps(of: state.apps[client.app.slot].user)
        // A loop over a list whose rows change would keep a copy of the table.
        while let session = state.clients[slot].firstSession { end(session) }
        state.unlink(slot, from: client.app)
        if let login = client.login {
            state.logins[login].clients -= 1
            state.release(login)
        }
        state.clientSlots.remove(id.rawValue)
        state.clients.remove(slot)
        noteApp(client.app.slot, since: before)
        state.release(client.app.slot)
    }

    /// Looks again at a name's sessions, and at all of its user's where the number of apps in front has changed; where
    /// only the apps in front are others, at the sessions whose notices named the app beside them.
    mutating func noteApp(_ name: Slot<App>, since before: Facts.ForegroundApps) {
        let areOthersInFront = state.updateInFront(name)
        state.updateAttributes(name)
        touch(name)
        // A camera that is kept for this name is kept for the vouched app, where that is connected.
        for timer in state.timers where timer.kind == .reservation && timer.app?.slot == name {
            if let camera = timer.camera { notes.touch(camera) }
        }
        let user = state.apps[name].user
        let isNumberNew = before != state.foregroundApps(of: user)
        guard isNumberNew || areOthersInFront else { return }
        for camera in state.cameraOrder {
            let concerns = state.requests(on: camera).contains {
                (isNumberNew || state.sessions[$0].shown.namesTheAppBeside)
                    && state.apps[state.app(of: $0).slot].user == user
            }
            if concerns { notes.touch(camera) }
        }
    }
}

// MARK: Rows of clients and apps

extension State {
    /// The row of a name, made where there is none.
    mutating func row(of app: AppID) -> Slot<App> {
        if let known = appNames[app] { return known }
        generation &+= 1
        let slot = apps.insert(App(user: app.user, generation: generation))
        appNames.set(app, for: slot)
        attributes.put(AttributeValues(), at: slot)
        if let place = users.firstIndex(where: { $0.user == app.user }) {
            users[place].apps += 1
        } else {
            users.append(User(user: app.user, apps: 1))
        }
        updateAttributes(slot)
        updateWords(slot)
        return slot
    }

    /// Frees a name's row once no fact names it.
    mutating func release(_ slot: Slot<App>) {
        let app = apps[slot]
        guard !app.isConnected, !app.byShell.isSomewhere, !app.byAgent.isSomewhere, !app.hasMicrophone,
            !app.isAttributed, world.operatorChoice != slot, app.generation != 0,
            !timers.contains(where: { $0.app?.slot == slot })
        else { return }
        appNames.remove(slot)
        apps[slot].generation = 0
        apps.remove(slot)
        guard let place = users.firstIndex(where: { $0.user == app.user }) else { return }
        users[place].apps -= 1
        if users[place].apps == 0 { users.remove(at: place) }
    }

    mutating func updateUser(of app: Slot<App>, _ change: (inout User) -> Void) {
        if let place = users.firstIndex(where: { $0.user == apps[app].user }) { change(&users[place]) }
    }

    mutating func link(_ slot: Slot<Client>, to app: AppRef) {
        clients.link(slot, OfApp.self, from: &apps[app.slot][app].firstClient)
    }

    /// An app's own claims end with its last client; a shell's placement stays.
    mutating func unlink(_ slot: Slot<Client>, from app: AppRef) {
        clients.unlink(slot, OfApp.self, from: &apps[app.slot][app].firstClient)
        guard apps[app.slot][app].firstClient == nil, apps[app.slot][app].declared.isSomewhere else { return }
        apps[app.slot][app].declared = .nowhere
        updateUser(of: app.slot) { $0.declared -= 1 }
    }

    /// Finds a client's names under the policy in force.
    mutating func identify(_ slot: Slot<Client>) {
        let client = clients[slot]
        let texts = clientTexts[slot]
        let name = appNames[client.app.slot]
        clients[slot].who = policy.names.who(
            app: client.app.isClaimed ? nil : name.name, claimedApp: texts.claimedApp, user: name.user)
        clients[slot].loweredRank = texts.loweredTo.flatMap { policy.source.ranks.firstIndex(of: $0) }.map(UInt8.init)
        clients[slot].hasLoweredItself = texts.loweredTo != nil || !texts.loweredAttributes.isEmpty
        clients[slot].right = right(of: slot)
    }

    mutating func row(of login: LoginSessionID) -> Slot<Login> {
        if let known = loginNames[login] { return known }
        let slot = logins.insert(Login())
        loginNames.set(login, for: slot)
        return slot
    }

    mutating func release(_ login: Slot<Login>) {
        guard !logins[login].isKnown, logins[login].clients == 0 else { return }
        loginNames.remove(login)
        logins.remove(login)
    }
}
