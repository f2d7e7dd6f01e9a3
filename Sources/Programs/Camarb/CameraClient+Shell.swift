public import ArbiterProtocol

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
        try await shell("AttachPlacing", [.string(source.rawValue), apps.wireValue])
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

    /// Announces whether this client reports, from now on, which of its user's apps have a microphone.
    public func reportMicrophones(_ on: Bool) async throws(BrokerError) {
        try await shell("WatchMicrophones", [.boolean(on)])
    }

    /// The clients of this client's user that have an app. From then on `brokerNotices` has `.clientsChanged`.
    public func listClients() async throws(BrokerError) -> [ConnectedClient] {
        var reader = WireReader("ListClients", try await shell("ListClients"))
        return try reader.read("clients")
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

    public func setSleep(_ asleep: Bool) async throws(BrokerError) { try await shell("SetSleep", [.boolean(asleep)]) }

    /// The operator's choice; nil takes it back.
    public func setOverride(app: String?) async throws(BrokerError) {
        try await shell("Override", [.string(app ?? "")])
    }

    /// The machine's mode, one that the policy declares; nil takes back what was set, and the policy's calendar counts.
    public func setMode(_ mode: String?) async throws(BrokerError) { try await shell("SetMode", [.string(mode ?? "")]) }

    /// An app's value of an attribute that the policy declares; nil forgets it, and the policy's default counts.
    public func setAttribute(app: String, _ attribute: String, to value: String?) async throws(BrokerError) {
        try await shell("SetAttribute", [.string(app), .string(attribute), .string(value ?? "")])
    }

    /// Unplugs or re-plugs a simulated or file camera.
    public func plug(camera: String, present: Bool) async throws(BrokerError) {
        try await shell("Plug", [.string(camera), .boolean(present)])
    }
}

/// The client as the one that asks the user about apps, and that shows and ends what they do.
extension CameraClient {
    /// Has `brokerNotices` tell `.question` and `.questionEnded` from now on, the one that stands at once; or ends that.
    /// - Throws: `.notTrusted` with the client that asks already.
    public func answerQuestions(_ on: Bool = true) async throws(BrokerError) {
        try await shell("WatchQuestions", [.boolean(on)])
    }

    /// - Throws: `.invalidValue` where the question is over.
    public func answer(_ question: QuestionID, _ answer: AppAnswer) async throws(BrokerError) {
        try await shell("AnswerQuestion", [.uint32(question), .string(answer.rawValue)])
    }

    /// The answers about this user's apps, by name, the vouched apps first.
    public func storedAnswers() async throws(BrokerError) -> [StoredAnswer] {
        var reader = WireReader("ListAnswers", try await shell("ListAnswers"))
        return try reader.read("answers")
    }

    /// Says what is answered to an app of this user's; nil forgets it.
    /// - Parameter isVouched: whether the one is meant that the kernel vouches for, or the one that claims the name.
    public func setAnswer(app: String, isVouched: Bool, _ answer: AppAnswer?) async throws(BrokerError) {
        try await shell("SetAnswer", [.string(app), .boolean(isVouched), .string(answer?.rawValue ?? "")])
    }

    /// The apps to which the permission store says no; they replace those of the call before.
    public func setDenied(apps: [String]) async throws(BrokerError) { try await shell("SetDenied", [.strings(apps)]) }

    /// Stops an app's sessions; none of them starts again by itself.
    public func stop(app: String) async throws(BrokerError) { try await shell("StopApp", [.string(app)]) }

    /// The privacy switch for all sessions of this client's user. It stays when this client leaves.
    public func setOwnPrivacy(_ on: Bool) async throws(BrokerError) { try await shell("SetOwnPrivacy", [.boolean(on)]) }

    /// The cameras that somebody has, or that this user's apps wait for. From then on `brokerNotices` has `.useChanged`
    /// once, until the next call.
    public func cameraUse() async throws(BrokerError) -> [CameraUse] {
        var reader = WireReader("ListUse", try await shell("ListUse"))
        return try reader.read("cameras")
    }
}
