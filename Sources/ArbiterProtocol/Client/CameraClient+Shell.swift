/// The client as a shell, a compositor or an agent: facts for the broker, from peers that the policy trusts.
/// Every call throws `.notTrusted` when it trusts this one not.
extension CameraClient {
    private func shell(_ member: String, _ arguments: [WireValue]) async throws(BrokerError) {
        _ = try await call(ObjectPath.shell, InterfaceName.shell, member, arguments)
    }

    /// Becomes a presence source, `shell` or `agent`, for as long as the connection lasts.
    public func attach(as source: PresenceSource) async throws(BrokerError) {
        try await shell("Attach", [.string(source.rawValue)])
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

    /// An app's value of an attribute that the policy declares; nil forgets it, and the policy's default counts.
    public func setAttribute(app: String, _ attribute: String, to value: String?) async throws(BrokerError) {
        try await shell("SetAttribute", [.string(app), .string(attribute), .string(value ?? "")])
    }

    /// Unplugs or re-plugs a simulated or file camera.
    public func plug(camera: String, present: Bool) async throws(BrokerError) {
        try await shell("Plug", [.string(camera), .boolean(present)])
    }
}
