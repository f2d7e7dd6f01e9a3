import Arbiter
import ArbiterProtocol
import Bus
import Glibc
import System

/// Connections as they come, call and go. A peer's identity is the kernel's.
extension Clients: BusConnectionDelegate {
    func accept(_ descriptor: Int32) {
        let credentials: PeerCredentials
        do throws(SystemFault) {
            credentials = try PeerCredentials(ofSocket: descriptor, byNumber: broker.options.hasWeakIdentities)
        } catch {
            // Never "assume": a peer that cannot be named is not served.
            refusedConnection("\(error)", of: nil)
            keepers.close(descriptor, user: .max)
            return
        }
        let groups = PeerGroups.of(descriptor, primary: credentials.gid)
        // The journal has the refusal, and a socket is told by its end.
        try? admit(descriptor, credentials, groups)
    }

    /// Makes a connection for a process that did not connect, and has that process's identity all the same.
    /// - Returns: its end, which is as a socket that has connected: to be authenticated, and blocking. The caller's to pass and close.
    func connect(_ credentials: PeerCredentials, groups: [UInt32]) throws(BrokerError) -> Int32 {
        let (ours, theirs): (Int32, Int32)
        do throws(SystemFault) { (ours, theirs) = try UnixPair.make() } catch {
            throw BrokerError(.outOfResources, "The connection could not be made: \(error).")
        }
        do throws(BrokerError) { try admit(ours, credentials, groups, isOwnSocket: true) } catch {
            close(theirs)
            throw error
        }
        _ = fcntl(theirs, F_SETFL, fcntl(theirs, F_GETFL) & ~O_NONBLOCK)
        return theirs
    }

    /// - Parameter descriptor: taken over.
    /// - Parameter isOwnSocket: this process has made it, so that the kernel's word about its peer is of this process.
    private func admit(
        _ descriptor: Int32, _ credentials: PeerCredentials, _ groups: [UInt32], isOwnSocket: Bool = false
    ) throws(BrokerError) {
        do throws(Budgets.Refusal) { try budgets.charge(.connections, to: credentials.uid) } catch {
            refusedConnection("process \(credentials.pid): \(error.sentence)\(error.flag)", of: credentials.uid)
            keepers.close(descriptor, user: credentials.uid)
            throw BrokerError(.limitExceeded, "\(error.sentence) Close one first.")
        }
        lastClient += 1
        let id = lastClient
        do throws(SystemFault) {
            let connection = try BusConnection(
                adopting: descriptor, as: .server, on: broker.loop, delegate: self,
                named: isOwnSocket ? credentials.uid : nil,
                account: .user(credentials.uid, isFirst: trust.isTrusted(credentials.uid)), keepers: keepers)
            connection.tag = id
            let client = BrokerClient(
                id: ClientID(id), connection: connection, credentials: credentials, groups: groups)
            all[id] = client
            broker.audience.add(client)
            try processes?.add(client.process, tag: id)
            for tag in halfOpen.add(id, of: client.uid, at: EventLoop.now) { makeRoom(tag) }
        } catch {
            refusedConnection("process \(credentials.pid): \(error)", of: credentials.uid)
            if let client = self[id] {
                forget(client)
            } else {
                budgets.release(.connections, of: credentials.uid)
            }
            throw BrokerError(.outOfResources, "The connection could not be made: \(error).")
        }
    }

    private func makeRoom(_ tag: UInt64) {
        guard let client = self[tag] else { return }
        disconnects.note("not-authenticated")
        lines.send(
            .notice, about: client.uid,
            "disconnected process \(client.pid): it had not authenticated, and there are too many of those")
        forget(client)
    }

    func refusedConnection(_ why: String, of user: UInt32?) {
        disconnects.note("refused")
        lines.send(.warning, about: user, "refused a connection: \(why)")
    }

    func connectionReady(_ connection: BusConnection) { halfOpen.remove(connection.tag) }

    func connection(_ connection: BusConnection, received message: BusMessage) {
        guard let client = self[connection.tag] else { return }
        // Signals from clients mean nothing here; answers cannot be, since nothing is asked.
        guard message.kind == .call else { return }
        broker.audience.hasSpoken(client)
        broker.dispatcher.dispatch(Request(message, client))
    }

    func connectionEnded(_ connection: BusConnection, _ end: BusConnection.End) {
        guard let client = self[connection.tag] else { return }
        let (word, fault) = Self.words(of: end)
        disconnects.note(word)
        if let why = fault {
            lines.send(.notice, about: client.uid, "disconnected process \(client.pid): \(why)")
        }
        forget(client)
    }

    /// An end's name in metrics, and the fault of a connection that did not just end.
    private static func words(of end: BusConnection.End) -> (word: String, fault: String?) {
        switch end {
        case .disconnected: ("by-client", nil)
        case .authenticationTimedOut: ("not-authenticated", "it did not authenticate in time")
        case .tooMuchQueued: ("does-not-read", "it does not read what it is sent")
        case .messageTooLong(let bytes):
            ("message-too-long", "it began a message of \(bytes) bytes; one may have \(BusConnection.messageBytesMax)")
        case .messageNotWhole: ("message-not-whole", "it began a message and did not end it in time")
        case .unfit(let what): ("unfit", what)
        case .fault(let fault): ("fault", "\(fault)")
        }
    }

