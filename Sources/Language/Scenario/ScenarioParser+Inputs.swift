import Arbiter
import ArbiterProtocol

extension ScenarioParser {
    mutating func input(_ words: inout Words, _ block: String?) throws(LineProblem) -> [Action] {
        let command = try words.word("a command")
        switch command.text {
        case "connect": return try connect(&words)
        case "lower":
            // An attribute has a value behind it, and a rank has none.
            let isAttribute = words.count > 2
            return [.event(try event(isAttribute ? .loweredAttribute : .loweredPriority, &words))]
        case "session": return try createSession(&words)
        case "ready": return try ready(&words)
        case "presence", "shell", "agent", "login-session": return try worldOfTheUser(command, &words)
        case "plug": return try plug(&words)
        case "sleep", "wake": return [.event(.sleep(command.text == "sleep"))]
        case Sentence.recorderCommand: return try recorder(&words)
        case "policy-reload": return [.event(.policyLoaded(try readPolicy(&words, block)))]
        default:
            guard let described = EventDescription.with(command: command.text).first else {
                throw command.notOne(of: EventDescription.commands)
            }
            return [.event(try event(described.kind, &words))]
        }
    }

    /// - Parameter first: the event's first value, where it has been read.
    mutating func event(
        _ kind: EventKind, _ words: inout Words, first: (any Sendable)? = nil
    ) throws(LineProblem) -> Event {
        var reader = SentenceReader(words, self)
        let event = try EventDescription.of(kind).hear(&reader, first: first)
        words = reader.words
        switch event {
        case .disconnected(let client): forget(client: names.name(of: client))
        case .closed(let session): stock.sessions.remove(names.name(of: session))
        default: break
        }
        return event
    }

    func client(_ word: Word) throws(LineProblem) -> ClientID {
        guard let client = names.client(word.text) else {
            throw LineProblem(word, "no client is called “\(word.text)”" + among(word.text, names.clientNames))
        }
        return client
    }

    func session(_ word: Word) throws(LineProblem) -> SessionID {
        guard let session = names.session(word.text) else {
            throw LineProblem(word, "no session is called “\(word.text)”" + among(word.text, names.sessionNames))
        }
        return session
    }

    func app(_ word: Word) throws(LineProblem) -> AppID {
        if let ambiguity = names.ambiguity(of: word.text) { throw LineProblem(word, ambiguity) }
        return names.app(word.text)
    }

    private mutating func connect(_ words: inout Words) throws(LineProblem) -> [Action] {
        let named = try words.word("a name for the client")
        try checkIsNew(client: named)
        let name = named.text
        var appName = name
        var user = names.user
        var identity = ClientIdentity()
        var groups: [UInt32] = []
        var placed: Presence?
        var attributes = ClientAttributes()
        var claimsItself = false
        var focused = false
        while let word = words.anything() {
            switch (word.key, word.text) {
            case ("app", let text): appName = text
            case ("user", _): user = try word.user()
            case ("login", "none") where !word.isQuoted: identity.login = .outside
            case ("login", let text): identity.login = .session(LoginSessionID(text))
            case ("groups", let text):
                let numbers = text.split(separator: ",").map { UInt32($0) }
                guard !numbers.contains(nil) else { throw LineProblem(word, "groups are numbers, such as 44,1000") }
                groups = numbers.compactMap { $0 }
            case (nil, "weak"): identity.isWeak = true
            case (nil, "own-broker"): identity.isOwn = true
            case ("presence", _): placed = try word.oneOf()
            case (nil, "claimed"): (identity.isVerified, claimsItself) = (false, true)
            case (nil, "unverified"): identity.isVerified = false
            case (nil, "focused"): focused = true
            default: try attributes.take(word)
            }
        }
        let app = AppID(appName, user: user)
        if claimsItself, attributes.claimedApp == nil { attributes.claimedApp = appName }
        let client = names.addClient(name, app: app)
        if !isPlan { stock.clients.insert(name) }
        identity = ClientIdentity(
            verified: identity.isVerified, weak: identity.isWeak, groups: groups, login: identity.login,
            own: identity.isOwn)
        var actions = tell(identity.login, of: user) + [.event(.connected(client, app: app, identity))]
        if attributes != ClientAttributes() { actions.append(.event(.declared(client, attributes))) }
        if let placed { actions += place(app, placed, focused, by: .shell) }
        return actions
    }

    /// A login session appears with its first client, unless a line brings it. A running broker has its own.
    private mutating func tell(_ login: LoginMembership, of user: UInt32) -> [Action] {
        guard !isPlan, case .session(let id) = login, logins[id.name] == nil else { return [] }
        let facts = LoginSessionFacts(active: true, user: user)
        logins[id.name] = facts
        return [.event(.loginSession(id, facts))]
    }

    /// `session NAME [of CLIENT] [camera=…] [KEY=…]… [audio] [reestablished]`
    private mutating func createSession(_ words: inout Words) throws(LineProblem) -> [Action] {
        let word = try words.word("a name for the session")
        try checkIsNew(session: word)
        let owner: ClientID
        if words.take("of") {
            owner = try client(try words.word("a client"))
        } else if let client = names.client(word.text) {
            owner = client
        } else {
            throw LineProblem(word, "no client is called “\(word.text)”: say whose session it is with `of CLIENT`")
        }
        var asked = Configuration()
        var camera: CameraID?
        var reestablished = false
        while let word = words.anything() {
            switch (word.key, word.text) {
            case (nil, "reestablished"): reestablished = true
            case ("camera", let text): camera = word.isQuoted ? CameraID(text) : try known(word)
            default: try asked.take(word)
            }
        }
        let session = names.addSession(word.text, client: owner)
        if !isPlan { stock.sessions.insert(word.text) }
        return [.event(.created(session, owner, camera: camera, asked, reestablished: reestablished))]
    }

    private mutating func ready(_ words: inout Words) throws(LineProblem) -> [Action] {
        let session = try session(try words.word("a session"))
        if words.isAtEnd { return [.ready(session, nil)] }
        guard case .ready(_, let id) = try event(.ready, &words, first: session) else { return [] }
        return [.ready(session, id)]
    }
}
