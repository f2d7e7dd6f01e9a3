import Arbiter
import ArbiterProtocol
import Scenario

/// The way to a violation, as a scenario that can be run as it stands.
public struct Counterexample: Sendable {
    public let message: String
    /// The scenario; the violation stands in its last line, as a comment.
    public let text: String
    public let length: Int

    init(world: ExploredWorld, path: [(Event, Moment)], message: String) {
        self.message = message
        length = path.count
        var lines = ["# Found by a walk of the world “\(world.name)”: \(message)", ""]
        // The world's own lines up to its first event: its policy and cameras.
        for line in world.scenario.lines {
            if case .input = line.content { break }
            if line.text.first != "#" { lines.append(line.text) }
        }
        lines.append("0s   recorder all manual")
        var arbiter = Arbiter(policy: world.scenario.world.policy)
        var writer = ScenarioWriter(names: world.names)
        // The world's cameras are plugged in by its own lines.
        let cameras = world.scenario.world.cameras.count
        for (index, (event, moment)) in path.enumerated() {
            // The last step may be the one that stops the process; what led to it is the scenario all the same.
            let effects = arbiter.step(event, at: moment)
            if index >= cameras { lines += writer.lines(event, at: moment, effects) }
        }
        lines.append("# broken: \(message)")
        text = lines.joined(separator: "\n") + "\n"
    }
}
