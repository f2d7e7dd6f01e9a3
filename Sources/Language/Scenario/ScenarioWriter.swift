import Arbiter
public import ArbiterProtocol

/// Writes events and effects as lines of a scenario: for the runner, the daemon's journal, `Watch` and `Plan`, and the
/// counterexamples of exploration. All lines of a journal, behind `header`, are a scenario.
public struct ScenarioWriter: Sendable {
    public var names: Names
    /// Times are written from here.
    public let origin: Moment
    public var shows: Scenario.Shows

    public init(names: Names = Names(), origin: Moment = .zero, shows: Scenario.Shows = Scenario.Shows()) {
        (self.names, self.origin, self.shows) = (names, origin, shows)
    }

    /// The beginning of a scenario whose lines have the recorders' answers: its title and its world.
    public static func header(title: String, policy: String, cameras: [Scenario.Camera]) -> [String] {
        ["# \(title)", "", "policy \(policy)"]
            + cameras.map { camera in
                let words = CameraText.write(camera.capabilities, of: camera.id, at: camera.seat)
                return "camera \(camera.id.name.scenarioWord) \(words)"
            }
            + ["", "0s   recorder all manual"]
    }

    /// The event with its time, then its notices.
    public mutating func lines(_ event: Event, at moment: Moment, _ effects: [Effect]) -> [String] {
        let time = TimeText.write(moment, from: origin)
        learn(event)
        var lines: [String]
        if let text = text(of: event) {
            lines = [time + String(repeating: " ", count: max(1, Scenario.inputIndent - time.count)) + text]
        } else {
            lines = [time]
        }
        let indent = String(repeating: " ", count: Scenario.noticeIndent)
        lines += effects.compactMap { notice($0).map { indent + $0 } }
        return lines
    }

    /// Gives names to the clients and sessions of an event; `lines` does, too.
    public mutating func learn(_ event: Event) {
        switch event {
        case .connected(let client, let app, _):
            if names.app(of: client) == nil { names.addClient(names.freeClientName(app.name), app: app, id: client) }
        case .created(let session, let client, _, _, _):
            if names.client(of: session) == nil {
                names.addSession(names.freeSessionName(names.name(of: client)), client: client, id: session)
            }
        default: break
        }
    }

    /// The event as an input line, without time and indentation; `nil` for the mere passing of time.
    public func text(of event: Event) -> String? {
        switch event {
        // Their lines depend on other lines, and have several values at a time.
        case .connected(let client, let app, let identity): text(of: client, app, identity)
        case .created(let session, let client, let camera, let asked, let reestablished):
            text(of: session, client, camera, asked, reestablished)
        case .cameraAppeared(let camera, let capabilities, let seat):
            "plug \(camera.name.scenarioWord) \(CameraText.write(capabilities, of: camera, at: seat))"
        default: event.described.line(of: event, names)
        }
    }

    private func text(of client: ClientID, _ app: AppID, _ identity: ClientIdentity) -> String {
        let name = names.name(of: client)
        let groups = identity.groups.map { "\($0)" }.joined(separator: ",")
        return words(
            "connect", name.scenarioWord, app.name == name ? nil : "app=\(app.name.scenarioWord)",
            app.user == Names.usualUser ? nil : "user=\(app.user)", Self.text(of: identity.login),
            groups.isEmpty ? nil : "groups=\(groups)", identity.isWeak ? "weak" : nil,
            identity.isOwn ? "own-broker" : nil, identity.isVerified ? nil : "unverified")
    }

    private func text(
        of session: SessionID, _ client: ClientID, _ camera: CameraID?, _ asked: Configuration, _ reestablished: Bool
    ) -> String {
        let name = names.name(of: session)
        let owner = names.name(of: client)
        return words(
            "session", name.scenarioWord, name == owner ? nil : "of \(owner.scenarioWord)",
            camera.map { "camera=\($0.name.scenarioWord)" }, asked.scenarioWords, reestablished ? "reestablished" : nil)
    }

    private static func text(of login: LoginMembership) -> String? {
        switch login {
        case .seat: nil
        case .outside: "login=none"
        case .session(let id): id.name == "none" ? "login=\"none\"" : "login=\(id.name.scenarioWord)"
        }
    }

    private func words(_ words: String?...) -> String {
        words.compactMap { $0 }.filter { !$0.isEmpty }.joined(separator: " ")
    }
}
