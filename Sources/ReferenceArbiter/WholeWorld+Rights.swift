import ArbiterProtocol

/// The right to use a camera at all, looked up anew each time.
extension WholeWorld {
    /// Whether the client has a right to the camera, and if so whether it may be used now: it is not its seat that shows
    /// somebody else.
    func right(_ client: Client, to camera: CameraID, _ rights: HouseRights) -> (has: Bool, now: Bool) {
        let user = client.app.id.user
        if user == 0 { return (true, true) }
        if rights.onlyStrong, client.identity.isWeak { return (false, false) }
        let isNamed =
            client.identity.isOwn || rights.users.contains(user)
            || client.identity.groups.contains { rights.groups.contains($0) }
            || (!client.app.isClaimed && rights.services.contains(client.app.id.name))
        if isNamed { return (true, true) }
        guard rights.seat, let seat = cameras[camera]?.seat else { return (false, false) }
        if client.identity.login == .seat { return (true, true) }
        let own = logins.filter { ($0.value.user == user || $0.key == client.login) && $0.value.seat == seat }
        return (!own.isEmpty, own.values.contains { $0.isActive && !$0.isLocked })
    }

    /// Cause 102: its login session is not the active one, or its seat is somebody else's just now.
    func isAway(_ session: Session, _ rights: HouseRights) -> Bool {
        guard let client = clients[session.client] else { return false }
        return loginState(client) == .inactive || !right(client, to: session.camera, rights).now
    }

    /// More than one user's sessions ask to run.
    var severalUsersAsk: Bool {
        Set(sessions.values.filter { $0.started != nil }.map { app($0).id.user }).count > 1
    }
}

/// The policy's rights to use cameras, in the reference's own words.
public struct HouseRights: Sendable {
    /// The user that sits at the camera's seat.
    public var seat = true
    public var users: [UInt32] = []
    public var groups: [UInt32] = []
    public var services: [String] = []
    public var onlyStrong = false
    /// Apps that `services` does not name need their user's yes.
    public var asks = false

    public init() {}
}
