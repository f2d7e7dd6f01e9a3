import Arbiter
import ArbiterProtocol
import Bus
import CLinux
import Identity

/// Bounds on what one client may have, and why.
enum ClientBound {
    /// Interfaces.broker says so: more is a client that forgets to close.
    static let sessionsMax = 64
    /// A plan is a question about a few events, answered while everybody waits.
    static let planBytesMax = 16 * 1024
    /// Any other text: an id, a format, a word. Texts come back in errors, and go to the journal and to all who watch,
    /// whose queues a long one would fill.
    static let textBytesMax = 1024
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
            try broker.whenCamerasKnown(request.client, about: CameraID(camera)) {
                broker.createSession(request, camera, wire)
            }
            request.answerLater()
        },
        "DeclareClient": { (broker, request, reader) throws(BrokerError) in
            try broker.declareClient(request, try reader.dictionary("attributes"))
        },
        "StandFor": { (broker, request, reader) throws(BrokerError) in
            let process = try reader.uint32("process")
            try broker.standFor(process, began: try reader.uint64("began"), request)
        },
        "DeclarePresence": { (broker, request, reader) throws(BrokerError) in
            let presence = try MethodTables.presence(&reader)
            let focused = try reader.boolean("focused")
            try broker.register(request.client)
            request.client.withMore().presence = (presence, focused)
            broker.decide(.declaredPresence(request.client.id, presence, focused: focused), request)
        },
        "LowerPriority": { (broker, request, reader) throws(BrokerError) in
            let rank = try reader.string("rank")
            try broker.register(request.client)
            broker.decide(.loweredPriority(request.client.id, rank: rank), request)
        },
        "LowerAttribute": { (broker, request, reader) throws(BrokerError) in
            let name = try MethodTables.attributeWord("attribute", &reader)
            let value = try MethodTables.attributeWord("value", &reader)
            try broker.register(request.client)
            broker.decide(.loweredAttribute(request.client.id, attribute: name, to: value), request)
        },
        "GetStatus": { (broker, request, reader) throws(BrokerError) in
            try broker.whenCamerasKnown(request.client) {
                // Its own privacy is told to one that only looks on, too.
                broker.loadAnswers(of: request.client.uid)
                request.answer(broker.status(for: request.client))
            }
            request.answerLater()
        },
        "GetSessions": { (broker, request, reader) throws(BrokerError) in
            let last = SessionID(try reader.uint64("after"))
            try broker.whenCamerasKnown(request.client) {
                let page = broker.sessionPage(after: last, for: request.client)
                request.answer([.dictionaries(page.sessions), .boolean(page.hasMore)])
            }
            request.answerLater()
        },
        "Explain": { (broker, request, reader) throws(BrokerError) in
            try broker.explain(try reader.uint64("decision"), request)
        },
        "Plan": { (broker, request, reader) throws(BrokerError) in
            let scenario = try reader.string("scenario")
            guard scenario.utf8.count <= ClientBound.planBytesMax else {
                throw BrokerError(
                    .limitExceeded,
                    "The plan has \(scenario.utf8.count) bytes; it may have \(ClientBound.planBytesMax).")
            }
            try broker.plan(scenario, request)
        },
        "GetPolicy": { (broker, request, reader) throws(BrokerError) in request.answer(broker.policyAnswer()) },
        "GetMetrics": { (broker, request, reader) throws(BrokerError) in
            request.answer([.string(broker.metricsText(for: request.client))])
        },
        "Trace": { (broker, request, reader) throws(BrokerError) in try broker.beginTrace(request) },
        "Watch": { (broker, request, reader) throws(BrokerError) in
            broker.watch(request.client, try reader.boolean("on"))
        },
    ]

    static let sessionMethods: [String: Handler] = [
        "StartRunning": { (broker, request, reader) throws(BrokerError) in
            try broker.requireSameProcess(request.client)
            broker.decide(.startRunning(try request.session), request)
        },
        "Reclaim": { (broker, request, reader) throws(BrokerError) in
            try broker.reclaim(try request.session, try reader.string("secret"), request)
        },
        "GetReclaimSecret": { (broker, request, reader) throws(BrokerError) in
            try broker.giveReclaimSecret(try request.session, request)
        },
        "StopRunning": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.stopRunning(try request.session), request)
        },
        "BeginConfiguration": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.beginConfiguration(try request.session), request)
        },
        "CommitConfiguration": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.commitConfiguration(try request.session), request)
        },
        "Configure": { (broker, request, reader) throws(BrokerError) in
            let batch = try Configuration(wire: try reader.dictionary("batch"))
            broker.decide(.configure(try request.session, batch), request)
        },
        "OpenStream": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.openStream(try request.session), request)
        },
        "CapturePhoto": { (broker, request, reader) throws(BrokerError) in
            request.file = try broker.outputFile(&reader, request.message)
            request.options = try reader.dictionary("options")
            broker.decide(.capturePhoto(try request.session), request)
        },
        "StartRecording": { (broker, request, reader) throws(BrokerError) in
            request.file = try broker.outputFile(&reader, request.message)
            request.options = try reader.dictionary("options")
            broker.decide(.startRecording(try request.session), request)
        },
        "StopRecording": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.stopRecording(try request.session), request)
        },
        "Ready": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.ready(try request.session, try reader.uint64("interruption")), request)
        },
        "Continue": { (broker, request, reader) throws(BrokerError) in
            broker.decide(.continueAfterSensitiveContent(try request.session), request)
        },
        "Close": { (broker, request, reader) throws(BrokerError) in
            broker.closeSession(try request.session, request)
        },
    ]

    static func presence(_ reader: inout WireReader) throws(BrokerError) -> Presence {
        try presence(try reader.string("presence"))
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

extension Broker {
    /// The file that a photo or a recording is to go into. Not one that is recorded to, by whichever camera: either would
    /// destroy the other.
    fileprivate func outputFile(_ reader: inout WireReader, _ message: BusMessage) throws(BrokerError) -> OutputFile {
        let file = try OutputFile(adopting: try reader.fileDescriptor("file"), of: message)
        guard !cameraOrder.contains(where: { $0.outputs.isRecording(to: file.identity) }) else {
            throw BrokerError(.unsuitableFile, "The file is being recorded to already. Pass another regular file.")
        }
        return file
    }

    func createSession(_ request: Request, _ camera: String, _ wire: WireDictionary) {
        do throws(BrokerError) {
            let client = request.client
            guard client.connection.isOpen else { return }
            guard client.sessions.count < ClientBound.sessionsMax else {
                throw BrokerError(
                    .limitExceeded,
                    "The client has \(client.sessions.count) sessions, the most it may have; close one first.")
            }
            // The one key that is not the camera's: a client that ran before the broker restarted says so.
            var settings = wire
            let reestablished = settings["reestablished"]?.boolean ?? false
            settings["reestablished"] = nil
            let configuration = try Configuration(wire: settings)
            try charge(.sessions, to: client, "Close one first.")
            var isKept = false
            defer { if !isKept { release(.sessions, 1, of: client) } }
            try register(client)
            let session = SessionID(lastSession + 1)
            owners[session.rawValue] = Owned(client: client, name: sessionNames.take(client.name))
            // The default camera is the first of the command line, whatever its id.
            let chosen = camera.isEmpty ? cameraOrder.first { $0.capabilities != nil }?.camera : CameraID(camera)
            let refusal = step(
                .created(session, client.id, camera: chosen, configuration, reestablished: reestablished), for: request)
            guard refusal == nil else {
                disown(session)
                return
            }
            isKept = true
            lastSession += 1
            client.sessions.append(session)
            objectAdded(session, client)
            request.answer([.objectPath(ObjectPath.session(session))])
        } catch {
            request.answer(error)
        }
    }

    func closeSession(_ session: SessionID, _ request: Request) {
        guard step(.closed(session), for: request) == nil else { return }
        disown(session)
        request.client.sessions.removeAll { $0 == session }
        release(.sessions, 1, of: request.client)
        objectRemoved(session, request.client)
    }

    func declareClient(_ request: Request, _ wire: WireDictionary) throws(BrokerError) {
        var attributes = ClientAttributes()
        var login: LoginSessionID?
        for entry in wire.entries {
            func mistake(_ allowed: String) -> BrokerError {
                BrokerError(.invalidValue, "\(entry.key) is \(entry.value.sentence); it takes \(allowed).")
            }
            switch entry.key {
            case "app":
                guard let name = entry.value.string, !name.isEmpty, name.utf8.count <= AppIdentity.nameBytesMax else {
                    throw mistake("a name of 1 to \(AppIdentity.nameBytesMax) bytes")
                }
                // Whoever means `NAME@USER` means another user's app (`app(_:by:)`).
                if AppID.namingUser(name) != nil {
                    throw mistake("a name that does not end in @ and a number, which stands for a user")
                }
                attributes.claimedApp = AppIdentity.safe(name[...])
            case "kind":
                guard let kind = entry.value.string.flatMap(ClientKind.init(rawValue:)) else {
                    throw mistake(ClientKind.allCases.map(\.rawValue).joined(separator: ", "))
                }
                attributes.kind = kind
            case "multitasking":
                guard let flag = entry.value.boolean else { throw mistake("true or false") }
                attributes.multitasking = flag
            case "requiresFullScreen":
                guard let flag = entry.value.boolean else { throw mistake("true or false") }
                attributes.requiresFullScreen = flag
            case "loginSession" where options.trustsClaims:
                guard let name = entry.value.string, !name.isEmpty, name.utf8.count <= AppIdentity.nameBytesMax else {
                    throw mistake("a login session's name of 1 to \(AppIdentity.nameBytesMax) bytes")
                }
                login = LoginSessionID(AppIdentity.safe(name[...]))
            default:
                throw BrokerError(
                    .invalidValue,
                    "There is no attribute \(entry.key.quotedShort); there are app, kind, multitasking, requiresFullScreen."
                )
            }
        }
        let client = request.client
        // What runs in a sandbox is called as that is: an answer for it is not to be had by claiming another name.
        if attributes.claimedApp != nil, !options.trustsClaims, try livingGroup(of: client).isSandbox {
            attributes.claimedApp = nil
        }
        let before = client.app
        let isNew = client.sessions.isEmpty
        let believed = options.trustsClaims && isNew ? attributes.claimedApp : nil
        try register(client, claimed: believed, login: isNew ? login : nil)
        decide(.declared(client.id, attributes), request)
        // Where only a claim names the app, the core took it.
        client.app = arbiter.app(of: client.id)
        if let app = client.app, app != before {
            rename(client, app)
            tellClientsChanged(of: client.uid)
        }
    }

    func watch(_ client: BrokerClient, _ on: Bool) {
        guard on != client.watches else { return }
        client.watches = on
        watchers += on ? 1 : -1
    }
}
