public import ArbiterProtocol

/// What users say of their apps, asked anew each time.
extension WholeWorld {
    enum Leave { case given, wanted, denied }

    func leave(_ session: Session, _ rights: HouseRights) -> Leave {
        let app = app(session)
        if app.id.user == 0 { return .given }
        if denied.contains(app.id) { return .denied }
        switch answers[app] {
        case .allow: return .given
        case .deny: return .denied
        case nil: return rights.asks && (app.isClaimed || !rights.services.contains(app.id.name)) ? .wanted : .given
        }
    }

    /// Its user could be asked now.
    func asks(_ session: Session, _ rights: HouseRights) -> Bool {
        session.started != nil && leave(session, rights) == .wanted && !isAsleep && !isAway(session, rights)
    }
}

extension ReferenceArbiter {
    /// - Returns: false: that cannot be said.
    public mutating func say(_ app: WholeWorld.App, _ answer: AppAnswer?, inStore: Bool) -> Bool {
        if app.id.user == 0 { return false }
        if inStore {
            if app.isClaimed || answer == .allow { return false }
            if answer == nil { world.denied.remove(app.id) } else { world.denied.insert(app.id) }
        } else {
            world.answers[app] = answer
        }
        for (id, session) in world.sessions
        where session.started != nil && world.leave(session, policy.rights) == .denied { stop(id) }
        return true
    }

    /// - Returns: false: nothing of that app is asked now.
    public mutating func answer(_ app: WholeWorld.App, _ answer: AppAnswer) -> Bool {
        guard world.questions[app.id.user]?.app == app else { return false }
        return say(app, answer, inStore: false)
    }

    /// - Returns: false: no app of the name asks for a camera.
    public mutating func stop(named app: AppID) -> Bool {
        let own = world.sessions.filter { $0.value.started != nil && world.app($0.value).id == app }
        for id in own.keys { stop(id) }
        return !own.isEmpty
    }

    // MARK: Questions

    /// So long an answer counts.
    static let questionTime = Duration.seconds(30)

    /// Ends questions about apps that no longer ask, and asks each free user about the app that asked first.
    mutating func noteQuestions() {
        let asking = world.sessions.filter { world.asks($0.value, policy.rights) }.values.sorted {
            ($0.started ?? 0) < ($1.started ?? 0)
        }
        for (user, question) in world.questions where !asking.contains(where: { world.app($0) == question.app }) {
            world.questions[user] = nil
        }
        for session in asking {
            let app = world.app(session)
            if world.questions[app.id.user] != nil { continue }
            world.questions[app.id.user] = WholeWorld.Question(app: app, until: world.now + Self.questionTime)
        }
    }

    /// Stops apps that were not answered in time.
    mutating func endQuestions() {
        for (user, question) in world.questions where question.until <= world.now {
            world.questions[user] = nil
            for (id, session) in world.sessions where session.started != nil && world.app(session) == question.app {
                stop(id)
            }
        }
    }
}
