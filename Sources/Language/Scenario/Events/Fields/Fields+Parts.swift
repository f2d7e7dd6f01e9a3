import Arbiter
import ArbiterProtocol
import PolicyFile

// Values with several members, and those of the machine.

extension EventField {
    static func configuration(_ key: String) -> EventField<Configuration> {
        field(
            key,
            .rest(Configuration(), \.scenarioWords) { (value, word) throws(LineProblem) in try value.take(word) })
    }

    /// No line says it: the runner knows what was asked.
    static func unsaid(_ key: String) -> EventField<Configuration> { field(key, .unsaid(Configuration())) }

    private static func field(_ key: String, _ phrase: Phrase<Configuration>) -> EventField<Configuration> {
        .init(
            [key: "a{sv}"], phrase, write: { $1.add(key, $0.wireValue) },
            read: { (line) throws(LineFault) in try line.configuration(key) })
    }

    static var attributes: EventField<ClientAttributes> {
        .init(
            .rest(ClientAttributes(), \.scenarioWords) { (value, word) throws(LineProblem) in try value.take(word) },
            EventField<String>.part("claimedApp").orNone(), EventField<ClientKind>.part("kind"),
            EventField<Bool>.part("multitasking"), EventField<Bool>.part("requiresFullScreen"),
            of: { ($0.claimedApp, $0.kind, $0.multitasking, $0.requiresFullScreen) },
            make: { ClientAttributes(claimedApp: $0, kind: $1, multitasking: $2, requiresFullScreen: $3) })
    }

    /// `captured 1 1920x1080 bytes=1000`, with the keys of its metadata behind that; `captured 1 failed "the disk is full"`
    static var photo: EventField<PhotoCaptured> {
        .init(
            Phrase({ value, _ in value.scenarioWords }, hear: { (reader) throws(LineProblem) in try reader.photo() }),
            EventField<UInt64>.part("photo"), EventField<UInt32>.part("width"), EventField<UInt32>.part("height"),
            EventField<UInt64>.part("bytes"), EventField<String>.part("error").orNone(), metadata,
            of: { ($0.photo, $0.width, $0.height, $0.bytes, $0.error, $0.metadata) },
            make: { PhotoCaptured(photo: $0, width: $1, height: $2, bytes: $3, error: $4, metadata: $5) })
    }

    /// Traces of before photos had any have none.
    private static var metadata: EventField<PhotoMetadata?> {
        EventField<PhotoMetadata>(
            ["metadata": "a{sv}"], .silent, write: { $1.add("metadata", .dictionary($0.wire)) },
            read: { (line) throws(LineFault) in
                try line.described("metadata", "photo's") { (wire) throws(BrokerError) in try PhotoMetadata(wire: wire)
                }
            }
        ).orNone().later(nil)
    }

    /// For subscribers it is in the camera's own object, where it need not be in every signal about it.
    static var capabilities: EventField<CameraCapabilities> {
        .init(
            ["capabilities": "a{sv}"],
            .unsaid(CameraCapabilities(name: "", position: .external, sensorWidth: 0, sensorHeight: 0, formats: [])),
            write: { capabilities, values in values.add("capabilities", .dictionary(capabilities.wire), for: .trace) },
            read: { (line) throws(LineFault) in
                try line.described("capabilities", "camera's") { (wire) throws(BrokerError) in
                    try CameraCapabilities(wire: wire)
                }
            })
    }

    static var seat: EventField<SeatID> {
        let name = EventField<String>.part("seat").orNone().later(nil)
        // Read by hand: Swift 6.3's optimizer crashes on a value of a single part that may be missing.
        return .init(
            name.members, .unsaid(.usual), write: { name.write($0.name, &$1) },
            read: { (line) throws(LineFault) in try name.read(&line).map { SeatID($0) } ?? .usual })
    }

    /// Subscribers have its name: the text says who may use cameras, and `GetPolicy` gives it to clients that may read it.
    static var policy: EventField<Policy> {
        .init(
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

    /// `grant=7 [recording=3]`: what a recorder core still captures, after a restart of the broker.
    static var survivor: EventField<Survivor?> {
        .init(
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

    static var identity: EventField<ClientIdentity> {
        .init(
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

    static var loginFacts: EventField<LoginSessionFacts> {
        .init(
            Phrase(
                { value, _ in value.scenarioWords },
                hear: { (reader) throws(LineProblem) in
                    throw reader.words.problemHere("a login session is read with what earlier lines have said of it")
                }),
            EventField<Bool>.part("active"), EventField<Bool>.part("locked"),
            EventField<String>.part("seat").orNone().later(SeatID.usual.name),
            EventField<UInt32>.part("user").later(LoginSessionFacts.userUnknown),
            of: { ($0.isActive, $0.isLocked, $0.seat?.name, $0.user) },
            make: { LoginSessionFacts(active: $0, locked: $1, seat: $2.map { SeatID($0) }, user: $3) })
    }
}
