public import ArbiterProtocol

/// What a policy sees of one session, worked out from the world anew each time.
public struct Look: Sendable {
    public var app: String
    public var presence: Presence
    public var isFocused: Bool
    /// 0, 1, or 2 for several; 1 when nobody knows.
    public var appsInFront: Int
    public var kind: ClientKind
    public var usesAudio: Bool
    public var microphoneTaken: Bool
    public var pressure: SystemPressure
    public var isOperatorsChoice: Bool
    /// The place of the start request among all; 0 without one.
    public var started: Int
    public var loweredTo: Int
}

extension World {
    /// How long what a source said last holds when nobody else speaks (semantics.md §9, row 16).
    static let freeze = Duration.seconds(5)

    func look(at session: Session, _ policy: any HousePolicy) -> Look {
        let place = place(of: session.app, policy)
        let client = clients[session.client]
        return Look(
            app: session.app.name, presence: place.presence, isFocused: place.isFocused,
            appsInFront: appsInFront(of: session.app.user, policy), kind: client?.kind ?? .app,
            usesAudio: session.usesAudio,
            microphoneTaken: microphones.contains {
                $0 != session.app && [0, session.app.user].contains($0.user)
            },
            pressure: pressure(policy), isOperatorsChoice: operatorChoice == session.app,
            started: session.started ?? 0, loweredTo: client?.loweredTo ?? 0)
    }

    /// Where the user sees an app: the first believed source that has something to say.
    func place(of app: AppID, _ policy: any HousePolicy) -> Place {
        for source in policy.believed {
            switch source {
            case .shell, .agent:
                if let speaker = speakers[source], speaker.isThere { return speaker.place(of: app, now) }
            case .selfDeclared:
                if let place = declared[app] { return place }
            case .loginSession:
                let login = clients.values.lazy.filter { $0.app == app }.compactMap { logins[$0.login ?? noLogin] }
                    .first
                if let login { return login.isActive ? .unknown : .background }
            }
        }
        // Nobody is left: what was said last holds for a while.
        var someoneLeft = false
        for source in policy.believed {
            guard let speaker = speakers[source] else { continue }
            if speaker.isFrozen(now) { return speaker.place(of: app, now) }
            someoneLeft = true
        }
        return someoneLeft ? .background : .unknown
    }

    private var noLogin: LoginSessionID { LoginSessionID("") }

    /// How many of a user's apps are in front, up to two.
    func appsInFront(of user: UInt32, _ policy: any HousePolicy) -> Int {
        let believed = policy.believed
        guard isCountable(user, believed) else { return 1 }
        var apps = Set(clients.values.map(\.app))
        for source in believed { apps.formUnion(speakers[source]?.apps ?? []) }
        return min(2, apps.filter { $0.user == user && place(of: $0, policy).presence.isForeground }.count)
    }

    /// Whether the first source with something to say tells apps apart; a login session does not.
    private func isCountable(_ user: UInt32, _ believed: [PresenceSource]) -> Bool {
        for source in believed {
            switch source {
            case .shell, .agent: if speakers[source]?.isThere == true { return true }
            case .selfDeclared: if declared.keys.contains(where: { $0.user == user }) { return true }
            case .loginSession: if !logins.isEmpty { return false }
            }
        }
        return believed.contains { speakers[$0]?.isFrozen(now) == true }
    }

    /// The highest level of the last moments: a lower one counts once it has lasted.
    func pressure(_ policy: any HousePolicy) -> SystemPressure {
        var highest = SystemPressure.nominal
        for (index, report) in pressureReports.enumerated() {
            let isLast = index == pressureReports.count - 1
            // A report that was replaced before the window began says nothing any more.
            if !isLast, pressureReports[index + 1].at + policy.pressureSettle <= now { continue }
            highest = max(highest, report.level)
        }
        return highest
    }
}
