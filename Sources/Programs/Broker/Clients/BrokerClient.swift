import ArbiterProtocol
import Bus
import Glibc
import System

/// One connection, and its identity: the kernel's, taken when it connected and never changed. Only a user's agent may
/// say, once, that the connection is another process (`Broker+StandFor`). Kept small: a broker has many clients that
/// hardly ever say anything.
final class BrokerClient: SlowAsker {
    let id: ClientID
    let connection: BusConnection
    private(set) var pid: Int32
    let uid: UInt32
    private(set) var process: ProcessHandle
    /// What it seemed to be when it connected, where the kernel named it by its number only; nil: the kernel vouches for it.
    private(set) var weak: WeakIdentity?
    /// The app it counts as; nil until it does something that concerns decisions.
    var app: AppID?
    private(set) var groups: [UInt32]
    /// The login sessions that its right depends on, once it has an app.
    var loginSessions: [LoginSessionID] = []
    /// What traces call it: its app's name, with a number where several clients have it.
    var name = ""
    var isGone = false
    /// Its place among the connections that news for all goes to.
    var place = 0
    var sessions: [SessionID] = []
    var isSubscribed = false
    /// It has read properties, or asked for signals: it is told when properties change.
    var readsProperties = false
    /// It has added more match rules than are looked through, and hears everything.
    var hasManyRules = false
    var traces = false
    private(set) var more: More?

    /// What few clients have.
    final class More {
        var sources: [PresenceSource] = []
        /// What it knows the windows from, in its own words.
        var sourceWords = ""
        var microphones: [AppID] = []
        /// It has asked what is in use, and is told when that changes.
        var wantsUse = false
        /// It has asked for the clients of its user, and is told when they change.
        var knowsClients = false
        /// Apps it has placed, so that their number can be bounded.
        var placed: Set<AppID> = []
        /// Which client speaks in its place, as a sentence; nil: it was never displaced.
        var displaced: String?
        /// The process that connected, where that is not the one the connection is of; and whether what is known of the other
        /// may vouch for it.
        var agent: (process: ProcessHandle, isVouched: Bool, login: LoginMembership)?
        /// What it last said of itself, to be said again should its registration be made anew.
        var presence: (Presence, focused: Bool)?

        struct StoodFor {
            var pid: Int32
            var process: ProcessHandle
            var weak: WeakIdentity?
            var groups: [UInt32]
            /// A name that only root can give is believed.
            var isVouched: Bool
            /// Where the process that connected belongs.
            var login: LoginMembership
        }
    }

    init(id: ClientID, connection: BusConnection, credentials: PeerCredentials, groups: [UInt32]) {
        self.id = id
        self.connection = connection
        pid = credentials.pid
        uid = credentials.uid
        self.groups = groups
        process = credentials.process
        weak = credentials.weak
    }

    func withMore() -> More {
        if let more { return more }
        let made = More()
        more = made
        return made
    }

    var isWeak: Bool { weak != nil }

    func become(_ other: More.StoodFor) {
        withMore().agent = (process, isVouched: other.isVouched, login: other.login)
        (pid, process, weak, groups) = (other.pid, other.process, other.weak, other.groups)
    }

    var uniqueName: String { ":1.\(id.rawValue)" }
}

final class Request {
    let message: BusMessage
    let client: BrokerClient
    var file: ClientFile?
    var files: [ClientFile] = []
    var options = WireDictionary()
    /// A microphone's socket, until an effect takes it.
    var microphone: ClientMicrophone?
    /// Timed metadata for a recording of `owner`'s.
    var group: MetadataGroup?
    var owner: SessionID?
    private(set) var isAnswered = false

    init(_ message: BusMessage, _ client: BrokerClient) {
        self.message = message
        self.client = client
    }

    func answer(_ values: [WireValue] = []) {
        isAnswered = true
        message.answer(values)
    }

    /// Answers with what `body` appends, or with the same as values (`BusMessage.answer`).
    func answer(_ signature: String, or values: @autoclosure () -> [WireValue], _ body: (inout MessageWriter) -> Void) {
        isAnswered = true
        message.answer(signature, or: values(), body)
    }

    func answer(_ error: BrokerError) {
        isAnswered = true
        message.answer(error)
    }

    /// The id that a step gave to what was asked for; of a bracket that of its first photo, whose ids follow each other.
    func answer(id: UInt64) {
        let photos = files.indices.map { WireValue.uint64(id + UInt64($0)) }
        answer([files.isEmpty ? .uint64(id) : .array(type: "t", photos)])
    }

    /// The answer comes later, from elsewhere: every call is answered once.
    func answerLater() { isAnswered = true }

    /// Does what was put off; what that does not answer is answered with nothing.
    func carryOut(_ work: () throws(BrokerError) -> Void) {
        isAnswered = false
        do throws(BrokerError) { try work() } catch { return answer(error) }
        if !isAnswered { answer() }
    }
}

/// What a client may know, and whose word counts for everybody. Root is trusted with everybody's facts. So is a
/// broker's own user, where that user started it; as a service the broker has a user of its own, whose other programs
/// are no more than anybody's.
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
