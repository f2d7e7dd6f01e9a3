import Arbiter
import ArbiterProtocol
import PolicyFile

// Values with several members, and those of the machine.

extension EventField where Value == Configuration {
    /// The rest of its line.
    static func configuration(_ key: String) -> EventField {
        field(
            key,
            Phrase(
                { value, _ in value.scenarioWords },
                hear: { (reader) throws(LineProblem) in
                    var configuration = Configuration()
                    while let word = reader.words.anything() { try configuration.take(word) }
                    return configuration
                }))
    }

    /// No line says it: the runner knows what was asked.
    static func unsaid(_ key: String) -> EventField { field(key, .unsaid(Configuration())) }

    private static func field(_ key: String, _ phrase: Phrase<Configuration>) -> EventField {
        EventField(
            [key: "a{sv}"], phrase, write: { $1.add(key, $0.wireValue) },
            read: { (line) throws(LineFault) in try line.configuration(key) })
    }
}

extension EventField where Value == ClientAttributes {
    static var attributes: EventField {
        EventField(
            [
                "claimedApp": "s", "kind": "s",
                "multitasking": "b", "requiresFullScreen": "b",
            ],
            Phrase(
                { value, _ in value.scenarioWords },
                hear: { (reader) throws(LineProblem) in
                    var attributes = ClientAttributes()
                    while let word = reader.words.anything() { try attributes.take(word) }
                    return attributes
                }),
            write: { attributes, values in
                values.add("claimedApp", attributes.claimedApp.map { .string($0) })
                values.add("kind", .string(attributes.kind.rawValue))
                values.add("multitasking", .boolean(attributes.multitasking))
                values.add("requiresFullScreen", .boolean(attributes.requiresFullScreen))
            },
            read: { (line) throws(LineFault) in
                ClientAttributes(
                    claimedApp: try line.nullableText("claimedApp"), kind: try line.word("kind"),
                    multitasking: try line.flag("multitasking"),
                    requiresFullScreen: try line.flag("requiresFullScreen"))
            })
    }
}

extension EventField where Value == PhotoCaptured {
    /// `captured 1 1920x1080 bytes=1000`, with the keys of its metadata behind that; `captured 1 failed "the disk is full"`
    static var photo: EventField {
        EventField(
            [
                "photo": "t", "width": "u",
                "height": "u", "bytes": "t",
                "error": "s", "metadata": "a{sv}",
            ],
            Phrase({ value, _ in value.scenarioWords }, hear: { (reader) throws(LineProblem) in try reader.photo() }),
            write: { photo, values in
                values.add("photo", .uint64(photo.photo))
                values.add("width", .uint32(photo.width))
                values.add("height", .uint32(photo.height))
                values.add("bytes", .uint64(photo.bytes))
                values.add("error", photo.error.map { .string($0) })
                values.add("metadata", photo.metadata.map { .dictionary($0.wire) })
            },
            read: { (line) throws(LineFault) in
                PhotoCaptured(
                    photo: try line.count("photo"), width: try line.integer("width"),
                    height: try line.integer("height"), bytes: try line.count("bytes"),
                    error: try line.nullableText("error"), metadata: try line.photoMetadata("metadata"))
            })
    }
}

extension EventField where Value == CameraCapabilities {
    /// For subscribers it is in the camera's own object, where it need not be in every signal about it.
    static var capabilities: EventField {
        EventField(
            ["capabilities": "a{sv}"],
            .unsaid(CameraCapabilities(name: "", position: .external, sensorWidth: 0, sensorHeight: 0, formats: [])),
            write: { capabilities, values in values.add("capabilities", .dictionary(capabilities.wire), for: .trace) },
            read: { (line) throws(LineFault) in try line.capabilities() })
    }
}

extension EventField where Value == SeatID {
    static var seat: EventField {
        EventField(
            ["seat": "s"], .unsaid(.usual), write: { $1.add("seat", .string($0.name)) },
            read: { (line) throws(LineFault) in try line.seat() ?? .usual })
    }
}

extension EventField where Value == Policy {
    /// Subscribers have its name: the text says who may use cameras, and `GetPolicy` gives it to clients that may read it.
    static var policy: EventField {
        EventField(
            ["policy": "s", "policyHash": "s"],
            Phrase(
                { value, _ in value == .firstCome ? builtInPolicy : "\(value.name).toml".scenarioWord },
                hear: { (reader) throws(LineProblem) in
                    throw reader.words.problemHere("a policy is read with the folder that it lies in")
                }),
            write: { policy, values in
                values.add("policy", .string(policy.traceText), for: .trace)
                values.add("policy", .string(policy.name), for: .subscribers)
                values.add("policyHash", .string(policy.hash))
            },
            read: { (line) throws(LineFault) in
                let policy = try line.policy("policy")
                // It follows from the text: what counts is that text.
                _ = try line.text("policyHash")
                return policy
            })
    }
}

extension EventField where Value == Survivor? {
    /// `grant=7 [recording=3]`: what a recorder core still captures, after a restart of the broker.
    static var survivor: EventField {
        EventField(
            ["grant": "t", "recording": "t"],
            Phrase(
                { value, _ in
                    value.map { "grant=\($0.grant.rawValue)" + ($0.recording.map { " recording=\($0)" } ?? "") }
                },
                hear: { (reader) throws(LineProblem) in try reader.survivor() }),
            write: { survivor, values in
                values.add("grant", survivor.map { .uint64($0.grant.rawValue) })
                values.add("recording", survivor?.recording.map { .uint64($0) })
            },
            read: { (line) throws(LineFault) in try line.survivor() })
    }
}

extension EventField where Value == ClientIdentity {
    static var identity: EventField {
        EventField(
            [
                "verified": "b", "loginSession": "s",
                "atSeat": "b", "weak": "b",
                "own": "b", "groups": "au",
            ], .unsaid(ClientIdentity()),
            write: { identity, values in
                values.add("verified", .boolean(identity.isVerified))
                let login: LoginSessionID? = if case .session(let id) = identity.login { id } else { nil }
                values.add("loginSession", login.map { .string($0.name) })
                values.add("atSeat", .boolean(identity.login == .seat))
                values.add("weak", .boolean(identity.isWeak))
                values.add("own", .boolean(identity.isOwn))
                values.add("groups", .array(type: "u", identity.groups.map { .uint32($0) }))
            },
            read: { (line) throws(LineFault) in try line.identity() })
    }
}

extension EventField where Value == LoginSessionFacts {
    static var loginFacts: EventField {
        EventField(
            [
                "active": "b", "locked": "b",
                "seat": "s", "user": "u",
            ],
            Phrase(
                { value, _ in value.scenarioWords },
                hear: { (reader) throws(LineProblem) in
                    throw reader.words.problemHere("a login session is read with what earlier lines have said of it")
                }),
            write: { facts, values in
                values.add("active", .boolean(facts.isActive))
                values.add("locked", .boolean(facts.isLocked))
                values.add("seat", facts.seat.map { .string($0.name) })
                values.add("user", .uint32(facts.user))
            },
            read: { (line) throws(LineFault) in try line.loginSessionFacts() })
    }
}
