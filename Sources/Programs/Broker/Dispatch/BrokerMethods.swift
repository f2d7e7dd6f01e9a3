import Arbiter
package import ArbiterProtocol
import Bus
import Explain
import System

/// Bounds of one client.
enum ClientBound {
    /// As `Interfaces.broker` documents; a client with more of them forgets to close.
    static let sessionsMax = 64
    /// A plan is answered while everybody waits.
    static let planBytesMax = 16 * 1024
    /// A policy as one text, without comments: many times a long one, and it fits into a message.
    static let policyBytesMax = 120 * 1024
    /// Any other text. Texts come back in errors, and go to the journal and to all subscribers, whose queues a long one would fill.
    static let textBytesMax = 1024
    /// The texts of a group of timed metadata; with the rest of its message below `BusConnection.messageBytesMax`, unless its
    /// items are very many and very short.
    static let metadataBytesMax = 64 * 1024
    /// Apps that a client reports facts about; the core keeps those facts until the client leaves.
    static let microphonesMax = 64
    static let placedAppsMax = 1024
    /// A presence source's own description: a line of the status.
    static let sourceBytesMax = 255
}

extension MethodTables {
    static let brokerMethods: [String: Handler] = [
        "CreateSession": { (broker, request, reader) throws(BrokerError) in
            let camera = try reader.string("camera")
            let wire = try reader.dictionary("configuration")
            try broker.cameras.whenKnown(request, about: CameraID(camera)) { () throws(BrokerError) in
                try broker.createSession(request, camera, wire)
            }
        },
        "DeclareClient": { (broker, request, reader) throws(BrokerError) in
            try broker.declareClient(request, try reader.dictionary("attributes"))
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
            try broker.cameras.whenKnown(request) { broker.inquiries.answerStatus(request) }
        },
        "OpenConnection": { (broker, request, reader) throws(BrokerError) in
            guard let name = broker.systemName, request.client.isVisitor else {
                throw BrokerError(
                    .accessDenied,
                    "This is a connection to the broker; OpenConnection is for callers on the system bus.")
            }
            try name.open(request)
        },
        "GetSessions": { (broker, request, reader) throws(BrokerError) in
            let last = SessionID(try reader.uint64("after"))
            try broker.cameras.whenKnown(request) { broker.inquiries.answerSessions(after: last, request) }
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
            try broker.policy.plan(policy, scenario: try MethodTables.scenario(&reader), request)
        },
        "LoadPolicy": { (broker, request, reader) throws(BrokerError) in
            let policy = try SentPolicy(&reader)
            try broker.policy.load(policy, planned: try reader.string("plan"), request)
        },
        "UnloadPolicy": { (broker, request, reader) throws(BrokerError) in try broker.policy.unload(request) },
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
            broker.permissions.beforeStart(request) { broker.decide(.startRunning(session), request) }
        },
        "Reclaim": { (broker, request, reader) throws(BrokerError) in
            let (session, secret) = (try request.session, try reader.string("secret"))
            broker.permissions.beforeStart(request) { () throws(BrokerError) in
                try broker.reclaim(session, secret, request)
            }
        },
        "GetReclaimSecret": { (broker, request, reader) throws(BrokerError) in
            try broker.giveReclaimSecret(try request.session, request)
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
            request.files = [try broker.cameras.outputFile(try reader.fileDescriptor("file"), request.message)]
            request.options = try reader.dictionary("options")
            try PhotoOptions.check(request.options)
            broker.decide(.capturePhoto(try request.session), request)
        },
        "CapturePhotoBracket": { (broker, request, reader) throws(BrokerError) in
            request.files = try broker.cameras.outputFiles(&reader, request.message)
            let bracket = try PhotoBracket(wire: try reader.dictionary("options"), files: request.files.count)
            request.isBracket = true
            broker.decide(.capturePhotoBracket(try request.session, bracket), request)
        },
        "Ready": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.ready(try request.session, try reader.uint64("interruption")), request)
        },
        "Continue": deciding { .continueAfterSensitiveContent($0) },
        "Close": { (broker, request, reader) throws(BrokerError) in
            broker.closeSession(try request.session, request)
        },
        "AttachMicrophone": { (broker, request, reader) throws(BrokerError) in
            let session = try request.session
            request.microphone = try ClientMicrophone(
                adopting: try reader.fileDescriptor("microphone"), of: request.message)
            let format = try MicrophoneFormat(wire: try reader.dictionary("options"))
            // Once it is decided it is attached: a call that cannot be made is refused before.
            if let camera = broker.arbiter.camera(of: session) {
                try broker.cameras[camera]?.outputs.requireRoom(for: session)
            }
            broker.decide(.attachMicrophone(session, format), request)
        },
        "StartRecording": { (broker, request, reader) throws(BrokerError) in
            request.files = [try broker.cameras.outputFile(try reader.fileDescriptor("file"), request.message)]
            request.options = try reader.dictionary("options")
            let options = try RecordingOptions(wire: request.options)
            broker.decide(.startRecording(try request.session, options), request)
        },
        "StopRecording": deciding { .stopRecording($0) }, "PauseRecording": deciding { .pauseRecording($0) },
        "ResumeRecording": deciding { .resumeRecording($0) },
        "AppendMetadata": { (broker, request, reader) throws(BrokerError) in
            let session = try request.session
            request.metadata = (try MetadataGroup(reading: &reader), session)
            broker.decide(.appendMetadata(session), request)
        },
    ]

    private static func scenario(_ reader: inout WireReader) throws(BrokerError) -> String {
        let scenario = try reader.string("scenario")
        try scenario.require(bytesMax: ClientBound.planBytesMax, "The plan")
        return scenario
    }

    static func presence(_ text: String) throws(BrokerError) -> Presence {
        guard let presence = Presence(wireName: text) else {
            throw .invalid("presence", text, takes: Presence.wireNames.joined(separator: ", "))
        }
        return presence
    }
}

