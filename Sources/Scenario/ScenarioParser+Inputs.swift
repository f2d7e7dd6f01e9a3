import Arbiter
import ArbiterProtocol

extension ScenarioParser {
    /// One input line, from its command on.
    mutating func input(_ words: inout Words, _ block: String?) throws(LineProblem) -> [Action] {
        let command = try words.word("a command")
        switch command.text {
        case "connect": return try connect(&words)
        case "disconnect":
            let name = words.peek?.text ?? ""
            let client = try client(&words)
            forget(client: name)
            return [.event(.disconnected(client))]
        case "declare": return [.event(.declared(try client(&words), try attributes(&words)))]
        case "declare-presence":
            let client = try client(&words)
            let (presence, focused) = try presence(&words)
            return [.event(.declaredPresence(client, presence, focused: focused))]
        case "lower":
            let client = try client(&words)
            let first = try words.word("a rank, or an attribute and its value")
            guard let value = words.optionalWord() else { return [.event(.loweredPriority(client, rank: first.text))] }
            return [.event(.loweredAttribute(client, attribute: first.text, to: value.text))]
        case "session": return try createSession(&words)
        case "start": return [.event(.startRunning(try session(&words)))]
        case "reclaim":
            let session = try session(&words)
            guard let grant = try grant(&words) else {
                throw LineProblem(command, "a session reclaims the grant that it had: reclaim SESSION grant=7")
            }
            return [.event(.reclaimed(session, grant))]
        case "stop": return [.event(.stopRunning(try session(&words)))]
        case "begin": return [.event(.beginConfiguration(try session(&words)))]
        case "commit": return [.event(.commitConfiguration(try session(&words)))]
        case "configure":
            let session = try session(&words)
            return [.event(.configure(session, try configuration(&words)))]
        case "stream": return [.event(.openStream(try session(&words)))]
        case "photo": return [.event(.capturePhoto(try session(&words)))]
        case "record": return [.event(.startRecording(try session(&words)))]
        case "stop-record": return [.event(.stopRecording(try session(&words)))]
        case "ready": return try ready(&words)
        case "continue": return [.event(.continueAfterSensitiveContent(try session(&words)))]
        case "close":
            let name = words.peek?.text ?? ""
            let session = try session(&words)
            stock.sessions.remove(name)
            return [.event(.closed(session))]
        case "presence", "shell", "agent", "microphone", "sensitive", "operator", "attribute", "login-session":
            return try worldOfTheUser(command, &words)
        case "answer", "answer-question", "questions", "stop-app", "own-privacy":
            return [.event(try permission(command, &words))]
        case "plug", "unplug", "privacy", "held-outside", "pressure", "sleep", "wake":
            return try machine(command, &words)
        case "recorder", "finished", "captured": return try recorder(command, &words)
        case "policy-reload": return [.event(.policyLoaded(try readPolicy(&words, block)))]
        case "reserve":
            let camera = try camera(&words)
            let app = try app(&words)
            return [.event(.reserved(camera, app, survivor: try survivor(&words)))]
        default:
            throw LineProblem(command, notOne(command.text, of: Self.commands))
        }
    }

    static let commands = [
        "connect", "disconnect", "declare", "declare-presence", "lower", "session", "start", "reclaim", "stop", "begin",
        "commit", "configure", "stream", "photo", "record", "stop-record", "ready", "continue", "close", "presence",
        "shell", "agent", "microphone", "sensitive", "operator", "attribute", "login-session", "plug", "unplug",
        "privacy", "answer", "answer-question", "questions", "stop-app", "own-privacy",
        "held-outside", "pressure", "sleep", "wake", "recorder", "finished", "captured", "policy-reload", "reserve",
    ]

    /// `grant=7`, if that is what comes next.
    func grant(_ words: inout Words) throws(LineProblem) -> GrantID? {
        guard let word = words.peek, word.key == "grant" else { return nil }
        _ = words.anything()
        guard let number = UInt64(word.text) else { throw LineProblem(word, "a grant is a whole number") }
        return GrantID(number)
    }

