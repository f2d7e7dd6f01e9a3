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
        let declared = try ClientDeclaration(wire, trustsClaims: broker.options.trustsClaims)
        var attributes = ClientAttributes()
        attributes.claimedApp = declared.app.map { AppIdentity.safe($0[...]) }
        attributes.kind = declared.kind
        if let flag = declared.multitasking { attributes.multitasking = flag }
        if let flag = declared.requiresFullScreen { attributes.requiresFullScreen = flag }
        let login = declared.loginSession.map { LoginSessionID(AppIdentity.safe($0[...])) }
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
