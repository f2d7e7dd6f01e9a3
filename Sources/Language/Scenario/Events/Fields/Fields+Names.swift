import Arbiter
import ArbiterProtocol

// What has a name or a number of its own.

extension EventField where Value == ClientID {
    static var client: EventField {
        EventField(
            "client", "t",
            Phrase(
                { value, names in names.name(of: value).scenarioWord },
                hear: { (reader) throws(LineProblem) in try reader.lookup.client(try reader.words.word("a client")) }),
            wire: { .uint64($0.rawValue) }, read: { (line) throws(LineFault) in ClientID(try line.count("client")) }
        ).about { .client($0) }
    }
}

extension EventField where Value == SessionID {
    static var session: EventField {
        EventField(
            "session", "t",
            Phrase(
                { value, names in names.name(of: value).scenarioWord },
                hear: { (reader) throws(LineProblem) in try reader.lookup.session(try reader.words.word("a session")) }),
            wire: { .uint64($0.rawValue) }, read: { (line) throws(LineFault) in SessionID(try line.count("session")) }
        ).about { .session($0) }
    }
}

extension EventField where Value == GrantID {
    /// `grant=7`; where a line does not say it, the runner knows which one there is.
    static var grant: EventField { grant { (reader) throws(LineProblem) in try reader.grant() ?? GrantID(0) } }

    static var ownGrant: EventField {
        grant { (reader) throws(LineProblem) in
            guard let grant = try reader.grant() else {
                throw reader.words.problemHere("a session reclaims the grant that it had: reclaim SESSION grant=7")
            }
            return grant
        }
    }

    private static func grant(
        hear: @escaping @Sendable (inout SentenceReader) throws(LineProblem) -> GrantID
    ) -> EventField {
        EventField(
            "grant", "t", Phrase({ value, _ in "grant=\(value.rawValue)" }, hear: hear),
            wire: { .uint64($0.rawValue) }, read: { (line) throws(LineFault) in GrantID(try line.count("grant")) }
        ).about { .grant($0) }
    }
}

extension EventField where Value == CameraID {
    static var camera: EventField {
        EventField(
            "camera", "s",
            Phrase(
                { value, _ in value.name.scenarioWord },
                hear: { (reader) throws(LineProblem) in try reader.lookup.camera(try reader.words.word("a camera")) }),
            wire: { .string($0.name) }, read: { (line) throws(LineFault) in CameraID(try line.text("camera")) }
        ).about { .camera($0) }
    }
}

extension EventField where Value == CameraID? {
    /// One camera, or `all`.
    static var cameraOrAll: EventField {
        EventField(
            "camera", "s",
            Phrase(
                { value, _ in value?.name.scenarioWord ?? "all" },
                hear: { (reader) throws(LineProblem) in
                    if reader.words.take("all") { return nil }
                    return try reader.lookup.camera(try reader.words.word("a camera"))
                }),
            wire: { value in value.map { .string($0.name) } },
            read: { (line) throws(LineFault) in try line.nullableText("camera").map { CameraID($0) } })
    }
}

extension EventField where Value == AppID {
    static var app: EventField {
        EventField(
            [EventMember(key: "app", type: "s"), EventMember(key: "user", type: "u")],
            Phrase(
                { value, names in names.name(of: value) },
                hear: { (reader) throws(LineProblem) in try reader.lookup.app(try reader.words.word("an app")) }),
            write: { app, values in values.add(app) },
            read: { (line) throws(LineFault) in AppID(try line.text("app"), user: try line.integer("user")) }
        ).about { .user($0.user) }
    }
}

extension EventField where Value == AppID? {
    /// One app, or `none`.
    static var appOrNone: EventField {
        EventField(
            [EventMember(key: "app", type: "s"), EventMember(key: "user", type: "u")],
            Phrase(
                { value, names in value.map { names.name(of: $0) } ?? "none" },
                hear: { (reader) throws(LineProblem) in
                    if reader.words.take("none") { return nil }
                    return try reader.lookup.app(try reader.words.word("an app"))
                }),
            write: { app, values in values.add(app) },
            read: { (line) throws(LineFault) in
                guard let name = try line.nullableText("app") else {
                    _ = try line.nullable("user") { (line) throws(LineFault) in try line.count("user") }
                    return nil
                }
                return AppID(name, user: try line.integer("user"))
            }
        ).about { app in app.map { .user($0.user) } }
    }
}

extension EventField where Value == LoginSessionID {
    static var login: EventField {
        EventField(
            "loginSession", "s",
            Phrase(
                { value, _ in value.name.scenarioWord },
                hear: { (reader) throws(LineProblem) in
                    LoginSessionID(try reader.words.word("a login session").text)
                }),
            wire: { .string($0.name) },
            read: { (line) throws(LineFault) in LoginSessionID(try line.text("loginSession")) }
        ).about { .loginSession($0) }
    }
}

extension EventField where Value == PresenceSource {
    /// The line begins with it: `shell attach`.
    static var source: EventField {
        EventField(
            "source", "s",
            .choice(
                "a presence source",
                Value.allCases.map { ([.shell, .agent].contains($0) ? $0.rawValue : "source \($0.rawValue)", $0) }),
            wire: { .string($0.rawValue) }, read: { (line) throws(LineFault) in try line.word("source") })
    }
}

extension EventField where Value == Presence {
    static var presence: EventField {
        EventField(
            "presence", "s",
            .choice(
                "a presence", Presence.wireNames.compactMap { name in Presence(wireName: name).map { (name, $0) } }),
            wire: { .string($0.wireName) },
            read: { (line) throws(LineFault) in try line.word("presence", Presence.wireNames) { Presence(wireName: $0) }
            })
    }
}

extension EventField where Value == String? {
    /// A mode of the policy, or `none`, which no mode is called.
    static var modeOrNone: EventField {
        EventField(
            "mode", "s",
            Phrase(
                { value, _ in value?.scenarioWord ?? Mode.none },
                hear: { (reader) throws(LineProblem) in
                    if reader.words.take(Mode.none) { return nil }
                    return try reader.words.word("a mode, or none").text
                }),
            wire: { value in value.map { .string($0) } },
            read: { (line) throws(LineFault) in try line.nullableText("mode") })
    }
}

extension EventField where Value == SystemPressure {
    static var pressure: EventField {
        let levels = SystemPressure.allCases.map { (name: $0.wireName, value: $0) }
        return EventField(
            "level", "s", .choice("a level", levels), wire: { .string($0.wireName) },
            read: { (line) throws(LineFault) in
                try line.word("level", levels.map(\.name)) { SystemPressure(wireName: $0) }
            })
    }
}

extension EventField where Value == AppAnswer? {
    /// What is said, or `none`: it is forgotten.
    static var answerOrNone: EventField {
        EventField(
            "answer", "s", .choice("an answer", AppAnswer.allCases.map { ($0.rawValue, $0) } + [("none", nil)]),
            wire: { value in value.map { .string($0.rawValue) } },
            read: { (line) throws(LineFault) in
                try line.nullable("answer") { (line) throws(LineFault) in try line.word("answer") }
            })
    }
}

extension EventValues {
    mutating func add(_ app: AppID?) {
        add("app", app.map { .string($0.name) })
        add("user", app.map { .uint32($0.user) })
    }
}
