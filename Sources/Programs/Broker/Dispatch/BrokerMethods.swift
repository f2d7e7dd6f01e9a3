import Arbiter
import ArbiterProtocol
import Bus
import Explain
import System

/// Bounds on what one client may have, and why.
enum ClientBound {
    /// Interfaces.broker says so: more is a client that forgets to close.
    static let sessionsMax = 64
    /// A plan is a question about a few events, answered while everybody waits.
    static let planBytesMax = 16 * 1024
    /// A policy as one text, without comments: many times a long one, and it fits into a message.
    static let policyBytesMax = 120 * 1024
    /// Any other text: an id, a format, a word. Texts come back in errors, and go to the journal and to all subscribers,
    /// whose queues a long one would fill.
    static let textBytesMax = 1024
    /// A group of timed metadata, its texts together. With what a message has beside them it stays below
    /// `BusConnection.messageBytesMax`, unless its items are very many and very short.
    static let metadataBytesMax = 64 * 1024
    /// Apps a client says something about, as a shell does: the core remembers what it is told until the client goes.
    static let microphonesMax = 64
    static let placedAppsMax = 1024
    /// What a presence source says it knows the windows from: a line of the status.
    static let sourceBytesMax = 255
}

extension MethodTables {
    static let brokerMethods: [String: Handler] = [
        "CreateSession": { (broker, request, reader) throws(BrokerError) in
            let camera = try reader.string("camera")
            let wire = try reader.dictionary("configuration")
            try broker.cameras.whenKnown(request.client, about: CameraID(camera)) {
                broker.dispatcher.createSession(request, camera, wire)
            }
            request.answerLater()
        },
        "DeclareClient": { (broker, request, reader) throws(BrokerError) in
            try broker.dispatcher.declareClient(request, try reader.dictionary("attributes"))
        },
        "StandFor": { (broker, request, reader) throws(BrokerError) in
            let process = try reader.uint32("process")
            try broker.clients.standFor(process, began: try reader.uint64("began"), request)
        },
        "DeclarePresence": { (broker, request, reader) throws(BrokerError) in
            let presence = try MethodTables.presence(try reader.string("presence"))
            let focused = try reader.boolean("focused")
            try broker.clients.register(request.client)
            request.client.withMore().presence = (presence, focused)
            broker.decide(.declaredPresence(request.client.id, presence, focused: focused), request)
        },
        "LowerPriority": { (broker, request, reader) throws(BrokerError) in
            let rank = try reader.string("rank")
            try broker.clients.register(request.client)
            broker.decide(.loweredPriority(request.client.id, rank: rank), request)
        },
        "LowerAttribute": { (broker, request, reader) throws(BrokerError) in
            let name = try MethodTables.attributeWord("attribute", &reader)
            let value = try MethodTables.attributeWord("value", &reader)
            try broker.clients.register(request.client)
            broker.decide(.loweredAttribute(request.client.id, attribute: name, to: value), request)
        },
        "GetStatus": { (broker, request, reader) throws(BrokerError) in
            try broker.cameras.whenKnown(request.client) { broker.inquiries.answerStatus(request) }
            request.answerLater()
        },
        "GetSessions": { (broker, request, reader) throws(BrokerError) in
            let last = SessionID(try reader.uint64("after"))
            try broker.cameras.whenKnown(request.client) { broker.inquiries.answerSessions(after: last, request) }
            request.answerLater()
        },
        "Explain": { (broker, request, reader) throws(BrokerError) in
            try broker.inquiries.explain(try reader.uint64("decision"), request)
        },
        "ExplainApp": { (broker, request, reader) throws(BrokerError) in
            try broker.inquiries.explain(app: try reader.string("app"), request)
        },
        "Plan": { (broker, request, reader) throws(BrokerError) in
            try broker.inquiries.plan(try MethodTables.scenario(&reader), request)
        },
        "GetPolicy": { (broker, request, reader) throws(BrokerError) in request.answer(broker.policy.answer()) },
        "PlanPolicy": { (broker, request, reader) throws(BrokerError) in
            let policy = try SentPolicy(&reader)
            try broker.loading.plan(policy, scenario: try MethodTables.scenario(&reader), request)
        },
        "LoadPolicy": { (broker, request, reader) throws(BrokerError) in
            let policy = try SentPolicy(&reader)
            try broker.loading.load(policy, planned: try reader.string("plan"), request)
        },
        "UnloadPolicy": { (broker, request, reader) throws(BrokerError) in try broker.loading.unload(request) },
        "GetMetrics": { (broker, request, reader) throws(BrokerError) in
            request.answer([.string(broker.publisher.metricsText(for: request.client))])
        },
        "Trace": { (broker, request, reader) throws(BrokerError) in try broker.publisher.beginTrace(request) },
        "Watch": { (broker, request, reader) throws(BrokerError) in
            broker.publisher.subscribe(request.client, try reader.boolean("on"))
        },
    ]

