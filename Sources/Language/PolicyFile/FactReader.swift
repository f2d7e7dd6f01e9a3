import Arbiter
import ArbiterProtocol
import TomlFile

/// Reads the conditions of a rule: facts, each with a closed set of values.
struct FactReader {
    /// Every built-in fact a rule may read, as written in `FactTest.written`.
    static let keys = [
        "app", "claimed-app", "user", "login-session", "presence", "layout", "focused", "foreground-apps", "client",
        "multitasking", "camera", "position", "uses-audio", "microphone", "pressure", "recording", "bid", "operator",
        "mode",
    ]

    let reader: TableReader
    /// What the policy declares beside the built-in facts.
    var attributes: [Attribute] = []
    /// The modes that it declares, by their names.
    var modes: [String] = []

    /// The facts that a rule of a policy with these attributes may name.
    static func keys(with attributes: [Attribute]) -> [String] { keys + attributes.map(\.name) }

    /// The facts of a table, in the order of the file; keys that are no facts are somebody else's.
    func tests() -> [FactTest] {
        reader.table.entries.compactMap { entry in
            if let attribute = attributes.first(where: { $0.name == entry.key }) {
                return reader.choice(entry.key, attribute.values.map { ($0, .attribute(attribute.name, $0)) })
            }
            return Self.keys.contains(entry.key) ? test(entry.key) : nil
        }
    }

    private func test(_ key: String) -> FactTest? {
        switch key {
        case "app": reader.label(key).map(FactTest.app)
        case "claimed-app": reader.label(key).map(FactTest.claimedApp)
        case "user": reader.integer(key, in: 0...Int(UInt32.max - 1)).map { .user(UInt32($0)) }
        case "login-session": reader.choice(key, Facts.LoginState.self).map(FactTest.loginSession)
        case "presence": presence(key)
        case "layout": reader.choice(key, Presence.Layout.self).map(FactTest.layout)
        case "focused": reader.boolean(key).map(FactTest.focused)
        case "foreground-apps": reader.choice(key, Facts.ForegroundApps.self).map(FactTest.foregroundApps)
        case "client": reader.choice(key, ClientKind.self).map(FactTest.client)
        case "multitasking": reader.boolean(key).map(FactTest.multitasking)
        case "camera": reader.label(key).map { .camera(CameraID($0)) }
        case "position": reader.choice(key, CameraPosition.self).map(FactTest.position)
        case "uses-audio": reader.boolean(key).map(FactTest.usesAudio)
        case "microphone": reader.choice(key, [("free", false), ("taken", true)]).map(FactTest.microphoneTaken)
        case "pressure":
            reader.choice(key, SystemPressure.allCases.map { ($0.wireName, $0) }).map { .pressure(atLeast: $0) }
        case "recording": reader.boolean(key).map(FactTest.recording)
        case "bid": reader.choice(key, [("new", true), ("standing", false)]).map(FactTest.bidIsNew)
        case "operator": reader.choice(key, [("none", false), ("chosen", true)]).map(FactTest.operatorChosen)
        case "mode": mode(key)
        default: nil
        }
    }

    private func mode(_ key: String) -> FactTest? {
        if modes.isEmpty, let entry = reader.entry(key) {
            return reader.wrongType(
                entry, takes: "a mode that the policy declares, and it declares none",
                hint: "declare it: a [[mode]] table with its name")
        }
        return reader.choice(key, [(Mode.none, nil)] + modes.map { ($0, $0) }).map(FactTest.mode)
    }

    /// A layout written as a presence is the slip to expect: on the wire a presence is one of both.
    private func presence(_ key: String) -> FactTest? {
        if let entry = reader.entry(key), case .string(let text) = entry.node.value,
            Presence.Layout(rawValue: text) != nil
        {
            return reader.wrongType(
                entry, takes: Wording.list(["background", "foreground"]), hint: "write layout = \"\(text)\"")
        }
        return reader.choice(key, [("background", false), ("foreground", true)]).map(FactTest.foreground)
    }
}
