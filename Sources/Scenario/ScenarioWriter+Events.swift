public import Arbiter
import ArbiterProtocol
import EventTable

extension ScenarioWriter {
    /// The event as an input line, without time and indentation; nil for the mere passing of time.
    public func text(of event: Event) -> String? {
        switch event {
        // What these say depends on what other lines have said, and more than one of their values at a time.
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
            camera.map { "camera=\($0.name.scenarioWord)" }, asked.scenarioWords,
            reestablished ? "reestablished" : nil)
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

extension Names: Naming {}