    static let sessionMethods: [String: Handler] = [
        "StartRunning": { (broker, request, reader) throws(BrokerError) in
            try broker.clients.requireSameProcess(request.client)
            let session = try request.session
            broker.permissions.whenToldToStart(request) { broker.decide(.startRunning(session), request) }
        },
        "Reclaim": { (broker, request, reader) throws(BrokerError) in
            let (session, secret) = (try request.session, try reader.string("secret"))
            broker.permissions.whenToldToStart(request) { () throws(BrokerError) in
                try broker.reclaiming.reclaim(session, secret, request)
            }
        },
        "GetReclaimSecret": { (broker, request, reader) throws(BrokerError) in
            try broker.reclaiming.giveReclaimSecret(try request.session, request)
        },
        "StopRunning": deciding { .stopRunning($0) }, "BeginConfiguration": deciding { .beginConfiguration($0) },
        "CommitConfiguration": deciding { .commitConfiguration($0) },
        "Configure": { (broker, request, reader) throws(BrokerError) in
            let batch = try Configuration(wire: try reader.dictionary("batch"))
            broker.decide(.configure(try request.session, batch), request)
        },
        "CheckConfiguration": { (broker, request, reader) throws(BrokerError) in
            let batch = try Configuration(wire: try reader.dictionary("batch"))
            let refusal = broker.arbiter.refusal(of: batch, by: try request.session, at: Broker.now())
            if let refusal { request.answer(refusal.sentence) } else { request.answer() }
        },
        "OpenStream": deciding { .openStream($0) },
        "CapturePhoto": { (broker, request, reader) throws(BrokerError) in
            request.file = try broker.cameras.outputFile(
                try reader.fileDescriptor("file"), request.message)
            request.options = try reader.dictionary("options")
            try PhotoOptions.check(request.options)
            broker.decide(.capturePhoto(try request.session), request)
        },
        "CapturePhotoBracket": { (broker, request, reader) throws(BrokerError) in
            request.files = try broker.cameras.outputFiles(&reader, request.message)
            let bracket = try PhotoBracket(wire: try reader.dictionary("options"), files: request.files.count)
            broker.decide(.capturePhotoBracket(try request.session, bracket), request)
        },
        "Ready": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.ready(try request.session, try reader.uint64("interruption")), request)
        },
        "Continue": deciding { .continueAfterSensitiveContent($0) },
        "Close": { (broker, request, reader) throws(BrokerError) in
            broker.dispatcher.closeSession(try request.session, request)
        },
    ]

    private static func scenario(_ reader: inout WireReader) throws(BrokerError) -> String {
        let scenario = try reader.string("scenario")
        guard scenario.utf8.count <= ClientBound.planBytesMax else {
            throw BrokerError(
                .limitExceeded,
                "The plan has \(scenario.utf8.count) bytes; it may have \(ClientBound.planBytesMax).")
        }
        return scenario
    }

    static func presence(_ text: String) throws(BrokerError) -> Presence {
        guard let presence = Presence(wireName: text) else {
            throw BrokerError(
                .invalidValue,
                "presence is \(text.quotedShort); it takes \(Presence.wireNames.joined(separator: ", ")).")
        }
        return presence
    }
}

extension Request {
    /// The session that the call's path names. It was looked at before: it is the client's own.
    var session: SessionID {
        get throws(BrokerError) {
            guard let number = message.pathNumber(after: "/org/camarb/session/") else {
                throw BrokerError(.unknownObject, "The path \(message.path.quotedShort) names no session.")
            }
            return SessionID(number)
        }
    }
}
