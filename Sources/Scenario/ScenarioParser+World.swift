import Arbiter
import ArbiterProtocol
import EventTable

extension ScenarioParser {
    static let worldCommands = ["policy", "camera", "cameras", "show"]

    // MARK: The user's world

    mutating func place(_ app: AppID, _ presence: Presence, _ focused: Bool, by source: PresenceSource)
        -> [Action]
    {
        var actions: [Action] = []
        if source == .shell, !shellWasMentioned {
            shellWasMentioned = true
            actions.append(.event(.sourceAttached(.shell, user: nil)))
        }
        actions.append(.event(.placed(app, presence, focused: focused, by: source)))
        return actions
    }

    /// What lines say in fewer words than their events have, or say of more than one.
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
        default:
            return [.event(try loginSession(&words))]
        }
    }

    /// `NAME STATE [user=…] [seat=…|remote]`; what is not said stays as it was.
    private mutating func loginSession(_ words: inout Words) throws(LineProblem) -> Event {
        let name = try words.word("a login session").text
        let state: (active: Bool, locked: Bool)? = try words.choice(
            "its state",
            [
                ("active", (true, false)), ("inactive", (false, false)), ("locked", (true, true)),
                ("inactive-locked", (false, true)), ("ended", nil),
            ])
        var facts = logins[name] ?? LoginSessionFacts(active: true, user: names.user)
        (facts.isActive, facts.isLocked) = state ?? (false, false)
        while let word = words.anything() {
            switch (word.key, word.text) {
            case ("user", _): facts.user = try word.user()
            case ("seat", let text): facts.seat = SeatID(text)
            case (nil, "remote"): facts.seat = nil
            default: throw LineProblem(word, notOne(word.key ?? word.text, of: ["user", "seat", "remote"]))
            }
        }
        logins[name] = facts
        return state == nil ? .loginSessionEnded(LoginSessionID(name)) : .loginSession(LoginSessionID(name), facts)
    }

    // MARK: The machine

    mutating func plug(_ words: inout Words) throws(LineProblem) -> [Action] {
        let camera = CameraID(try words.word("a camera").text)
        stock.cameras?.insert(camera)
        let said = words.isAtEnd
        let known = (cameras.isEmpty ? Self.defaultCameras : cameras).last { $0.id == camera }
        if said, let known { return [.event(known.event)] }
        return [.event(try self.camera(camera, &words).event)]
    }
}
