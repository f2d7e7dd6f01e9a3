import Arbiter
import ArbiterProtocol
import Glibc
import Metrics
public import SystemdBus

extension Broker: BusConnectionDelegate {
    /// A connection arrived. Its identity comes from the kernel, now or never.
    func accept(_ descriptor: Int32) {
        let credentials: PeerCredentials
        do throws(SystemFault) {
            credentials = try PeerCredentials(ofSocket: descriptor, byNumber: options.hasWeakIdentities)
        } catch {
            // Never "assume": who cannot be named is not served.
            refusedConnection("\(error)")
            close(descriptor)
            return
        }
        let ofUser = connectionsOfUser[credentials.uid, default: 0]
        guard clients.count < options.connectionsMax, ofUser < options.connectionsPerUserMax else {
            let limit =
                ofUser >= options.connectionsPerUserMax
                ? "user \(credentials.uid) has \(ofUser) connections (--max-connections-per-user)"
                : "there are \(clients.count) connections (--max-connections)"
            refusedConnection("process \(credentials.pid): \(limit)")
            close(descriptor)
            return
        }
        lastClient += 1
        do throws(SystemFault) {
            let connection = try BusConnection(adopting: descriptor, as: .server, on: loop, delegate: self)
            connection.tag = lastClient
            let client = BrokerClient(id: ClientID(lastClient), connection: connection, credentials: credentials)
            clients[lastClient] = client
            client.place = audience.count
            audience.append(
                Listener(
                    connection: connection, uid: client.uid,
                    isSilentUntil: EventLoop.now + Self.silenceTimeMax))
            connectionsOfUser[client.uid] = ofUser + 1
            try processes?.add(client.process, tag: lastClient)
        } catch {
            refusedConnection("process \(credentials.pid): \(error)")
            if let client = clients[lastClient] { forget(client) }
        }
    }

    /// How long a client may take from connecting to its first call before it counts as one that only listens, in
    /// nanoseconds. What it misses until then it could not have known the beginning of.
    static let silenceTimeMax: Int64 = 2_000_000_000

    /// At most one line a second: whoever connects in a loop must not fill the journal with it.
    func refusedConnection(_ why: String) {
        disconnects.note("refused")
        let now = EventLoop.now
        guard now >= refusals.silentUntil else {
            refusals.untold += 1
            return
        }
        let others = refusals.untold > 0 ? " (and \(refusals.untold) others since the last such line)" : ""
        refusals = (now + 1_000_000_000, 0)
        journal.send(.warning, "refused a connection: \(why)\(others)")
    }

    public func connectionReady(_ connection: BusConnection) {}

    public func connection(_ connection: BusConnection, received message: BusMessage) {
        guard let client = clients[connection.tag] else { return }
        // Signals from clients mean nothing here; answers cannot be, since nothing is asked.
        guard message.kind == .call else { return }
        if audience[client.place].isSilentUntil != nil { audience[client.place].isSilentUntil = nil }
        dispatch(Request(message, client))
    }

    public func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        guard let client = clients[connection.tag] else { return }
        disconnects.note(end.word)
        switch end {
        case .disconnected: break
        case .authenticationTimedOut:
            journal.send(.notice, "disconnected process \(client.pid): it did not authenticate in time")
        case .tooMuchQueued:
            journal.send(.notice, "disconnected process \(client.pid): it does not read what it is sent")
        case .messageTooLong:
            journal.send(
                .notice,
                "disconnected process \(client.pid): it sent more than \(BusConnection.messageBytesMax) bytes in one message"
            )
        case .fault(let fault):
            journal.send(.notice, "disconnected process \(client.pid): \(fault)")
        }
        forget(client)
    }

    /// The socket may well stay open, in a child: it is the process that counts.
    func clientProcessEnded(_ tag: UInt64) {
        guard let client = clients[tag] else { return }
        client.connection.close()
        forget(client)
    }

    /// Everything it had is free in this step.
    func forget(_ client: BrokerClient) {
        if client.isGone { return }
        client.isGone = true
        processes?.remove(client.process)
        client.connection.close()
        if client.app != nil { unregister(client) }
        for session in client.sessions {
            owners[session.rawValue] = nil
            metrics.forget(session)
        }
        client.sessions = []
        if let more = client.more {
            for app in more.microphones where !isMicrophoneTaken(app) { step(.microphone(app, taken: false)) }
            for source in more.sources { detach(source, client) }
            forgetMicrophones(client)
            if more.knowsClients { clientLists -= 1 }
        }
        if client.watches { watchers -= 1 }
        setTraces(client, false)
        clients[client.id.rawValue] = nil
        // The last one takes its place.
        if let last = audience.popLast(), client.place < audience.count {
            audience[client.place] = last
            clients[last.connection.tag]?.place = client.place
        }
        let left = connectionsOfUser[client.uid, default: 1] - 1
        connectionsOfUser[client.uid] = left > 0 ? left : nil
        if client.app != nil { tellClientsChanged(of: client.uid) }
    }

    // MARK: Registration

    /// Makes the client known to the core, with the app the kernel names, before the first thing that concerns
    /// decisions. One that only looks on (a monitor, a status line) is nobody's app and in nobody's foreground.
    /// - Parameters:
    ///   - claimed: what `--trust-claims` lets it be.
    ///   - login: the login session that it lets it be in.
    func register(
        _ client: BrokerClient, claimed: String? = nil, login: LoginSessionID? = nil
    ) throws(BrokerError) {
        if client.app != nil && claimed == nil && login == nil { return }
        try requireSameProcess(client)
        guard let identity = AppIdentity.of(client.pid, user: client.uid, client.process) else {
            throw BrokerError(.disconnected, "The process that connected is gone.")
        }
        let app = AppID(claimed ?? identity.name, user: client.uid)
        if client.app == app && claimed == nil && login == nil { return }
        if client.app != nil { unregister(client) }
        client.app = app
        client.loginSession = login ?? LoginSessionWatch.id(of: identity.membership)
        if let session = client.loginSession { logins?.join(session) }
        client.name = freeClientName(app.name, except: client)
        step(
            .connected(
                client.id, app: app, verified: claimed != nil || identity.isVerified,
                loginSession: client.loginSession))
        if let said = client.more?.presence {
            step(.declaredPresence(client.id, said.0, focused: said.focused))
        }
        tellClientsChanged(of: client.uid)
    }

    /// The core forgets it, and the session nobody else is in.
    private func unregister(_ client: BrokerClient) {
        step(.disconnected(client.id))
        if let session = client.loginSession { logins?.leave(session) }
        client.loginSession = nil
    }
}