    /// `grant=7 [recording=3]`: what a recorder core still captures, after a restart of the broker.
    private func survivor(_ words: inout Words) throws(LineProblem) -> Survivor? {
        guard let grant = try grant(&words) else { return nil }
        guard let word = words.peek, word.key == "recording" else { return Survivor(grant: grant) }
        _ = words.anything()
        guard let recording = UInt64(word.text) else { throw LineProblem(word, "a recording is a whole number") }
        return Survivor(grant: grant, recording: recording)
    }

    // MARK: Things with names

    func client(_ words: inout Words) throws(LineProblem) -> ClientID {
        let word = try words.word("a client")
        guard let client = names.client(word.text) else {
            throw LineProblem(word, "no client is called “\(word.text)”" + among(word.text, names.clientNames))
        }
        return client
    }

    func session(_ words: inout Words) throws(LineProblem) -> SessionID {
        let word = try words.word("a session")
        guard let session = names.session(word.text) else {
            throw LineProblem(word, "no session is called “\(word.text)”" + among(word.text, names.sessionNames))
        }
        return session
    }

    func app(_ words: inout Words) throws(LineProblem) -> AppID { names.app(try words.word("an app").text) }

    func camera(_ words: inout Words) throws(LineProblem) -> CameraID {
        try known(try words.word("a camera"))
    }

    /// `all`: nil.
    func cameraOrAll(_ words: inout Words) throws(LineProblem) -> CameraID? {
        words.take("all") ? nil : try camera(&words)
    }

    // MARK: Clients

    private mutating func connect(_ words: inout Words) throws(LineProblem) -> [Action] {
        let named = try words.word("a name for the client")
        try checkIsNew(client: named)
        let name = named.text
        var appName = name
        var user = names.user
        var login = LoginMembership.seat
        var (weak, own) = (false, false)
        var groups: [UInt32] = []
        var placed: Presence?
        var attributes = ClientAttributes()
        var verified = true
        // Nobody vouches for the app, and it claims nothing itself.
        var saysNothing = false
        var focused = false
        while let word = words.anything() {
            switch (word.key, word.text) {
            case ("app", let text): appName = text
            case ("user", let text):
                guard let number = UInt32(text) else { throw LineProblem(word, "a user is a number, such as 1000") }
                user = number
            case ("login", "none") where !word.isQuoted: login = .outside
            case ("login", let text): login = .session(LoginSessionID(text))
            case ("groups", let text):
                let numbers = text.split(separator: ",").map { UInt32($0) }
                guard !numbers.contains(nil) else { throw LineProblem(word, "groups are numbers, such as 44,1000") }
                groups = numbers.compactMap { $0 }
            case (nil, "weak"): weak = true
            case (nil, "own-broker"): own = true
            case ("presence", let text):
                guard let presence = Presence(wireName: text) else {
                    throw LineProblem(word, notOne(text, of: Presence.wireNames))
                }
                placed = presence
            case ("claimed", let text): attributes.claimedApp = text
            case (nil, "claimed"): verified = false
            case (nil, "unverified"):
                verified = false
                saysNothing = true
            case (nil, "focused"): focused = true
            default: try attribute(word, &attributes)
            }
        }
        let app = AppID(appName, user: user)
        if !verified, !saysNothing, attributes.claimedApp == nil { attributes.claimedApp = appName }
        let client = names.addClient(name, app: app)
        if !isPlan { stock.clients.insert(name) }
        let identity = ClientIdentity(verified: verified, weak: weak, groups: groups, login: login, own: own)
        var actions = tell(login, of: user) + [.event(.connected(client, app: app, identity))]
        if attributes != ClientAttributes() { actions.append(.event(.declared(client, attributes))) }
        if let placed { actions += place(app, placed, focused, by: .shell) }
        return actions
    }

