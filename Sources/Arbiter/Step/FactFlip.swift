import ArbiterProtocol

/// One fact with another value: what `explain` tries, one at a time.
struct FactFlip {
    /// The test that holds after the flip.
    var test: FactTest

    /// Every single change of a fact that this policy can tell, in a fixed order.
    static func flips(of facts: Facts, _ policy: Policy) -> [FactFlip] {
        var candidates: [FactTest] = [
            .foreground(!facts.presence.isForeground), .focused(!facts.isFocused),
            .foregroundApps(facts.foregroundApps == .several ? .one : .several),
            .microphoneTaken(!facts.microphoneTaken), .usesAudio(!facts.usesAudio), .multitasking(!facts.multitasking),
            .operatorChosen(!facts.operatorChosen), .recording(!facts.isRecording), .claimIsNew(!facts.claimIsNew),
        ]
        candidates += Presence.Layout.allCases.filter { facts.presence.layout != $0 }.map { .layout($0) }
        candidates += ClientKind.allCases.filter { facts.client != $0 }.map { .client($0) }
        candidates += SystemPressure.allCases.filter { facts.pressure != $0 }.map { .pressure(atLeast: $0) }
        candidates += Facts.LoginState.allCases.filter { facts.loginSession != $0 }.map { .loginSession($0) }
        for attribute in policy.attributes {
            candidates += attribute.values.filter { facts.attribute(attribute.name)?.value != $0 }
                .map { .attribute(attribute.name, $0) }
        }
        let keys = Set(policy.testsRead.map(\.written.key))
        return candidates.filter { keys.contains($0.written.key) }.map { FactFlip(test: $0) }
    }

    /// The facts with this one changed, and nothing else.
    func applied(to facts: Facts, _ policy: Policy) -> Facts {
        var changed = facts
        switch test {
        case .app(let name): changed.app = name
        case .claimedApp(let name): changed.claimedApp = name
        case .user(let user): changed.user = user
        case .loginSession(let state): changed.loginSession = state
        case .foreground(let inFront): changed.presence = inFront ? .foreground(.fullscreen) : .background
        case .layout(let layout): changed.presence = .foreground(layout)
        case .focused(let focused): changed.isFocused = focused
        case .foregroundApps(let count): changed.foregroundApps = count
        case .client(let kind): changed.client = kind
        case .multitasking(let optedIn): changed.multitasking = optedIn
        case .camera(let camera): changed.camera = camera
        case .position(let position): changed.position = position
        case .usesAudio(let usesAudio): changed.usesAudio = usesAudio
        case .microphoneTaken(let taken): changed.microphoneTaken = taken
        case .pressure(let level): changed.pressure = level
        case .recording(let recording): changed.isRecording = recording
        case .claimIsNew(let isNew): changed.claimIsNew = isNew
        case .operatorChosen(let chosen): changed.operatorChosen = chosen
        case .attribute(let name, let value):
            for index in changed.attributes.indices where changed.attributes[index].name == name {
                changed.attributes[index].value = value
                changed.attributes[index].place =
                    policy.attributes.first { $0.name == name }?.place(of: value) ?? changed.attributes[index].place
            }
        }
        return changed
    }

    func turn(of subject: Explanation.Turn.Subject, from facts: Facts) -> Explanation.Turn {
        Explanation.Turn(
            of: subject, key: test.written.key, from: Self.value(of: test.written.key, facts), to: test.written.value,
            test: test)
    }

    /// The facts that a policy reads, with their values, each once and in file order.
    static func read(_ tests: [FactTest], _ facts: Facts, _ policy: Policy) -> [Explanation.Fact] {
        var read: [Explanation.Fact] = []
        for key in tests.map(\.written.key) where !read.contains(where: { $0.key == key }) {
            read.append(Explanation.Fact(key: key, value: value(of: key, facts)))
        }
        return read
    }

    private static func value(of key: String, _ facts: Facts) -> String {
        func quoted(_ text: String?) -> String { text.map { "\"\($0)\"" } ?? "none" }
        return switch key {
        case "app": quoted(facts.app)
        case "claimed-app": quoted(facts.claimedApp)
        case "user": "\(facts.user)"
        case "login-session": quoted(facts.loginSession.rawValue)
        case "presence": facts.presence.isForeground ? "\"foreground\"" : "\"background\""
        case "layout": quoted(facts.presence.layout?.rawValue)
        case "focused": "\(facts.isFocused)"
        case "foreground-apps": quoted(facts.foregroundApps.rawValue)
        case "client": quoted(facts.client.rawValue)
        case "multitasking": "\(facts.multitasking)"
        case "camera": quoted(facts.camera.name)
        case "position": quoted(facts.position.rawValue)
        case "uses-audio": "\(facts.usesAudio)"
        case "microphone": facts.microphoneTaken ? "\"taken\"" : "\"free\""
        case "pressure": quoted(facts.pressure.wireName)
        case "recording": "\(facts.isRecording)"
        case "claim": facts.claimIsNew ? "\"new\"" : "\"standing\""
        case "operator": facts.operatorChosen ? "\"chosen\"" : "\"none\""
        default: quoted(facts.attribute(key)?.value)
        }
    }
}

extension Policy {
    /// Every test of every rule, and what the order list reads, in file order.
    var testsRead: [FactTest] {
        var tests = causeRules.flatMap(\.when) + rankRules.flatMap(\.when)
        for key in contention.order {
            switch key {
            case .focused: tests.append(.focused(true))
            case .foreground: tests.append(.foreground(true))
            case .recording: tests.append(.recording(true))
            case .operatorChosen: tests.append(.operatorChosen(true))
            case .attribute(let name):
                if let attribute = attributes.first(where: { $0.name == name }) {
                    tests.append(.attribute(name, attribute.values[0]))
                }
            case .newest, .oldest: break
            }
        }
        return tests
    }
}