extension BrokerError {
    static func invalid(_ argument: String, _ text: String, takes: String) -> BrokerError {
        BrokerError(.invalidValue, "\(argument) is \(text.quotedShort); it takes \(takes).")
    }
}

extension String {
    func require(bytesMax: Int, _ subject: String) throws(BrokerError) {
        guard utf8.count > bytesMax else { return }
        throw BrokerError(.limitExceeded, "\(subject) has \(utf8.count) bytes; it may have \(bytesMax).")
    }
}

extension Request {
    /// The session that the call's path names: the client's own, as the dispatcher has checked.
    var session: SessionID {
        get throws(BrokerError) {
            guard let number = message.pathNumber(after: "/org/camarb/session/") else {
                throw BrokerError(.unknownObject, "The path \(message.path.quotedShort) names no session.")
            }
            return SessionID(number)
        }
    }
}

/// Timed metadata of a recording, as a client sent it; the recorder core checks it against the recording's tracks.
package struct MetadataGroup {
    package let kind: String
    /// Nanoseconds of CLOCK_MONOTONIC.
    package let time: Int64
    package let items: [String]

    package init(reading reader: inout WireReader) throws(BrokerError) {
        (kind, time, items) = (try reader.string("kind"), try reader.int64("time"), try reader.strings("items"))
        guard kind.utf8.count <= ClientBound.textBytesMax else {
            throw .invalid("kind", kind, takes: "a kind that the recording declared")
        }
        guard bytes <= ClientBound.metadataBytesMax else {
            throw BrokerError(
                .limitExceeded,
                "The group of \(kind.quotedShort) has \(bytes) bytes; one may have \(ClientBound.metadataBytesMax).")
        }
    }

    var bytes: Int { items.reduce(0) { $0 + $1.utf8.count } }

    /// An upper bound: each item has its length before it, a zero behind it, and begins at a multiple of 4.
    package var messageBytes: Int { bytes + 8 * items.count }
}

// MARK: Sessions

extension Broker {
    func createSession(_ request: Request, _ camera: String, _ wire: WireDictionary) throws(BrokerError) {
        let client = request.client
        guard client.connection.isOpen else { return }
        guard client.sessions.count < ClientBound.sessionsMax else {
            throw BrokerError(
                .limitExceeded,
                "The client has \(client.sessions.count) sessions, the most it may have; close one first.")
        }
        // The one key that is not the camera's: a client that ran before the broker restarted sets it.
        var settings = wire
        let reestablished = settings["reestablished"]?.boolean ?? false
        settings["reestablished"] = nil
        let configuration = try Configuration(wire: settings)
        try clients.charge(.sessions, to: client, "Close one first.")
        var isKept = false
        defer { if !isKept { clients.release(.sessions, 1, of: client.uid) } }
        try clients.register(client)
        let session = SessionID(clients.lastSession + 1)
        clients.owners[session.rawValue] = Clients.Owned(client: client, name: clients.sessionNames.take(client.name))
        let chosen = camera.isEmpty ? nil : CameraID(camera)
        let refusal = step(
            .created(session, client.id, camera: chosen, configuration, reestablished: reestablished), for: request)
        if refusal != nil { return clients.disown(session) }
        isKept = true
        clients.lastSession += 1
        client.sessions.append(session)
        dispatcher.objectAdded(session, client)
        request.answer([.objectPath(ObjectPath.session(session))])
    }

    func closeSession(_ session: SessionID, _ request: Request) {
        guard step(.closed(session), for: request) == nil else { return }
        clients.disown(session)
        request.client.sessions.removeAll { $0 == session }
        clients.release(.sessions, 1, of: request.client.uid)
        dispatcher.objectRemoved(session, request.client)
    }

    func declareClient(_ request: Request, _ wire: WireDictionary) throws(BrokerError) {
        let declared = try ClientDeclaration(wire, trustsClaims: options.trustsClaims)
        var attributes = ClientAttributes()
        attributes.claimedApp = declared.app.map { AppIdentity.safe($0[...]) }
        attributes.kind = declared.kind
        if let flag = declared.multitasking { attributes.multitasking = flag }
        if let flag = declared.requiresFullScreen { attributes.requiresFullScreen = flag }
        let login = declared.loginSession.map { LoginSessionID(AppIdentity.safe($0[...])) }
        let client = request.client
        // A program in a sandbox is named by it: it cannot get another app's answer by claiming another name.
        if attributes.claimedApp != nil, !options.trustsClaims, try clients.livingGroup(of: client).isSandbox {
            attributes.claimedApp = nil
        }
        let before = client.app
        let isNew = client.sessions.isEmpty
        let believed = options.trustsClaims && isNew ? attributes.claimedApp : nil
        try clients.register(client, claimed: believed, login: isNew ? login : nil)
        decide(.declared(client.id, attributes), request)
        // Where only a claim names the app, the core took it.
        client.app = arbiter.app(of: client.id)
        if let app = client.app, app != before {
            clients.rename(client, app)
            desktops.notifyClientsChanged(of: client.uid)
        }
    }
}