    /// A login session that nobody has spoken of is there with its first client. A running broker has its own.
    private mutating func tell(_ login: LoginMembership, of user: UInt32) -> [Action] {
        guard !isPlan, case .session(let id) = login, logins[id.name] == nil else { return [] }
        let facts = LoginSessionFacts(active: true, user: user)
        logins[id.name] = facts
        return [.event(.loginSession(id, facts))]
    }

    private func attributes(_ words: inout Words) throws(LineProblem) -> ClientAttributes {
        var attributes = ClientAttributes()
        while let word = words.anything() {
            if word.key == "claimed" { attributes.claimedApp = word.text } else { try attribute(word, &attributes) }
        }
        return attributes
    }

    private func attribute(_ word: Word, _ attributes: inout ClientAttributes) throws(LineProblem) {
        switch (word.key, word.text) {
        case (nil, "multitasking"): attributes.multitasking = true
        case (nil, "full-screen"): attributes.requiresFullScreen = true
        case ("kind", let text):
            guard let kind = ClientKind(rawValue: text) else {
                throw LineProblem(word, notOne(text, of: ClientKind.allCases.map(\.rawValue)))
            }
            attributes.kind = kind
        default:
            throw LineProblem(
                word,
                notOne(
                    word.key ?? word.text,
                    of: [
                        "app", "user", "login", "groups", "weak", "own-broker", "presence", "kind", "claimed",
                        "unverified", "multitasking", "full-screen", "focused",
                    ]))
        }
    }

    // MARK: Sessions

    /// `session NAME [of CLIENT] [camera=…] [KEY=…]… [audio] [reestablished]`
    private mutating func createSession(_ words: inout Words) throws(LineProblem) -> [Action] {
        let word = try words.word("a name for the session")
        try checkIsNew(session: word)
        let owner: ClientID
        if words.take("of") {
            owner = try client(&words)
        } else if let client = names.client(word.text) {
            owner = client
        } else {
            throw LineProblem(word, "no client is called “\(word.text)”: say whose session it is with `of CLIENT`")
        }
        var asked = Configuration()
        var reestablished = false
        while let word = words.anything() {
            switch (word.key, word.text) {
            case (nil, "audio"): asked[.usesAudio] = .flag(true)
            case (nil, "reestablished"): reestablished = true
            case ("camera", _) where !word.isQuoted:
                asked[.camera] = .text(try known(word).name)
            default: try setting(word, &asked)
            }
        }
        var camera: CameraID?
        if case .text(let name)? = asked[.camera] {
            camera = CameraID(name)
            asked[.camera] = nil
        }
        let session = names.addSession(word.text, client: owner)
        if !isPlan { stock.sessions.insert(word.text) }
        return [.event(.created(session, owner, camera: camera, asked, reestablished: reestablished))]
    }

    func configuration(_ words: inout Words) throws(LineProblem) -> Configuration {
        var configuration = Configuration()
        while let word = words.anything() {
            if word.key == nil, word.text == "audio" {
                configuration[.usesAudio] = .flag(true)
            } else {
                try setting(word, &configuration)
            }
        }
        return configuration
    }

    private func setting(_ word: Word, _ configuration: inout Configuration) throws(LineProblem) {
        guard let name = word.key, let key = ConfigurationKey(rawValue: name) else {
            throw LineProblem(word, notOne(word.key ?? word.text, of: ConfigurationKey.allCases.map(\.rawValue)))
        }
        // A quoted number stays text: so that a scenario can ask for nonsense, too.
        if word.isQuoted {
            configuration[key] = .text(word.text)
        } else if let number = Double(word.text) {
            configuration[key] = .number(number)
        } else if let flag = Bool(word.text) {
            configuration[key] = .flag(flag)
        } else {
            configuration[key] = .text(word.text)
        }
    }

    private func ready(_ words: inout Words) throws(LineProblem) -> [Action] {
        let session = try session(&words)
        guard let word = words.optionalWord() else { return [.ready(session, nil)] }
        guard word.text.first == "#", let id = UInt64(word.text.dropFirst()) else {
            throw LineProblem(word, "an interruption is written #1")
        }
        return [.ready(session, id)]
    }
}
