import Arbiter
import ArbiterProtocol

// Values that are a name or a number.

extension EventField {
    static var client: EventField<ClientID> {
        .init(
            "client",
            .name("a client", { $1.name(of: $0).scenarioWord }, ScenarioParser.client)
        ).about { .client($0) }
    }

    static var session: EventField<SessionID> {
        .init(
            "session",
            .name("a session", { $1.name(of: $0).scenarioWord }, ScenarioParser.session)
        ).about { .session($0) }
    }

    /// `grant=7`; without it the stage takes the grant of the camera.
    static var grant: EventField<GrantID> { grant { (reader) throws(LineProblem) in try reader.grant() ?? GrantID(0) } }

    static var ownGrant: EventField<GrantID> {
        grant { (reader) throws(LineProblem) in
            guard let grant = try reader.grant() else {
                throw reader.words.problemHere("a session reclaims the grant that it had: reclaim SESSION grant=7")
            }
            return grant
        }
    }

    private static func grant(
        hear: @escaping @Sendable (inout SentenceReader) throws(LineProblem) -> GrantID
    ) -> EventField<GrantID> {
        .init("grant", Phrase({ value, _ in "grant=\(value.rawValue)" }, hear: hear)).about { .grant($0) }
    }

    static var camera: EventField<CameraID> {
        .init(
            "camera",
            .name("a camera", { value, _ in value.name.scenarioWord }, ScenarioParser.known)
        ).about { .camera($0) }
    }

    static var cameraOrAll: EventField<CameraID?> { camera.orNone(camera.phrase.or("all")) }

    static var app: EventField<AppID> {
        .init(
            .name("an app", { $1.name(of: $0) }, ScenarioParser.app),
            EventField<String>.part("app"), EventField<UInt32>.part("user"), of: { ($0.name, $0.user) },
            make: { AppID($0, user: $1) }
        ).about { .user($0.user) }
    }

    static var appOrNone: EventField<AppID?> {
        app.orNone(app.phrase.or("none")).about { app in app.map { .user($0.user) } }
    }

    static var login: EventField<LoginSessionID> {
        .init(
            "loginSession",
            .word("a login session", \.name.scenarioWord) { LoginSessionID($0) }
        ).about { .loginSession($0) }
    }

    /// The first word of the line: `shell attach`.
    static var source: EventField<PresenceSource> {
        .init(
            "source",
            word: .choice(
                "a presence source",
                PresenceSource.allCases.map {
                    ([.shell, .agent].contains($0) ? $0.rawValue : "source \($0.rawValue)", $0)
                }))
    }

    static var presence: EventField<Presence> { .oneOf("presence", "a presence") }
    static var pressure: EventField<SystemPressure> { .oneOf("level", "a level") }

    /// A mode of the policy, or `none`, which no mode is called.
    static var modeOrNone: EventField<String?> {
        let mode = EventField<String>.word("mode", "a mode, or none")
        return mode.orNone(mode.phrase.or(Mode.none))
    }

    static func optionalWord(_ key: String) -> EventField<String?> {
        EventField<String>.word(key, "").orNone(
            Phrase({ value, _ in value?.scenarioWord }) { reader in reader.words.optionalWord()?.text })
    }

    /// `none` forgets the answer.
    static var answerOrNone: EventField<AppAnswer?> {
        EventField<AppAnswer>.oneOf("answer", "an answer").orNone(
            .choice("an answer", AppAnswer.allCases.map { ($0.rawValue, $0) } + [("none", nil)]))
    }
}
