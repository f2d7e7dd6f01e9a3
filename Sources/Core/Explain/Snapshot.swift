public import Arbiter
public import Vocabulary

extension Arbiter {
    /// All that later decisions depend on. The policy is kept beside it as text, and comes back under
    /// `CodingUserInfoKey.policy`. The form follows the state: the version of a trace counts.
    public struct Snapshot: Sendable, Codable {
        var state: State
        var decision: DecisionID

        /// The moment of the last step.
        public var now: Moment { state.now }
        public var policy: Policy { state.policy.source }

        init(state: State, decision: DecisionID) {
            self.state = state
            self.decision = decision
        }

        public init(from decoder: any Decoder) throws {
            guard let policy = decoder.userInfo[.policy] as? Policy else {
                throw DecodingError.dataCorrupted(
                    .init(codingPath: decoder.codingPath, debugDescription: "a snapshot is read with its policy"))
            }
            let members = try decoder.container(keyedBy: CodingKeys.self)
            state = try members.decode(State.self, forKey: .state)
            state.policy = CompiledPolicy(policy)
            decision = try members.decode(DecisionID.self, forKey: .decision)
        }
    }

    public func snapshot() -> Snapshot { Snapshot(state: state, decision: lastDecision) }

    /// - Throws: where the snapshot contradicts itself, which no snapshot of the core does.
    public init(restoring snapshot: Snapshot) throws(BrokenSnapshot) {
        if let wrong = snapshot.state.contradiction { throw BrokenSnapshot(message: wrong) }
        self.init(state: snapshot.state, decision: snapshot.decision)
        if let wrong = violations().first { throw BrokenSnapshot(message: wrong) }
    }

    public struct BrokenSnapshot: Error { public var message: String }

    /// Why `configure` would be refused at this moment, by a copy that is configured; `nil` where it would not.
    /// - Parameter now: never earlier than in the last step.
    public func refusal(of batch: Configuration, by session: SessionID, at now: Moment) -> Refusal? {
        var copy = self
        var memory = StepMemory(for: self)
        copy.step(.configure(session, batch), at: now, in: &memory)
        for case .refused(let refusal) in memory.effects { return refusal }
        return nil
    }
}

extension CodingUserInfoKey {
    /// The policy of the snapshot that is read.
    public static var policy: CodingUserInfoKey {
        guard let key = CodingUserInfoKey(rawValue: "org.camarb.policy") else {
            preconditionFailure("any text is a key")
        }
        return key
    }
}

extension State {
    /// A contradiction that a hand-made snapshot may have, and a step takes for impossible.
    var contradiction: String? {
        guard now >= .zero else { return "its moment is before the clock's origin" }
        if let wrong = wrongTables ?? wrongRows ?? wrongLists { return wrong }
        guard cameraOrder == cameraOrder.sorted(by: { id($0) < id($1) }),
            cameraOrder.count == cameras.rows.count, Set(cameraOrder).count == cameraOrder.count
        else { return "the cameras are not in order" }
        guard (1...Bound.seatsMax).contains(seats.count), Set(seats).count == seats.count,
            cameras.rows.allSatisfy({ Int($0.seat) < seats.count }),
            logins.rows.allSatisfy({ Int($0.seat) < seats.count })
        else { return "something is at a seat that is not there" }
        guard world.mode == modeWords.place(in: policy.source.modes) else {
            return "the mode in force is not the one said"
        }
        return nil
    }

    private func isIn<Row>(_ slot: Slot<Row>?, _ table: Table<Row>) -> Bool {
        slot.map { $0.index >= 0 && Int($0.index) < table.rows.count } ?? true
    }

    private var wrongTables: String? {
        guard clientTexts.count == clients.rows.count, sessionSettings.count == sessions.rows.count,
            cameraSettings.count == cameras.rows.count, attributes.count == apps.rows.count
        else { return "a table has rows without their words" }
        guard clientSlots.isSound(clients), sessionSlots.isSound(sessions) else { return "an id has no row of its own" }
        guard clientSlots.slots.allSatisfy({ clientSlots[clients[$0].id] == $0 }),
            sessionSlots.slots.allSatisfy({ sessionSlots[sessions[$0].id] == $0 })
        else { return "a row has another id" }
        guard cameraOrder.allSatisfy({ isIn($0, cameras) && cameraNames.isNamed($0) }),
            apps.rows.indices.allSatisfy({ apps.rows[$0].generation == 0 || appNames.isNamed(Slot($0)) }),
            microphones.allSatisfy({ isThere($0) }), isThere(world.operatorChoice)
        else { return "a camera or an app has no name" }
        return nil
    }

