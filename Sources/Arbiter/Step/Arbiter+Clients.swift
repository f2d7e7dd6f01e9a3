import Vocabulary

extension Arbiter {
    mutating func connect(
        _ id: ClientID, _ app: AppID, _ verified: Bool, _ loginSession: LoginSessionID?,
        _ turn: inout Turn
    ) {
        precondition(state.clients[id] == nil, "client \(id.rawValue) connected twice")
        let before = foregroundApps(of: app.user)
        state.clients[id] = Client(
            id: id, app: app, isVerified: verified, attributes: ClientAttributes(), loginSession: loginSession)
        state.apps[app, default: []].insertSorted(id)
        updateInFront(app, since: before, &turn)
        // Where an app is may come from the login session of any of its clients.
        touch(app: app, &turn)
    }

    /// Before the client's first session only: what a session was decided by does not change under it.
    mutating func declare(_ id: ClientID, _ attributes: ClientAttributes, _ turn: inout Turn) {
        guard var client = state.clients[id] else { return }
        guard client.sessions.isEmpty else {
            turn.refuse(
                .refusedByPolicy,
                "A client says what it is before its first session; this one has \(client.sessions.count).",
                rule: "declare before the first session")
            return
        }
        client.attributes = attributes
        let before = client.app
        let inFront = foregroundApps(of: before.user)
        if let claimed = attributes.claimedApp, !client.isVerified, claimed != before.name {
            state.apps[before]?.removeSorted(id)
            if state.apps[before]?.isEmpty == true {
                state.apps[before] = nil
                state.world.declared[before.user]?[before] = nil
            }
            client.app = AppID(claimed, user: before.user)
            state.apps[client.app, default: []].insertSorted(id)
        }
        state.clients[id] = client
        updateInFront(before, since: inFront, &turn)
        updateInFront(client.app, since: inFront, &turn)
        // What it gave up of an attribute goes with it.
        guard before != client.app, !client.loweredAttributes.isEmpty else { return }
        touch(app: before, &turn)
        touch(app: client.app, &turn)
    }

    mutating func declarePresence(_ id: ClientID, _ presence: Presence, _ focused: Bool, _ turn: inout Turn) {
        guard let client = state.clients[id] else { return }
        let before = foregroundApps(of: client.app.user)
        state.world.declared[client.app.user, default: [:]][client.app] =
            World.Placement(presence: presence, isFocused: focused)
        updateInFront(client.app, since: before, &turn)
        touch(app: client.app, &turn)
    }

    /// Demotion only.
    mutating func lowerPriority(_ id: ClientID, _ rank: String, _ turn: inout Turn) {
        guard let client = state.clients[id] else { return }
        guard let wanted = state.policy.ranks.firstIndex(of: rank) else {
            turn.refuse(
                .invalidValue,
                "The policy \"\(state.policy.name)\" has no rank \"\(rank)\"; it has \(state.policy.ranks.joined(separator: ", ")).",
                rule: "ranks are the policy's")
            return
        }
        let strongest = client.sessions.map { rankRule(of: $0).rank }.min() ?? loweredRank(client) ?? 0
        guard wanted >= strongest else {
            turn.refuse(
                .priorityRaised,
                "Rank \"\(rank)\" is stronger than \"\(state.policy.ranks[strongest])\", the one in force; only weaker ones can be taken.",
                rule: "demotion only")
            return
        }
        state.clients[id]?.loweredTo = rank
        for session in client.sessions { touch(session, &turn) }
    }

    func loweredRank(_ client: Client) -> Int? {
        client.loweredTo.flatMap { state.policy.ranks.firstIndex(of: $0) }
    }

    /// Everything it held is free in this step.
    mutating func disconnect(_ id: ClientID, _ turn: inout Turn) {
        guard let client = state.clients[id] else { return }
        let before = foregroundApps(of: client.app.user)
        for session in client.sessions { end(session, why: .sessionEnded, &turn) }
        state.clients[id] = nil
        state.apps[client.app]?.removeSorted(id)
        if state.apps[client.app]?.isEmpty == true {
            state.apps[client.app] = nil
            // What an app said of itself ends with its last client; what a shell says of it stays.
            state.world.declared[client.app.user]?[client.app] = nil
        }
        updateInFront(client.app, since: before, &turn)
        touch(app: client.app, &turn)
    }

    // MARK: Sessions

    mutating func create(
        _ id: SessionID, _ clientID: ClientID, _ camera: CameraID?, _ configuration: Configuration,
        _ reestablished: Bool, _ turn: inout Turn
    ) {
        precondition(state.sessions[id] == nil, "session \(id.rawValue) was created twice")
        guard let client = state.clients[clientID] else { return }
        guard let chosen = camera ?? state.cameraOrder.first, let found = state.cameras[chosen] else {
            turn.refuse(.unknownCamera, unknownCamera(camera), rule: "a session is on a camera the broker knows")
            return
        }
        if let problem = ConfigurationCheck(capabilities: found.capabilities).problem(
            configuration, over: Configuration())
        {
            turn.refuse(.unsupportedConfiguration, problem, rule: "a batch is valid as a whole")
            return
        }
        var wanted = configuration
        wanted[.camera] = nil
        state.sessions[id] = Session(
            id: id, client: clientID, app: client.app, camera: chosen, isReestablished: reestablished,
            configuration: wanted, confirmed: wanted)
        state.clients[clientID]?.sessions.append(id)
        ledger.sessions[id] = Ledger.SessionLedger()
    }

    func unknownCamera(_ camera: CameraID?) -> String {
        let known = state.cameraOrder.map { "\"\($0.name)\"" }.joined(separator: ", ")
        guard let camera else { return "There is no camera at all." }
        return
            "There is no camera \"\(camera.name)\"; \(known.isEmpty ? "there is none at all" : "there are \(known)")."
    }

    mutating func close(_ id: SessionID, _ turn: inout Turn) {
        guard let session = known(id, &turn) else { return }
        end(id, why: .sessionEnded, &turn)
        state.clients[session.client]?.sessions.removeAll { $0 == id }
    }

    /// A session that ends closes silently; its camera is free in this step.
    private mutating func end(_ id: SessionID, why: RecordingEnd, _ turn: inout Turn) {
        guard let session = state.sessions[id] else { return }
        withdrawRequest(id, why: why, &turn)
        turn.cameras.insert(session.camera)
        state.sessions[id] = nil
        ledger.sessions[id] = nil
        turn.sessions.remove(id)
    }

    /// Whether the session has its camera or watches it.
    mutating func leaveCamera(_ session: Session, why: RecordingEnd, _ turn: inout Turn) {
        if state.cameras[session.camera]?.tenancy.held?.session == session.id {
            let isAlone = requests(on: session.camera).allSatisfy { $0 == session.id }
            leave(session.camera, why: why, goesOn: !isAlone, &turn)
        } else {
            closeIfSharing(session, &turn)
        }
    }

    /// Takes the start request back and leaves the camera, if the session has it. Says nothing to the client.
    mutating func withdrawRequest(_ id: SessionID, why: RecordingEnd, _ turn: inout Turn) {
        guard let session = state.sessions[id], session.request != nil else { return }
        leaveCamera(session, why: why, &turn)
        forgetRecording(id)
        state.sessions[id]?.request = nil
        state.sessions[id]?.waits = nil
        state.sessions[id]?.isReestablished = false
        state.requesting.removeSorted(id)
        state.cameras[session.camera]?.requests.removeSorted(id)
        turn.cameras.insert(session.camera)
    }
}
