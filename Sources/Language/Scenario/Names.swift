public import Arbiter
public import ArbiterProtocol
import Explain

/// The names of clients and sessions in a scenario, and their ids.
public struct Names: Sendable {
    /// The user whose apps need no `@user` behind their name: the first one Debian creates.
    public static let usualUser: UInt32 = 1000

    /// The user of apps without `@user`: in a plan, the one that asks.
    var user = Self.usualUser

    private(set) var clients: [(name: String, id: ClientID, app: AppID)] = []
    private(set) var sessions: [(name: String, id: SessionID, client: ClientID)] = []
    private var clientByName: [String: Int] = [:]
    private var sessionByName: [String: Int] = [:]
    private var clientByID: [ClientID: Int] = [:]
    private var sessionByID: [SessionID: Int] = [:]
    private var nextClient: UInt64 = 1
    private var nextSession: UInt64 = 1

    public init() {}

    /// The clients and sessions of an arbiter by their apps: `photos`, `photos-2`. Clients without a session have no
    /// name.
    public init(of arbiter: Arbiter) {
        for session in arbiter.status().sessions {
            if app(of: session.client) == nil {
                addClient(freeClientName(session.app.name), app: session.app, id: session.client)
            }
            addSession(freeSessionName(name(of: session.client)), client: session.client, id: session.id)
        }
    }

    /// A name that is taken goes to the new client, since a client that went may come back.
    /// - Parameter id: `nil` for the next free one.
    @discardableResult public mutating func addClient(_ name: String, app: AppID, id: ClientID? = nil) -> ClientID {
        let id = id ?? ClientID(nextClient)
        nextClient = max(nextClient, id.rawValue + 1)
        clientByName[name] = clients.count
        clientByID[id] = clients.count
        clients.append((name, id, app))
        return id
    }

    @discardableResult
    public mutating func addSession(_ name: String, client: ClientID, id: SessionID? = nil) -> SessionID {
        let id = id ?? SessionID(nextSession)
        nextSession = max(nextSession, id.rawValue + 1)
        sessionByName[name] = sessions.count
        sessionByID[id] = sessions.count
        sessions.append((name, id, client))
        return id
    }

    /// `name`, or `name-2`, `name-3`… when a client has it.
    public func freeClientName(_ name: String) -> String { free(name) { clientByName[$0] == nil } }
    public func freeSessionName(_ name: String) -> String { free(name) { sessionByName[$0] == nil } }

    private func free(_ name: String, _ isFree: (String) -> Bool) -> String {
        if isFree(name) { return name }
        var count = 2
        while !isFree("\(name)-\(count)") { count += 1 }
        return "\(name)-\(count)"
    }

    public func client(_ name: String) -> ClientID? { clientByName[name].map { clients[$0].id } }
    public func session(_ name: String) -> SessionID? { sessionByName[name].map { sessions[$0].id } }

    /// `notes@1001`, or `notes`: of the usual user where that user has connected it or nobody has, else of the last
    /// user that did.
    public func app(_ text: String) -> AppID {
        if let (name, user) = AppID.namingUser(text) { return AppID(String(name), user: user) }
        let usual = AppID(text, user: user)
        if clients.contains(where: { $0.app == usual }) { return usual }
        return clients.last { $0.app.name == text }?.app ?? usual
    }

    /// `nil` where a bare name means one app; else a sentence with the users who have connected an app of that name.
    func ambiguity(of text: String) -> String? {
        guard AppID.namingUser(text) == nil else { return nil }
        let users = Set(clients.lazy.filter { $0.app.name == text }.map(\.app.user)).sorted()
        guard users.count > 1, !users.contains(user) else { return nil }
        return "users \(users.map(String.init).joined(separator: " and ")) have a “\(text)”; say "
            + users.map { "\(text)@\($0)" }.joined(separator: " or ")
    }

    var sessionNames: [String] { sessionByName.keys.sorted() }
    var clientNames: [String] { clientByName.keys.sorted() }

    public func name(of client: ClientID) -> String {
        clientByID[client].map { clients[$0].name } ?? "client-\(client.rawValue)"
    }

    public func name(of session: SessionID) -> String {
        sessionByID[session].map { sessions[$0].name } ?? "session-\(session.rawValue)"
    }

    public func client(of session: SessionID) -> ClientID? { sessionByID[session].map { sessions[$0].client } }
    public func app(of client: ClientID) -> AppID? { clientByID[client].map { clients[$0].app } }

    public func name(of app: AppID) -> String {
        let plain = self.app(app.name) == app && ambiguity(of: app.name) == nil
        return (plain ? app.name : "\(app.name)@\(app.user)").scenarioWord
    }
}
