public import Arbiter
public import ArbiterProtocol
import EventTable

/// Turns what happened into lines of a scenario: the runner's notices, the daemon's journal, `Watch`
/// and `Plan`, and the counterexamples of exploration. A whole trace, behind `header`, is a scenario.
public struct ScenarioWriter: Sendable {
    public var names: Names
    /// Times are written from here.
    public let origin: Moment
    public var showsAnnouncements: Bool
    public var showsOrders: Bool
    public var showsSentences: Bool

    public init(
        names: Names = Names(), origin: Moment = .zero, showsAnnouncements: Bool = false, showsOrders: Bool = false,
        showsSentences: Bool = false
    ) {
        self.names = names
        self.origin = origin
        self.showsAnnouncements = showsAnnouncements
        self.showsOrders = showsOrders
        self.showsSentences = showsSentences
    }

    /// What stands before a trace: its title, its world, and that the trace itself brings the recorders' answers.
    public static func header(
        title: String, policy: String, cameras: [Scenario.Camera]
    ) -> [String] {
        ["# \(title)", "", "policy \(policy)"]
            + cameras.map { camera in
                let words = CameraText.write(camera.capabilities, of: camera.id, at: camera.seat)
                return "camera \(camera.id.name.scenarioWord) \(words)"
            }
            + ["", "0s   recorder all manual"]
    }

    /// One step of a trace: the event with its time, then its notices.
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

    /// Gives names to the clients and sessions that an event brings. `lines` does it by itself.
    public mutating func learn(_ event: Event) {
        switch event {
        case .connected(let client, let app, _):
            if names.app(of: client) == nil {
                names.addClient(names.freeClientName(app.name), app: app, id: client)
            }
        case .created(let session, let client, _, _, _):
            if names.client(of: session) == nil {
                names.addSession(names.freeSessionName(names.name(of: client)), client: client, id: session)
            }
        default: break
        }
    }
}
