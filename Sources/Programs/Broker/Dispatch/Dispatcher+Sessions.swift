import Arbiter
import ArbiterProtocol
import Bus
import Explain
import System

/// Sessions as they are made and closed, and what clients say they are.
extension Dispatcher {
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
            try clients.charge(.sessions, to: client, "Close one first.")
            var isKept = false
            defer { if !isKept { clients.release(.sessions, 1, of: client) } }
            try clients.register(client)
            let session = SessionID(clients.lastSession + 1)
            clients.owners[session.rawValue] = Clients.Owned(
                client: client, name: clients.sessionNames.take(client.name))
            let chosen = camera.isEmpty ? nil : CameraID(camera)
            let refusal = broker.step(
                .created(session, client.id, camera: chosen, configuration, reestablished: reestablished), for: request)
            guard refusal == nil else {
                clients.disown(session)
                return
            }
            isKept = true
            clients.lastSession += 1
            client.sessions.append(session)
            objectAdded(session, client)
            request.answer([.objectPath(ObjectPath.session(session))])
        } catch { request.answer(error) }
    }

    func closeSession(_ session: SessionID, _ request: Request) {
        guard broker.step(.closed(session), for: request) == nil else { return }
        clients.disown(session)
        request.client.sessions.removeAll { $0 == session }
        clients.release(.sessions, 1, of: request.client)
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
            case "loginSession" where broker.options.trustsClaims:
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
        // A program in a sandbox is named by it: it cannot get another app's answer by claiming another name.
        if attributes.claimedApp != nil, !broker.options.trustsClaims, try clients.livingGroup(of: client).isSandbox {
            attributes.claimedApp = nil
        }
        let before = client.app
        let isNew = client.sessions.isEmpty
        let believed = broker.options.trustsClaims && isNew ? attributes.claimedApp : nil
        try clients.register(client, claimed: believed, login: isNew ? login : nil)
        broker.decide(.declared(client.id, attributes), request)
        // Where only a claim names the app, the core took it.
        client.app = broker.arbiter.app(of: client.id)
        if let app = client.app, app != before {
            clients.rename(client, app)
            broker.desktops.tellClientsChanged(of: client.uid)
        }
    }
}