    private func isThere(_ app: Slot<App>?) -> Bool { app.map { isIn($0, apps) && apps[$0].generation != 0 } ?? true }

    private func isApp(_ app: AppRef?) -> Bool { app.map { isThere($0.slot) && isThere($0) } ?? true }

    private var wrongRows: String? {
        for slot in clientSlots.slots {
            let client = clients[slot]
            guard isApp(client.app), isIn(client.login, logins), isIn(client.firstSession, sessions),
                isIn(client.nextOfApp, clients)
            else { return "client \(client.id) belongs to nothing that is there" }
        }
        for slot in sessionSlots.slots {
            let session = sessions[slot]
            guard isIn(session.client, clients), clientSlots[clients[session.client].id] == session.client,
                isIn(session.camera, cameras), isIn(session.nextOfClient, sessions),
                isIn(session.nextOnCamera, sessions)
            else { return "session \(session.id) belongs to nothing that is there" }
            if let rule = session.waits?.rule, !isRule(rule) { return "session \(session.id) waits by no rule" }
            if let by = session.waits?.interrupter, !isIn(by.slot, apps) {
                return "session \(session.id) waits for no app"
            }
        }
        for slot in cameraOrder {
            let camera = cameras[slot]
            let held = camera.tenancy.held
            for session in [held?.session, camera.contest?.beneficiary, camera.promise?.session].compactMap({ $0 }) {
                guard isIn(session, sessions), sessionSlots[sessions[session].id] == session else {
                    return "\(id(slot).name) is held by a session that is gone"
                }
            }
            for rule in [held?.rule, camera.contest?.rule, camera.promise?.rule].compactMap({ $0 }) where !isRule(rule)
            {
                return "\(id(slot).name) is held by no rule"
            }
        }
        for timer in timers where !(isIn(timer.camera, cameras) && isIn(timer.session, sessions) && isApp(timer.app)) {
            return "something ends that nothing has"
        }
        return nil
    }

    private func isRule(_ rule: Rule) -> Bool {
        rule.kind == .law ? rule.law != nil : Int(rule.index) < policy.texts.count + carriedTexts.count
    }

    /// Every row is in just the lists that it belongs to, so that following them comes to an end.
    private var wrongLists: String? {
        var seen: [Int32: Int] = [:]
        for camera in cameraOrder {
            var place = cameras[camera].firstRequest
            while let slot = place {
                guard isIn(slot, sessions), seen.updateValue(1, forKey: slot.index) == nil,
                    sessions[slot].camera == camera, sessions[slot].request != nil
                else { return "the sessions that ask are not in order" }
                place = sessions[slot].nextOnCamera
            }
        }
        let asking = sessionSlots.slots.filter { sessions[$0].request != nil }.count
        guard seen.count == asking else { return "a session asks, and its camera does not know" }
        seen = [:]
        for client in clientSlots.slots {
            var place = clients[client].firstSession
            while let slot = place {
                guard isIn(slot, sessions), seen.updateValue(1, forKey: slot.index) == nil,
                    sessions[slot].client == client
                else { return "the sessions of client \(clients[client].id) are not its own" }
                place = sessions[slot].nextOfClient
            }
        }
        return seen.count == sessionSlots.count ? wrongClients : "a session has lost its client"
    }

    private var wrongClients: String? {
        var seen: [Int32: Int] = [:]
        for app in namedApps {
            for isClaimed in [false, true] {
                let ref = ref(app, isClaimed: isClaimed)
                var place = apps[app][ref].firstClient
                while let slot = place {
                    guard isIn(slot, clients), seen.updateValue(1, forKey: slot.index) == nil, clients[slot].app == ref
                    else { return "\(id(app).name) has a client that is not there" }
                    place = clients[slot].nextOfApp
                }
            }
        }
        return seen.count == clientSlots.count ? nil : "a client has no app"
    }
}

extension Directory {
    /// Ids grow, and each stands for a row of its own.
    fileprivate func isSound(_ table: Table<Row>) -> Bool where Row: Codable & Sendable & BitwiseCopyable {
        count == Set(slots).count && slots.allSatisfy { $0.index >= 0 && Int($0.index) < table.rows.count } && isSorted
    }
}
