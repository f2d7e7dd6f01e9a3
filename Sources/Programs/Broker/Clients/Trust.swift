import ArbiterProtocol
import Glibc

/// What a client may know, and whose word counts for everybody. Root is trusted with everybody's facts. So is a
/// broker's own user, where that user started it; as a service the broker has a user of its own, whose other programs
/// are no more than anybody's.
struct Trust {
    let isService: Bool
    let ownUser = geteuid()

    func isTrusted(_ client: BrokerClient) -> Bool { isTrusted(client.uid) }
    func isTrusted(_ uid: UInt32) -> Bool { uid == 0 || (uid == ownUser && !isService) }

    /// The trusted users, as sentences name them.
    var words: String { isService || ownUser == 0 ? "root" : "root and user \(ownUser)" }

    /// An app is shown by name to its own user, and to trusted ones.
    func mayKnow(_ app: AppID, _ client: BrokerClient) -> Bool { mayKnow(app, client.uid) }
    func mayKnow(_ app: AppID, _ uid: UInt32) -> Bool { uid == app.user || isTrusted(uid) }

    func shown(_ app: AppID, to client: BrokerClient) -> Interrupter {
        mayKnow(app, client) ? .app(app.name) : .anotherUsersApp
    }

    /// - Throws: `.notTrusted`, where a fact concerns every user.
    func require(_ request: Request) throws(BrokerError) {
        guard isTrusted(request.client) else {
            throw BrokerError(
                .notTrusted,
                "This fact concerns every user; it is believed from \(words), not from user \(request.client.uid).")
        }
    }
}
