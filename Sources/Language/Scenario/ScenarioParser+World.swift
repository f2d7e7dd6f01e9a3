import Arbiter
import ArbiterProtocol

extension ScenarioParser {
    static let worldCommands = ["policy", "camera", "cameras", "show"]

    mutating func place(_ app: AppID, _ presence: Presence, _ focused: Bool, by source: PresenceSource) -> [Action] {
        var actions: [Action] = []
        if source == .shell, !shellWasMentioned {
            shellWasMentioned = true
            actions.append(.event(.sourceAttached(.shell, user: nil)))
        }
        actions.append(.event(.placed(app, presence, focused: focused, by: source)))
        return actions
    }

    /// Lines with fewer words than their events, or with more than one event.
    mutating func worldOfTheUser(_ command: Word, _ words: inout Words) throws(LineProblem) -> [Action] {
        switch command.text {
        case "presence":
            let app = try app(try words.word("an app"))
            if words.take("gone") { return [.event(try event(.unplaced, &words, first: app))] }
            guard case .placed(_, let presence, let focused, let source) = try event(.placed, &words, first: app) else {
                return []
            }
            return place(app, presence, focused, by: source)
        case "shell", "agent":
            let source: PresenceSource = command.text == "shell" ? .shell : .agent
            if source == .shell { shellWasMentioned = true }
            let attaches = try words.choice("`attach` or `gone`", [("attach", true), ("gone", false)])
            return [.event(try event(attaches ? .sourceAttached : .sourceGone, &words, first: source))]
        default: return [.event(try loginSession(&words))]
        }
    }

    /// `NAME STATE [user=…] [seat=…|remote]`; missing parts stay as they were.
    private mutating func loginSession(_ words: inout Words) throws(LineProblem) -> Event {
        let name = try words.word("a login session").text
        let hasEnded = words.take("ended")
        let state = hasEnded ? (false, false) : try words.choice("its state", LoginSessionFacts.states)
        var facts = logins[name] ?? LoginSessionFacts(active: true, user: names.user)
        (facts.isActive, facts.isLocked) = state
        while let word = words.anything() {
            switch (word.key, word.text) {
            case ("user", _): facts.user = try word.user()
            case ("seat", let text): facts.seat = SeatID(text)
            case (nil, "remote"): facts.seat = nil
            default: throw word.notOne(of: ["user", "seat", "remote"])
            }
        }
        logins[name] = facts
        return hasEnded ? .loginSessionEnded(LoginSessionID(name)) : .loginSession(LoginSessionID(name), facts)
    }

    mutating func plug(_ words: inout Words) throws(LineProblem) -> [Action] {
        let camera = CameraID(try words.word("a camera").text)
        stock.cameras?.insert(camera)
        let said = words.isAtEnd
        let known = (cameras.isEmpty ? Self.defaultCameras : cameras).last { $0.id == camera }
        if said, let known { return [.event(known.event)] }
        return [.event(try self.camera(camera, &words).event)]
    }

    /// The expected notice behind an input that may name a missing camera.
    static let unknownCameraNotice = "refused UnknownCamera"

    func known(_ camera: Word) throws(LineProblem) -> CameraID {
        let id = CameraID(camera.text)
        guard let cameras = stock.cameras, !cameras.contains(id), !stock.expectsUnknownCamera else { return id }
        throw LineProblem(
            camera,
            "no camera is called “\(camera.text)”" + among(camera.text, cameras.map(\.name).sorted())
                + "; a `camera` line at the top or `plug` brings one")
    }

    func checkIsNew(client word: Word) throws(LineProblem) {
        guard stock.clients.contains(word.text) else { return }
        throw LineProblem(
            word,
            "“\(word.text)” is connected already; `disconnect \(word.text)` comes first, or a second client of the app: "
                + "connect \(word.text)-2 app=\(word.text)")
    }

    func checkIsNew(session word: Word) throws(LineProblem) {
        guard stock.sessions.contains(word.text) else { return }
        let owner = names.session(word.text).flatMap { names.client(of: $0) }.map { names.name(of: $0) } ?? word.text
        throw LineProblem(
            word,
            "“\(word.text)” is a session already; `close \(word.text)` comes first, or another name: "
                + "session \(word.text)-2 of \(owner)")
    }

    /// A client takes its sessions with it.
    mutating func forget(client name: String) {
        stock.clients.remove(name)
        guard let client = names.client(name) else { return }
        stock.sessions = stock.sessions.filter { session in
            names.session(session).flatMap { names.client(of: $0) } != client
        }
    }

    func among(_ name: String, _ names: [String]) -> String {
        if let guess = NearestWord.of(name, among: names) { return "; did you mean “\(guess)”?" }
        return names.isEmpty ? "; there is none yet" : "; there are: \(names.joined(separator: ", "))"
    }
}

/// The clients, sessions and cameras of earlier lines, to notice that a later line contradicts them.
struct Stock {
    /// `nil` for lines that are read against a running broker.
    var cameras: Set<CameraID>?
    var clients: Set<String> = []
    var sessions: Set<String> = []
    /// The next line expects that the camera is missing.
    var expectsUnknownCamera = false
    var hasInput = false
}
