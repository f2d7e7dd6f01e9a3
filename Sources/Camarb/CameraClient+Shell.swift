public import ArbiterProtocol

/// Where a presence source puts an app.
public struct AppPlacement: Hashable, Sendable {
    public var app: String
    public var presence: Presence
    public var isFocused: Bool

    public init(app: String, presence: Presence, isFocused: Bool) {
        self.app = app
        self.presence = presence
        self.isFocused = isFocused
    }
}

/// A client of the broker's, as its user's agent may know it.
public struct ConnectedClient: Hashable, Sendable {
    /// In the broker's words.
    public var app: String
    public var process: Int32
}

/// The client as a shell, a compositor or an agent: facts for the broker, from peers that the policy trusts.
/// Every call throws `.notTrusted` when it trusts this one not.
extension CameraClient {
    @discardableResult
    func shell(_ member: String, _ arguments: [WireValue] = []) async throws(BrokerError) -> [WireValue] {
        try await call(ObjectPath.shell, InterfaceName.shell, member, arguments)
    }

    /// Becomes a presence source, `shell` or `agent`, for as long as the connection lasts.
    public func attach(as source: PresenceSource) async throws(BrokerError) {
        try await shell("Attach", [.string(source.rawValue)])
    }

    /// The same, with apps placed at once: none of them is in the background for a moment.
    public func attach(as source: PresenceSource, placing apps: [AppPlacement]) async throws(BrokerError) {
        let places: [WireDictionary] = apps.map {
            [
                "app": .string($0.app), "presence": .string($0.presence.wireName), "focused": .boolean($0.isFocused),
            ]
        }
        try await shell("AttachPlacing", [.string(source.rawValue), .dictionaries(places)])
    }

    /// Says what this source knows the windows from, for people that ask for the status.
    /// - Parameter words: at most 255 bytes, such as `sway 1.7`.
    public func describeSource(_ words: String) async throws(BrokerError) {
        try await shell("DescribeSource", [.string(words)])
    }

    /// Stops being a presence source.
    public func detach(as source: PresenceSource) async throws(BrokerError) {
        try await shell("Detach", [.string(source.rawValue)])
    }

    public func place(app: String, _ presence: Presence, focused: Bool = false) async throws(BrokerError) {
        try await shell("PlaceApp", [.string(app), .string(presence.wireName), .boolean(focused)])
    }

    public func takeMicrophone(app: String) async throws(BrokerError) {
        try await shell("TakeMicrophone", [.string(app)])
    }

    public func releaseMicrophone(app: String) async throws(BrokerError) {
        try await shell("ReleaseMicrophone", [.string(app)])
    }

    /// Says whether this client knows, from now on, which of its user's apps have a microphone.
    public func reportMicrophones(_ on: Bool) async throws(BrokerError) {
        try await shell("WatchMicrophones", [.boolean(on)])
    }

    /// The clients of this client's user that have an app. From then on `brokerNotices` has `.clientsChanged`.
    public func listClients() async throws(BrokerError) -> [ConnectedClient] {
        var reader = WireReader("ListClients", try await shell("ListClients"))
        var clients: [ConnectedClient] = []
        for (index, wire) in try reader.dictionaries("clients").enumerated() {
            let fields = WireFields("clients[\(index)]", wire)
            clients.append(
                ConnectedClient(app: try fields.string("app"), process: Int32(clamping: try fields.uint64("process"))))
        }
        return clients
    }

    /// - Parameter camera: its id, or `""` for all.
    public func setPrivacy(_ on: Bool, camera: String = "") async throws(BrokerError) {
        try await shell("SetPrivacy", [.string(camera), .boolean(on)])
    }

    public func setPressure(_ level: SystemPressure) async throws(BrokerError) {
        try await shell("SetPressure", [.string(level.wireName)])
    }

    public func raiseSensitiveContent(app: String) async throws(BrokerError) {
        try await shell("RaiseSensitiveContent", [.string(app)])
    }

    public func setLoginSession(_ session: String, active: Bool, locked: Bool) async throws(BrokerError) {
        try await shell("SetLoginSession", [.string(session), .boolean(active), .boolean(locked)])
    }

    public func setSleep(_ asleep: Bool) async throws(BrokerError) {
        try await shell("SetSleep", [.boolean(asleep)])
    }

    /// The operator's choice; nil takes it back.
    public func setOverride(app: String?) async throws(BrokerError) {
        try await shell("Override", [.string(app ?? "")])
    }

    /// The machine's mode, one that the policy declares; nil takes back what was set, and the policy's calendar counts.
    public func setMode(_ mode: String?) async throws(BrokerError) {
        try await shell("SetMode", [.string(mode ?? "")])
    }

    /// An app's value of an attribute that the policy declares; nil forgets it, and the policy's default counts.
    public func setAttribute(app: String, _ attribute: String, to value: String?) async throws(BrokerError) {
        try await shell("SetAttribute", [.string(app), .string(attribute), .string(value ?? "")])
    }

    /// Unplugs or re-plugs a simulated or file camera.
    public func plug(camera: String, present: Bool) async throws(BrokerError) {
        try await shell("Plug", [.string(camera), .boolean(present)])
    }
}
