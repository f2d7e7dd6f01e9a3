import Arbiter
import Vocabulary

/// The facts that a policy reads, as its file writes them.
enum FactReading {
    /// What the right to a camera was read from, where it was asked: no rule of a file reads these.
    static func rights(_ verdict: CoreVerdict) -> [Explanation.Fact] {
        if let answer = answer(verdict.rule.law) { return [Explanation.Fact(key: "answer", value: answer)] }
        guard let right = verdict.right else { return [] }
        var read = [Explanation.Fact(key: "right", value: "\"\(right.rawValue)\"")]
        if let seat = verdict.seat { read.append(Explanation.Fact(key: "seat", value: "\"\(seat.name)\"")) }
        if let user = verdict.facts?.user { read.append(Explanation.Fact(key: "user", value: "\(user)")) }
        return read
    }

    /// What its user, or its desktop's permission store, said of the app, where that was the reason.
    private static func answer(_ law: Law?) -> String? {
        switch law {
        case .saidNo, .deniedInStore: "\"deny\""
        case .asks, .notAnswered, .nobodyToAsk: "none"
        default: nil
        }
    }

    /// Each once, with its value, in file order.
    static func read(_ facts: Facts, _ policy: Policy) -> [Explanation.Fact] {
        var read: [Explanation.Fact] = []
        for key in policy.testsRead.map(\.written.key) where !read.contains(where: { $0.key == key }) {
            read.append(Explanation.Fact(key: key, value: value(of: key, facts)))
        }
        return read
    }

    static func value(of key: String, _ facts: Facts) -> String {
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
        case "mode": quoted(facts.mode ?? Mode.none)
        case "recording": "\(facts.isRecording)"
        case "bid": facts.bidIsNew ? "\"new\"" : "\"standing\""
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
