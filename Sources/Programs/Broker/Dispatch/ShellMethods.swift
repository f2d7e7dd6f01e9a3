import Arbiter
import ArbiterProtocol
import System

/// Facts from shells and agents. Each is believed for its own user; root, and the broker's own user, for everybody.
extension MethodTables {
    static let shellMethods: [String: Handler] = [
        "Attach": { (broker, request, reader) throws(BrokerError) in
            let source = try MethodTables.source(&reader)
            broker.desktops.attach(
                source, request.client, try broker.desktops.admit(as: source.role, request.client))
        },
        "AttachPlacing": { (broker, request, reader) throws(BrokerError) in
            let source = try MethodTables.source(&reader)
            let wires = try reader.dictionaries("apps")
            // Before anything is looked up: the list may be as long as a message.
            guard wires.count <= ClientBound.placedAppsMax else {
                throw BrokerError(
                    .limitExceeded,
                    "apps has \(wires.count) entries; a client may place \(ClientBound.placedAppsMax) apps.")
            }
            var places: [(app: AppID, presence: Presence, focused: Bool)] = []
            var seen: Set<AppID> = []
            for (index, wire) in wires.enumerated() {
                let fields = WireFields("apps[\(index)]", wire)
                let app = try broker.desktops.app(try fields.read("app"), by: request.client)
                guard seen.insert(app).inserted else {
                    throw BrokerError(
                        .invalidValue, "apps[\(index)] is \(app.name.quotedShort) again; each app is there once.")
                }
                places.append(
                    (app, try MethodTables.presence(try fields.read("presence")), try fields.read("focused")))
            }
            let admission = try broker.desktops.admit(as: source.role, request.client)
            let events = try broker.desktops.placing(places, by: source, request.client)
            request.answerLater()
            broker.desktops.place(events, source, admission, request)
        },
        "DescribeSource": { (broker, request, reader) throws(BrokerError) in
            let words = try reader.string("words")
            guard words.utf8.count <= ClientBound.sourceBytesMax else {
                throw .invalid("words", words, takes: "at most \(ClientBound.sourceBytesMax) bytes")
            }
            guard let more = request.client.more, !more.sources.isEmpty else {
                throw request.client.notTrusted("Only a presence source says what it knows from; call Attach first.")
            }
            more.sourceWords = Journal.printable(words, keepLines: false)
        },
        "Detach": { (broker, request, reader) throws(BrokerError) in
            broker.desktops.detach(try MethodTables.source(&reader), request.client)
        },
        "PlaceApp": { (broker, request, reader) throws(BrokerError) in
            let app = try broker.desktops.app(try reader.string("app"), by: request.client)
            guard let source = request.client.more?.sources.first else {
                throw request.client.notTrusted("Only a presence source places apps; call Attach first.")
            }
            let presence = try MethodTables.presence(try reader.string("presence"))
            let focused = try reader.boolean("focused")
            for event in try broker.desktops.placing([(app, presence, focused)], by: source, request.client) {
                broker.decide(event, request)
            }
        },
        "TakeMicrophone": { (broker, request, reader) throws(BrokerError) in
            let app = try broker.desktops.app(try reader.string("app"), by: request.client)
            try broker.desktops.requireSpeaker(of: app, request.client)
            let more = request.client.withMore()
            if !more.microphones.contains(app) {
                guard more.microphones.count < ClientBound.microphonesMax else {
                    throw BrokerError(
                        .limitExceeded,
                        "The client has taken the microphone for \(more.microphones.count) apps, the most it may; "
                            + "ReleaseMicrophone first.")
                }
                try broker.clients.charge(.microphones, to: request.client, "ReleaseMicrophone first.")
                more.microphones.append(app)
            }
            broker.desktops.report(request) {
                $0.report(microphoneOf: app, taken: true, by: .client(request.client.id))
            }
        },
        "ReleaseMicrophone": { (broker, request, reader) throws(BrokerError) in
            let app = try broker.desktops.app(try reader.string("app"), by: request.client)
            if let more = request.client.more, let index = more.microphones.firstIndex(of: app) {
                more.microphones.remove(at: index)
                broker.clients.release(.microphones, 1, of: request.client.uid)
            }
            broker.desktops.report(request) {
                $0.report(microphoneOf: app, taken: false, by: .client(request.client.id))
            }
        },
        "WatchMicrophones": { (broker, request, reader) throws(BrokerError) in
            try broker.desktops.watchMicrophones(try reader.boolean("on"), request.client)
        },
        "ListClients": { (broker, request, reader) throws(BrokerError) in
            request.answer([broker.desktops.listClients(for: request.client)])
        },
        "SetPrivacy": trusted { (broker, request, reader) throws(BrokerError) in
            let camera = try broker.cameras.named(try reader.string("camera"))
            let on = try reader.boolean("on")
            broker.desktops.report(request) { $0.report(privacy: camera?.camera, on: on, by: .trusted) }
        },
        "SetPressure": trusted { (broker, request, reader) throws(BrokerError) in
            let word = try reader.string("level")
            guard let level = SystemPressure(wireName: word) else {
                let levels = SystemPressure.allCases.map(\.wireName).joined(separator: ", ")
                throw .invalid("level", word, takes: levels)
            }
            // A shell may know what no file tells; `nominal` takes its word back.
            broker.desktops.report(request) { $0.report(pressure: level == .nominal ? nil : level, by: .trusted) }
        },
        "RaiseSensitiveContent": { (broker, request, reader) throws(BrokerError) in
            let app = try broker.desktops.app(try reader.string("app"), by: request.client)
            try broker.desktops.requireSpeaker(of: app, request.client)
            broker.decide(.sensitiveContent(app), request)
        },
        "SetLoginSession": trusted { (broker, request, reader) throws(BrokerError) in
            let name = try reader.string("session")
            guard !name.isEmpty, name.utf8.count <= AppIdentity.nameBytesMax else {
                throw .invalid("session", name, takes: "a login session's name")
            }
            let active = try reader.boolean("active")
            // The login session is at the usual seat, and its clients are of one user.
            let member = broker.clients.values.filter { $0.loginSessions.contains(LoginSessionID(name)) }
                .min { $0.id < $1.id }
            let facts = LoginSessionFacts(
                active: active, locked: try reader.boolean("locked"),
                user: member?.uid ?? LoginSessionFacts.userUnknown)
            broker.desktops.report(request) { $0.report(login: LoginSessionID(name), facts, by: .trusted) }
        },
        "SetSleep": trusted { (broker, request, reader) throws(BrokerError) in
            let asleep = try reader.boolean("asleep")
            broker.desktops.report(request) { $0.report(asleep: asleep, by: .trusted) }
        },
        "Override": trusted { (broker, request, reader) throws(BrokerError) in
            let name = try reader.string("app")
            broker.decide(
                .operatorChose(name.isEmpty ? nil : try broker.desktops.app(name, by: request.client)), request)
        },
        "SetMode": trusted { (broker, request, reader) throws(BrokerError) in
            let name = try MethodTables.attributeWord("mode", &reader)
            broker.decide(.modeSet(name.isEmpty ? nil : name, by: request.client.uid == 0 ? .root : .operator), request)
        },
        "SetAttribute": trusted { (broker, request, reader) throws(BrokerError) in
            let app = try broker.desktops.app(try reader.string("app"), by: request.client)
            let name = try MethodTables.attributeWord("attribute", &reader)
            let value = try MethodTables.attributeWord("value", &reader)
            broker.decide(.attribute(app, name: name, value: value.isEmpty ? nil : value), request)
        },
        "Plug": trusted { (broker, request, reader) throws(BrokerError) in
            let name = try reader.string("camera")
            guard let link = try broker.cameras.named(name) else {
                throw BrokerError(.unknownCamera, "camera is empty; it takes the id of one camera.")
            }
            guard link.spec.hasPrefix("simulated") || link.spec.hasPrefix("file:") || link is DryCamera else {
                throw BrokerError(.invalidValue, "Camera “\(name)” is a real one: only its plug unplugs it.")
            }
            link.setPresent(try reader.boolean("present"))
        },
        "WatchQuestions": { (broker, request, reader) throws(BrokerError) in
            try broker.permissions.watchQuestions(try reader.boolean("on"), request)
        },
        "AnswerQuestion": { (broker, request, reader) throws(BrokerError) in
            try broker.permissions.answerQuestion(
                try reader.uint32("question"), try reader.word("answer", as: AppAnswer.self), request)
        },
        "ListAnswers": { (broker, request, reader) throws(BrokerError) in
            try broker.permissions.whenKept([request.client.uid], request) {
                request.answer([broker.permissions.listAnswers(of: request.client.uid)])
            }
        },
        "SetAnswer": { (broker, request, reader) throws(BrokerError) in
            let app = try broker.desktops.app(try reader.string("app"), by: request.client)
            let isVouched = try reader.boolean("vouched")
            let word = try reader.string("answer")
            let answer = AppAnswer(rawValue: word)
            guard answer != nil || word.isEmpty else {
                throw .invalid("answer", word, takes: "allow, deny, or \"\" to forget it")
            }
            try broker.permissions.requireAnswerer(request.client)
            try broker.permissions.whenKept([app.user], request) { () throws(BrokerError) in
                try broker.permissions.setAnswer(app, isClaimed: !isVouched, answer, request)
            }
        },
        "SetDenied": { (broker, request, reader) throws(BrokerError) in
            try broker.permissions.setDenied(try reader.strings("apps"), request)
        },
        "StopApp": { (broker, request, reader) throws(BrokerError) in
            let app = try broker.desktops.app(try reader.string("app"), by: request.client)
            try broker.permissions.requireSpeaker(request.client)
            broker.decide(.stoppedByUser(app), request)
        },
        "SetOwnPrivacy": { (broker, request, reader) throws(BrokerError) in
            let on = try reader.boolean("on")
            try broker.permissions.requireSpeaker(request.client)
            try broker.permissions.whenKept([request.client.uid], request) { () throws(BrokerError) in
                try broker.permissions.setOwnPrivacy(on, request)
            }
        },
        "ListUse": { (broker, request, reader) throws(BrokerError) in
            try broker.desktops.requireDesktop(request.client)
            request.answer([broker.desktops.listUse(for: request.client)])
        },
    ]
}

extension PresenceSource {
    var role: Speakers.Role { self == .shell ? .shell : .agent }
}

extension MethodTables {
    /// A method for facts that concern every user.
    private static func trusted(_ handler: @escaping Handler) -> Handler {
        { (broker, request, reader) throws(BrokerError) in
            try broker.trust.require(request)
            try handler(broker, request, &reader)
        }
    }

    static func source(_ reader: inout WireReader) throws(BrokerError) -> PresenceSource {
        let word = try reader.string("source")
        guard let source = PresenceSource(rawValue: word), source == .shell || source == .agent else {
            throw .invalid("source", word, takes: "shell, agent")
        }
        return source
    }

    /// An attribute's name or value: it may be kept and shown, and so is as short as a policy's are.
    static func attributeWord(_ argument: String, _ reader: inout WireReader) throws(BrokerError) -> String {
        let word = try reader.string(argument)
        guard word.utf8.count <= AppIdentity.nameBytesMax else {
            throw .invalid(argument, word, takes: "at most \(AppIdentity.nameBytesMax) bytes")
        }
        return word
    }
}