    /// The socket may well stay open, in a child: it is the process that counts.
    func processEnded(_ tag: UInt64) {
        guard let client = self[tag] else { return }
        client.connection.close()
        forget(client)
    }

    /// All its resources are free after this step.
    func forget(_ client: BrokerClient) {
        if client.isGone { return }
        client.isGone = true
        processes?.remove(client.process)
        if let agent = client.more?.agent { processes?.remove(agent.process) }
        client.connection.close()
        halfOpen.remove(client.id.rawValue)
        cameras.forgetQuestions(of: client)
        if client.app != nil { unregister(client) }
        for session in client.sessions { disown(session) }
        release(.sessions, client.sessions.count, of: client.uid)
        client.sessions = []
        desktops.forget(client)
        broker.publisher.forget(client)
        broker.properties.forget(client)
        names.give(back: client.name)
        all[client.id.rawValue] = nil
        broker.audience.remove(client, self)
        release(.connections, 1, of: client.uid)
        broker.permissions.clientLeft(client)
        if client.app != nil { desktops.notifyClientsChanged(of: client.uid) }
    }

    /// Makes the client known to the core, with the app the kernel names, before the first call that concerns
    /// decisions. A client that only looks on (a monitor, a status line) is no app and in no foreground.
    func register(_ client: BrokerClient, claimed: String? = nil, login: LoginSessionID? = nil) throws(BrokerError) {
        if client.app != nil && claimed == nil && login == nil { return }
        let identity = try identity(of: client)
        let app = AppID(claimed ?? identity.name, user: client.uid)
        if client.app == app && claimed == nil && login == nil { return }
        if client.app != nil { unregister(client) }
        client.app = app
        let membership = login.map { .session($0) } ?? membership(of: client, identity)
        client.loginSessions = LoginSessionObserver.sessions(for: membership, of: client.uid)
        for session in client.loginSessions { desktops.logins?.join(session, user: client.uid) }
        rename(client, app)
        broker.step(
            .connected(client.id, app: app, self.identity(of: client, identity, isNamed: claimed != nil, membership)))
        broker.permissions.loadSoon(for: client)
        if let presence = client.more?.presence {
            broker.step(.declaredPresence(client.id, presence.0, focused: presence.focused))
        }
        desktops.notifyClientsChanged(of: client.uid)
    }

    func rename(_ client: BrokerClient, _ app: AppID) {
        names.give(back: client.name)
        client.name = names.take(app.name)
    }

    func disown(_ session: SessionID) {
        if let owned = owners.removeValue(forKey: session.rawValue) { sessionNames.give(back: owned.name) }
        broker.publisher.metrics.forget(session)
        broker.properties.forget(session)
    }

    private func unregister(_ client: BrokerClient) {
        broker.step(.disconnected(client.id))
        for session in client.loginSessions { desktops.logins?.leave(session) }
        client.loginSessions = []
    }
}

/// Connections that have not authenticated yet. Each costs what a whole one does, so they are few, and the oldest goes when
/// another comes (dbus-daemon's `max_incomplete_connections` is 64, too): first of the user that has most of them, so that
/// beside a flood another user's half-open connection stays until its own deadline.
package struct HalfOpenConnections: Sendable {
    package static let countMax = 64
    package static let ofUserMax = 8
    /// A user's connection younger than this, in nanoseconds, does not go because the same user has more than
    /// `ofUserMax`: a desktop that begins opens a dozen at once, and libraries take three round trips to authenticate.
    package static let graceTime: Int64 = 250_000_000

    private struct Entry {
        var tag: UInt64
        var user: UInt32
        var since: Int64
    }

    private var entries: [Entry] = []
    package var count: Int { entries.count }
    package init() {}

    /// - Returns: the connections that have to go, the oldest first; they are not counted any more.
    package mutating func add(_ tag: UInt64, of user: UInt32, at now: Int64) -> [UInt64] {
        entries.append(Entry(tag: tag, user: user, since: now))
        var gone: [UInt64] = []
        while count(of: user) > Self.ofUserMax, let oldest = entries.firstIndex(where: { $0.user == user }),
            now - entries[oldest].since >= Self.graceTime
        {
            gone.append(entries.remove(at: oldest).tag)
        }
        while entries.count > Self.countMax { gone.append(entries.remove(at: oldestOfTheMost()).tag) }
        return gone
    }

    package mutating func remove(_ tag: UInt64) { entries.removeAll { $0.tag == tag } }

    private func count(of user: UInt32) -> Int { entries.count { $0.user == user } }

    /// Of several users that have most, the one whose oldest is the oldest.
    private func oldestOfTheMost() -> Int {
        var counts: [UInt32: Int] = [:]
        for entry in entries { counts[entry.user, default: 0] += 1 }
        let most = counts.values.max() ?? 0
        return entries.firstIndex { counts[$0.user] == most } ?? 0
    }
}
