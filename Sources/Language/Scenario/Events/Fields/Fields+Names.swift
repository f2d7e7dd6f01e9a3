import Arbiter
import ArbiterProtocol

// What has a name or a number of its own.

extension EventField<ClientID> {
    static var client: EventField {
        EventField(
            "client",
            .word("a client", { $1.name(of: $0).scenarioWord }) { (word, names) throws(LineProblem) in
                try names.client(word)
            }
        ).about { .client($0) }
    }
}

extension EventField<SessionID> {
    static var session: EventField {
        EventField(
            "session",
            .word("a session", { $1.name(of: $0).scenarioWord }) { (word, names) throws(LineProblem) in
                try names.session(word)
            }
        ).about { .session($0) }
    }
}

extension EventField<GrantID> {
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
        EventField("grant", Phrase({ value, _ in "grant=\(value.rawValue)" }, hear: hear)).about { .grant($0) }
    }
}

extension EventField<CameraID> {
    static var camera: EventField {
        EventField(
            "camera",
            .word("a camera", { value, _ in value.name.scenarioWord }) { (word, names) throws(LineProblem) in
                try names.camera(word)
            }
        ).about { .camera($0) }
    }
}

extension EventField<CameraID?> {
    static var cameraOrAll: EventField {
        EventField<CameraID>.camera.orNone(EventField<CameraID>.camera.phrase.or("all"))
    }
}

extension EventField<AppID> {
    static var app: EventField {
        EventField(
            ["app": "s", "user": "u"],
            .word("an app", { $1.name(of: $0) }) { (word, names) throws(LineProblem) in try names.app(word) },
            write: { app, values in
                values.add("app", .string(app.name))
                values.add("user", .uint32(app.user))
            }, read: { (line) throws(LineFault) in AppID(try line.text("app"), user: try line.integer("user")) }
        ).about { .user($0.user) }
    }
}

extension EventField<AppID?> {
    static var appOrNone: EventField {
        EventField<AppID>.app.orNone(EventField<AppID>.app.phrase.or("none")).about { app in app.map { .user($0.user) }
        }
    }
}

extension EventField<LoginSessionID> {
    static var login: EventField {
        EventField(
            "loginSession",
            .word("a login session", { id, _ in id.name.scenarioWord }) { word, _ in LoginSessionID(word.text) }
        )
        .about { .loginSession($0) }
    }
}

extension EventField<PresenceSource> {
    /// The line begins with it: `shell attach`.
    static var source: EventField {
        EventField(
            "source",
            word: .choice(
                "a presence source",
                Value.allCases.map { ([.shell, .agent].contains($0) ? $0.rawValue : "source \($0.rawValue)", $0) }))
    }
}

extension EventField<Presence> {
    static var presence: EventField { EventField("presence", word: .oneOf("a presence")) }
}

extension EventField<SystemPressure> {
    static var pressure: EventField { EventField("level", word: .oneOf("a level")) }
}

extension EventField<String?> {
    /// A mode of the policy, or `none`, which no mode is called.
    static var modeOrNone: EventField {
        let mode = EventField<String>.word("mode", "a mode, or none")
        return mode.orNone(mode.phrase.or(Mode.none))
    }

    static func optionalWord(_ key: String) -> EventField {
        EventField<String>.word(key, "").orNone(
            Phrase({ value, _ in value?.scenarioWord }) { reader in reader.words.optionalWord()?.text })
    }
}

extension EventField<AppAnswer?> {
    /// What is said, or `none`: it is forgotten.
    static var answerOrNone: EventField {
        EventField<AppAnswer>("answer", word: .oneOf("an answer")).orNone(
            .choice("an answer", AppAnswer.allCases.map { ($0.rawValue, $0) } + [("none", nil)]))
    }
}
