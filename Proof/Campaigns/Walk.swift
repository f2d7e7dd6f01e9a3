package import Arbiter
package import ArbiterProtocol
import Explain
import Scenario
import Workbench

/// Walks a world breadth first, so that the first violation is one of the shortest.
package struct Walk: Sendable {
    package let world: ExploredWorld
    package let statesMax: Int
    /// Compares every state as a whole, too: slow, for tests of fingerprints.
    package var checksFingerprints = false

    package struct Report: Sendable {
        package var world: String
        package var states = 0
        package var transitions = 0
        package var depth = 0
        package var isComplete = false
        package var kinds: Set<EventKind> = []
        package var counterexample: Counterexample?
    }

    package init(_ world: ExploredWorld, statesMax: Int) {
        self.world = world
        self.statesMax = statesMax
    }

    private struct Node {
        var parent: Int
        var event: Event
        var moment: Moment
    }

    private struct Visited {
        var report: Report
        var nodes: [Node] = []
        var seen: Set<Fingerprint> = []
        var check: FingerprintCheck?
        var isOver = false
    }

    /// - Parameter forbidding: another violation of a state, as a sentence.
    package func run(forbidding: (Arbiter) -> String? = { _ in nil }) -> Report {
        var visited = Visited(report: Report(world: world.name), check: checksFingerprints ? FingerprintCheck() : nil)
        var frontier = [(state: setUp(&visited), node: visited.nodes.count - 1)]
        while !frontier.isEmpty, !visited.isOver {
            var next: [(state: ExploredState, node: Int)] = []
            visited.report.depth += 1
            for (state, node) in frontier {
                for event in events(in: state) {
                    if let after = visit(event, from: state, node, &visited, forbidding) {
                        next.append((after, visited.nodes.count - 1))
                    }
                    if visited.isOver { return visited.report }
                }
            }
            frontier = next
        }
        visited.report.isComplete = !visited.isOver
        return visited.report
    }

    private func setUp(_ visited: inout Visited) -> ExploredState {
        var start = ExploredState(world.scenario.world.policy)
        for action in world.scenario.setup {
            // An answer that no recorder owes is the world's mistake, and shows in its first state.
            guard let event = start.event(action) else { continue }
            visited.report.kinds.insert(event.kind)
            let (_, wrong) = start.take(event)
            let before = visited.nodes.count - 1
            if let message = (wrong + start.arbiter.violations()).first {
                fail(message, event, at: start.now, after: before, &visited)
                return start
            }
            visited.nodes.append(Node(parent: before, event: event, moment: start.now))
        }
        visited.seen = [start.fingerprint]
        visited.report.states = 1
        return start
    }

    /// - Returns: the next state, where it is new and without a violation.
    private func visit(
        _ event: Event, from state: ExploredState, _ node: Int, _ visited: inout Visited,
        _ forbidding: (Arbiter) -> String?
    ) -> ExploredState? {
        var after = state
        if event == .timePassed, let deadline = state.arbiter.deadline { after.now = max(deadline, state.now) }
        let (effects, wrong) = after.take(event)
        visited.report.transitions += 1
        if !effects.contains(where: { if case .refused = $0 { true } else { false } }) {
            visited.report.kinds.insert(event.kind)
        }
        let fingerprint = after.fingerprint
        if let message = wrong.first ?? visited.check?.problem(after, fingerprint) {
            fail(message, event, at: after.now, after: node, &visited)
            return nil
        }
        guard visited.seen.insert(fingerprint).inserted else { return nil }
        if let message = after.arbiter.violations().first ?? after.lostWakeUp ?? forbidding(after.arbiter) {
            fail(message, event, at: after.now, after: node, &visited)
            return nil
        }
        visited.nodes.append(Node(parent: node, event: event, moment: after.now))
        visited.report.states += 1
        visited.isOver = visited.report.states >= statesMax
        return after
    }

    private func fail(_ message: String, _ event: Event, at moment: Moment, after node: Int, _ visited: inout Visited) {
        visited.nodes.append(Node(parent: node, event: event, moment: moment))
        var path: [(Event, Moment)] = []
        var index = visited.nodes.count - 1
        while index >= 0 {
            path.append((visited.nodes[index].event, visited.nodes[index].moment))
            index = visited.nodes[index].parent
        }
        visited.report.counterexample = Counterexample(world: world, path: path.reversed(), message: message)
        visited.isOver = true
    }

    /// The world's moves, the recorders' answers, the earliest deadline.
    private func events(in state: ExploredState) -> [Event] {
        var events = world.actions.compactMap { state.event($0.action) }
        events += state.duties.answers(world.faults)
        if state.arbiter.deadline.map({ $0 < .distantFuture }) ?? false { events.append(.timePassed) }
        return events
    }
}

/// The path to a violation, as a scenario that runs.
package struct Counterexample: Sendable {
    package let message: String
    /// The last line has the violation as a comment.
    package let text: String
    package let length: Int

    init(world: ExploredWorld, path: [(Event, Moment)], message: String) {
        self.message = message
        length = path.count
        var lines = ["# Found by a walk of the world “\(world.name)”: \(message)", ""]
        // The world's policy and cameras.
        for line in world.scenario.lines {
            if case .input = line.content { break }
            if line.text.first != "#" { lines.append(line.text) }
        }
        lines.append("0s   recorder all manual")
        var arbiter = Arbiter(policy: world.scenario.world.policy)
        var writer = ScenarioWriter(names: world.names)
        let cameras = world.scenario.world.cameras.count
        for (index, (event, moment)) in path.enumerated() {
            let effects = arbiter.step(event, at: moment)
            if index >= cameras { lines += writer.lines(event, at: moment, effects) }
        }
        lines.append("# broken: \(message)")
        text = lines.joined(separator: "\n") + "\n"
    }
}
