import Arbiter
import ArbiterProtocol

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

    func presence(_ words: inout Words) throws(LineProblem) -> (Presence, focused: Bool) {
        let presence = try words.choice("a presence", Presence.wireNames.map { ($0, Presence(wireName: $0)) })
        return (presence ?? .background, words.take("focused"))
    }

    private func source(_ words: inout Words) throws(LineProblem) -> PresenceSource {
        guard words.take("by") else { return .shell }
        return try words.choice("a presence source", PresenceSource.allCases.map { ($0.rawValue, $0) })
    }

    mutating func worldOfTheUser(_ command: Word, _ words: inout Words) throws(LineProblem) -> [Action] {
        switch command.text {
        case "presence":
            let app = try app(&words)
            if words.take("gone") { return [.event(.unplaced(app, by: try source(&words)))] }
            let (presence, focused) = try presence(&words)
            return place(app, presence, focused, by: try source(&words))
        case "shell", "agent":
            let source: PresenceSource = command.text == "shell" ? .shell : .agent
            if source == .shell { shellWasMentioned = true }
            let attaches = try words.choice("`attach` or `gone`", [("attach", true), ("gone", false)])
            let user = try user(&words)
            return [.event(attaches ? .sourceAttached(source, user: user) : .sourceGone(source, user: user))]
        case "microphone":
            let app = try app(&words)
            let taken = try words.choice("`taken` or `released`", [("taken", true), ("released", false)])
            return [.event(.microphone(app, taken: taken))]
        case "sensitive": return [.event(.sensitiveContent(try app(&words)))]
        case "operator": return [.event(.operatorChose(words.take("none") ? nil : try app(&words)))]
        case "attribute":
            let app = try app(&words)
            let name = try words.word("an attribute").text
            // Without a value it is forgotten, and the policy's default counts.
            return [.event(.attribute(app, name: name, value: words.optionalWord()?.text))]
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
            case ("user", let text):
                guard let number = UInt32(text) else { throw LineProblem(word, "a user is a number, such as 1000") }
                facts.user = number
            case ("seat", let text): facts.seat = SeatID(text)
            case (nil, "remote"): facts.seat = nil
            default: throw LineProblem(word, notOne(word.key ?? word.text, of: ["user", "seat", "remote"]))
            }
        }
        logins[name] = facts
        return state == nil ? .loginSessionEnded(LoginSessionID(name)) : .loginSession(LoginSessionID(name), facts)
    }

    // MARK: The machine

    mutating func machine(_ command: Word, _ words: inout Words) throws(LineProblem) -> [Action] {
        switch command.text {
        case "plug":
            let camera = CameraID(try words.word("a camera").text)
            stock.cameras?.insert(camera)
            let said = words.isAtEnd
            let known = (cameras.isEmpty ? Self.defaultCameras : cameras).last { $0.id == camera }
            if said, let known { return [.event(known.event)] }
            return [.event(try self.camera(camera, &words).event)]
        case "unplug": return [.event(.cameraDisappeared(try camera(&words)))]
        case "privacy":
            let camera = try cameraOrAll(&words)
            return [.event(.privacy(camera, on: try onOff(&words)))]
        case "held-outside":
            let camera = try camera(&words)
            return [.event(.heldOutside(camera, try onOff(&words)))]
        case "pressure":
            let level = try words.choice("a level", SystemPressure.allCases.map { ($0.wireName, $0) })
            return [.event(.pressure(level))]
        case "sleep": return [.event(.sleep(true))]
        default: return [.event(.sleep(false))]
        }
    }

    private func onOff(_ words: inout Words) throws(LineProblem) -> Bool {
        try words.choice("`on` or `off`", [("on", true), ("off", false)])
    }
}
