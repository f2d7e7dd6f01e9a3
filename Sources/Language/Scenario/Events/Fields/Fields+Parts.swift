import Arbiter
import ArbiterProtocol
import PolicyFile

// Values with several members or several words.

extension EventField {
    static func configuration(_ key: String) -> EventField<Configuration> { field(key, .rest(Configuration())) }

    /// No line has it: the stage knows what was asked.
    static func unsaid(_ key: String) -> EventField<Configuration> { field(key, .unsaid(Configuration())) }

    private static func field(_ key: String, _ phrase: Phrase<Configuration>) -> EventField<Configuration> {
        .init(
            [key: "a{sv}"], phrase, write: { $1.add(key, $0.wireValue) },
            read: { (line) throws(LineFault) in try line.configuration(key) })
    }

    static var attributes: EventField<ClientAttributes> {
        .init(
            .rest(ClientAttributes()), EventField<String>.part("claimedApp").orNone(),
            EventField<ClientKind>.part("kind"),
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

    /// Traces from before photos had any have none.
    private static var metadata: EventField<PhotoMetadata?> {
        EventField<PhotoMetadata>(
            ["metadata": "a{sv}"], .silent, write: { $1.add("metadata", .dictionary($0.wire)) },
            read: { (line) throws(LineFault) in
                try line.described("metadata", "photo's", PhotoMetadata.init(wire:))
            }
        ).orNone().later(nil)
    }

    /// For subscribers it is in the camera's own object, where it need not be in every signal about it.
    static var capabilities: EventField<CameraCapabilities> {
        .init(
            ["capabilities": "a{sv}"],
            .unsaid(CameraCapabilities(name: "", position: .external, sensorWidth: 0, sensorHeight: 0, formats: [])),
            write: { $1.add("capabilities", .dictionary($0.wire), for: .trace) },
            read: { (line) throws(LineFault) in
                try line.described("capabilities", "camera's", CameraCapabilities.init(wire:))
            })
    }

    static var seat: EventField<SeatID> {
        let name = EventField<String>.part("seat").orNone().later(nil)
        // Read by hand: Swift 6.3's optimizer crashes on a value of a single part that may be missing.
        return .init(
            name.members, .unsaid(.usual), write: { name.write($0.name, &$1) },
            read: { (line) throws(LineFault) in try name.read(&line).map { SeatID($0) } ?? .usual })
    }

    /// Subscribers have its name: the text has the users of cameras, and `GetPolicy` gives it to clients that may read it.
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
                // It follows from the text, which counts.
                _ = try line.read("policyHash", as: String.self)
                return policy
            })
    }

    /// `grant=7 [recording=3]`: the grant that a recorder core still has after a restart of the broker.
    static var survivor: EventField<Survivor?> {
        .init(
            ["grant": "t", "recording": "t"],
            Phrase(
                { value, _ in
                    value.map { "grant=\($0.grant.rawValue)" + ($0.recording.map { " recording=\($0)" } ?? "") }
                },
                hear: { (reader) throws(LineProblem) in
                    guard let grant = try reader.grant() else { return nil }
                    let recording = try reader.setting("recording").map { (word) throws(LineProblem) in
                        try word.read("a recording is a whole number") { UInt64($0) }
                    }
                    return Survivor(grant: grant, recording: recording)
                }),
            write: { survivor, values in
                values.add("grant", survivor?.grant.wireValue)
                values.add("recording", survivor?.recording.map { .uint64($0) })
            },
            read: { (line) throws(LineFault) in try line.survivor() })
    }

    static var identity: EventField<ClientIdentity> {
        .init(
            ["verified": "b", "loginSession": "s", "atSeat": "b", "weak": "b", "own": "b", "groups": "au"],
            .unsaid(ClientIdentity()),
            write: { identity, values in
                values.add("verified", .boolean(identity.isVerified))
                let login: LoginSessionID? = if case .session(let id) = identity.login { id } else { nil }
                values.add("loginSession", login?.wireValue)
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

// Values with the words of their entries on the wire: `maxDuration=2.5 metadata=heading:number,location:iso6709`.

extension EventField {
    static var recordingOptions: EventField<RecordingOptions> {
        entries(RecordingOptions.members, \.wire, RecordingOptions.init(wire:))
    }

    /// `sampleRate=48000 channels=1`, which is also the default.
    static var microphoneFormat: EventField<MicrophoneFormat> {
        let usual = MicrophoneFormat(sampleRate: 48_000, channels: 1).wire
        return entries(MicrophoneFormat.members, usual: usual, \.wire, MicrophoneFormat.init(wire:))
    }

    /// `exposureTargetBiases=-2,0,2`, or `exposureDurations=1/60,1/30 isos=100,200`
    static var bracket: EventField<PhotoBracket> {
        let members = PhotoBracket.Key.allCases.map { EventMember(key: $0.rawValue, type: "ad") }
        return entries(members, \.wire) { (wire) throws(BrokerError) in
            try PhotoBracket(wire: wire, files: max(1, wire.entries.first?.value.elements?.count ?? 0))
        }
    }

    /// Each entry is a member of the line, `null` where there is none; older traces have none of the keys.
    private static func entries<Owner: Sendable>(
        _ members: [EventMember], usual: WireDictionary = WireDictionary(),
        _ wire: @escaping @Sendable (Owner) -> WireDictionary,
        _ make: @escaping @Sendable (WireDictionary) throws(BrokerError) -> Owner
    ) -> EventField<Owner> {
        .init(
            members,
            Phrase(
                { value, _ in wire(value).scenarioWords },
                hear: { (reader) throws(LineProblem) in
                    let start = reader.words.problemHere("")
                    let wire = try reader.entries(members, over: usual)
                    do throws(BrokerError) { return try make(wire) } catch { throw start.saying(error.message) }
                }),
            write: { value, values in
                let wire = wire(value)
                for member in members { values.add(member.key, wire[member.key]) }
            }, read: { (line) throws(LineFault) in try line.entries(members, make) })
    }
}

extension Described {
    static var members: [EventMember] { fields.map { EventMember(key: $0.name, type: $0.type) } }
}

extension WireDictionary {
    fileprivate var scenarioWords: String? {
        isEmpty ? nil : entries.map { "\($0.key)=\($0.value.scenarioWord)" }.joined(separator: " ")
    }
}

extension WireValue {
    fileprivate var scenarioWord: String {
        if let dictionary {
            return dictionary.entries.map { "\($0.key):\($0.value.scenarioWord)" }.joined(separator: ",")
        }
        // Numbers in a list have no spaces between them: they are one word.
        if let numbers { return numbers.map(\.shortDescription).joined(separator: ",") }
        // A count is exact; a number has at most the digits of a double.
        return string ?? uint64.map { "\($0)" } ?? number?.shortDescription ?? sentence
    }

    /// An impossible value is text, which its owner refuses.
    fileprivate init(word text: String, type: String) {
        let found: WireValue? =
            switch type {
            case "b": Bool(text).map { .boolean($0) }
            case "d": Double(text).map { .double($0) }
            case "t", "u": UInt64(text).map { .uint64($0) }
            case "ad":
                .array(
                    type: "d",
                    text.split(separator: ",").map { number in
                        Double(asPeopleWrite: String(number)).map { .double($0) } ?? .string(String(number))
                    })
            case "a{sv}":
                .dictionary(
                    text.split(separator: ",").reduce(into: WireDictionary()) { kinds, track in
                        let parts = track.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
                        kinds.append(String(parts[0]), .string(parts.count == 2 ? String(parts[1]) : ""))
                    })
            default: nil
            }
        self = found ?? .string(text)
    }
}

extension ClientAttributes: RestOfLine {
    var scenarioWords: String {
        [
            kind == .app ? nil : "kind=\(kind.rawValue)", multitasking ? "multitasking" : nil,
            requiresFullScreen ? "full-screen" : nil, claimedApp.map { "claimed=\($0.scenarioWord)" },
        ].compactMap(\.self).joined(separator: " ")
    }

    mutating func take(_ word: Word) throws(LineProblem) {
        switch (word.key, word.text) {
        case ("claimed", let text): claimedApp = text
        case (nil, "multitasking"): multitasking = true
        case (nil, "full-screen"): requiresFullScreen = true
        case ("kind", _): kind = try word.oneOf()
        default:
            throw word.notOne(of: [
                "app", "user", "login", "groups", "weak", "own-broker", "presence", "kind", "claimed", "unverified",
                "multitasking", "full-screen", "focused",
            ])
        }
    }
}

extension LoginSessionFacts {
    static let states: [(name: String, value: (active: Bool, locked: Bool))] = [
        ("active", (true, false)), ("inactive", (false, false)), ("locked", (true, true)),
        ("inactive-locked", (false, true)),
    ]

    /// All of it, because a reader takes missing parts from an earlier line.
    fileprivate var scenarioWords: String {
        let state = Self.states.first { $0.value == (isActive, isLocked) }?.name ?? ""
        return "\(state) user=\(user) \(seat.map { "seat=\($0.name.scenarioWord)" } ?? "remote")"
    }
}

extension PhotoCaptured {
    fileprivate var scenarioWords: String {
        if let error { return "\(photo) failed \(error.scenarioQuoted)" }
        let taken = metadata?.wire.scenarioWords.map { " " + $0 } ?? ""
        return "\(photo) \(width)x\(height) bytes=\(bytes)\(taken)"
    }
}

extension SentenceReader {
    /// The rest of the line as `key=value`, each key once.
    fileprivate mutating func entries(
        _ members: [EventMember], over usual: WireDictionary = WireDictionary()
    ) throws(LineProblem) -> WireDictionary {
        var wire = usual
        var left = members
        while let word = words.anything() {
            guard let place = left.firstIndex(where: { $0.key == word.key }) else {
                throw word.notOne(of: members.map(\.key))
            }
            let member = left.remove(at: place)
            wire[member.key] = WireValue(word: word.text, type: member.type)
        }
        return wire
    }

    fileprivate mutating func photo() throws(LineProblem) -> PhotoCaptured {
        let id = try words.word("the number of a photo").wholeNumber()
        if words.take("failed") {
            return PhotoCaptured(photo: id, width: 0, height: 0, bytes: 0, error: try words.word("why").text)
        }
        let size = try words.word("its size")
        let sides = size.text.split(separator: "x").compactMap { UInt32($0) }
        guard sides.count == 2 else { throw LineProblem(size, "a size is written 1920x1080") }
        let start = words.problemHere("")
        var wire = try entries([EventMember(key: "bytes", type: "t")] + PhotoMetadata.members)
        let said = wire["bytes"] ?? .uint64(0)
        guard let bytes = said.uint64 else { throw start.saying("bytes is \(said.sentence); it takes a whole number") }
        wire["bytes"] = nil
        do throws(BrokerError) {
            return PhotoCaptured(
                photo: id, width: sides[0], height: sides[1], bytes: bytes,
                metadata: wire.isEmpty ? nil : try PhotoMetadata(wire: wire))
        } catch { throw start.saying(error.message) }
    }
}
