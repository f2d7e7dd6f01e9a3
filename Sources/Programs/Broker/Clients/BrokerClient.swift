import ArbiterProtocol
import Bus
import Glibc
import System

/// One connection, and its identity: the kernel's, taken when it connected and never changed. Only a user's agent may
/// declare, once, that the connection stands for another process (`Clients.standFor`). Small, since a broker has many clients
/// that hardly ever call.
final class BrokerClient: SlowAsker {
    let id: ClientID
    let connection: BusConnection
    private(set) var pid: Int32
    let uid: UInt32
    private(set) var process: ProcessHandle
    /// The process when it connected, where the kernel named it by its number only; `nil` where the kernel vouches for it.
    private(set) var weak: WeakIdentity?
    /// The app it counts as, from the first call that concerns decisions.
    var app: AppID?
    private(set) var groups: [UInt32]
    /// The login sessions that its right depends on, once it has an app.
    var loginSessions: [LoginSessionID] = []
    /// Its name in traces: its app's, with a number where several clients have it.
    var name = ""
    var isGone = false
    /// The client that stands for all callers by the broker's name on the system bus. It has no process and no user, and is never an app.
    let isVisitor: Bool
    var listenerIndex = 0
    var sessions: [SessionID] = []
    var isSubscribed = false
    /// It has read properties, or asked for `PropertiesChanged`.
    var readsProperties = false
    /// It has added more match rules than are looked through, and receives everything.
    var hasManyRules = false
    var traces = false
    private(set) var more: More?

    /// The state that few clients have.
    final class More {
        var sources: [PresenceSource] = []
        var sourceWords = ""
        var microphones: [AppID] = []
        /// It called `ListUse`, and receives the next `UseChanged`.
        var wantsUse = false
        /// It called `ListClients`, and receives `ClientsChanged`.
        var knowsClients = false
        var placed: Set<AppID> = []
        /// Which client speaks in its place, as a sentence, once it was displaced.
        var displaced: String?
        /// The agent's process that connected, where the client stands for another one.
        var agent: (process: ProcessHandle, isVouched: Bool, login: LoginMembership)?
        /// Its last `DeclarePresence`, to be repeated should its registration be made anew.
        var presence: (Presence, focused: Bool)?

        struct StoodFor {
            var pid: Int32
            var process: ProcessHandle
            var weak: WeakIdentity?
            var groups: [UInt32]
            /// A name that only root can give is believed.
            var isVouched: Bool
            /// Of the process that connected.
            var login: LoginMembership
        }
    }

    init(id: ClientID, connection: BusConnection, credentials: PeerCredentials, groups: [UInt32]) {
        self.id = id
        self.connection = connection
        self.groups = groups
        (pid, uid, process, weak) = (credentials.pid, credentials.uid, credentials.process, credentials.weak)
        isVisitor = false
    }

    init(visitorOn connection: BusConnection) {
        (id, self.connection, groups, isVisitor) = (ClientID(0), connection, [], true)
        // No user has this number, and no process this handle.
        (pid, uid, process) = (0, .max, ProcessHandle(owning: -1))
    }

    func withMore() -> More {
        let present = more ?? More()
        more = present
        return present
    }

    var isWeak: Bool { weak != nil }

    func become(_ other: More.StoodFor) {
        withMore().agent = (process, isVouched: other.isVouched, login: other.login)
        (pid, process, weak, groups) = (other.pid, other.process, other.weak, other.groups)
    }

    var uniqueName: String { ":1.\(id.rawValue)" }

    /// Why it may not speak for a desktop: it was displaced, or else `sentence`.
    func notTrusted(_ sentence: String) -> BrokerError { BrokerError(.notTrusted, more?.displaced ?? sentence) }
}

/// Which clients may know everything, and are believed for everybody. Root is. So is a broker's own user, where that user
/// started it; a service has a user of its own, whose other programs are no more than anybody's.
struct Trust {
    let isService: Bool
    let ownUser = geteuid()

    func isTrusted(_ client: BrokerClient) -> Bool { isTrusted(client.uid) }
    func isTrusted(_ uid: UInt32) -> Bool { uid == 0 || (uid == ownUser && !isService) }

    var words: String { isService || ownUser == 0 ? "root" : "root and user \(ownUser)" }

    /// An app is shown by name to its own user, and to trusted ones.
    func mayKnow(_ app: AppID, _ client: BrokerClient) -> Bool { mayKnow(app, client.uid) }
    func mayKnow(_ app: AppID, _ uid: UInt32) -> Bool { uid == app.user || isTrusted(uid) }

    func shown(_ app: AppID, to client: BrokerClient) -> Interrupter {
        mayKnow(app, client) ? .app(app.name) : .anotherUsersApp
    }

    func require(_ request: Request) throws(BrokerError) {
        guard isTrusted(request.client) else {
            throw BrokerError(
                .notTrusted,
                "This fact concerns every user; it is believed from \(words), not from user \(request.client.uid).")
        }
    }
}
