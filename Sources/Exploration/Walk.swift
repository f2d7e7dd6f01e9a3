public import Arbiter
import ArbiterProtocol
import Scenario

/// Walks a world breadth first, so that the first violation found is one of the shortest.
public struct Walk: Sendable {
    public let world: ExploredWorld
    /// More states than this, and the walk stops and says that it is not complete.
    public let statesMax: Int
    /// Whether every state is compared as a whole too: slow, and only of use where fingerprints are doubted.
    public var checksFingerprints = false

    public struct Report: Sendable {
        public var world: String
        public var states = 0
        public var transitions = 0
        public var depth = 0
        /// Every state that can be reached was.
        public var isComplete = false
        /// The kinds of events that happened and were not refused.
        public var kinds: Set<EventKind> = []
        public var counterexample: Counterexample?
    }

    public init(_ world: ExploredWorld, statesMax: Int) {
        self.world = world
        self.statesMax = statesMax
    }

    private struct Node {
        var parent: Int
        var event: Event
        var moment: Moment
    }

    /// What a walk has seen so far, and the way to each state.
    private struct Visited {
        var report: Report
        var nodes: [Node] = []
        var seen: Set<Fingerprint> = []
        var check: FingerprintCheck?
        /// Something is wrong, or there are as many states as may be.
        var isOver = false
    }

    /// - Parameter forbidding: what else must not be, as a sentence about an arbiter that is in such a state.
    public func run(forbidding: (Arbiter) -> String? = { _ in nil }) -> Report {
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

    /// The world as it is before anybody moves: the first state.
    private func setUp(_ visited: inout Visited) -> ExploredState {
        var start = ExploredState(world.scenario.world.policy)
        for action in world.scenario.setup {
            // An answer that a recorder does not owe would be the world's mistake, and shows in its first state.
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

    /// Takes one step from a state.
    /// - Returns: the state behind it where nobody has seen it before, and nothing is wrong with it.
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
        visited.report.counterexample = counterexample(visited.nodes, visited.nodes.count - 1, message)
        visited.isOver = true
    }

    /// Everything that may happen in a state: the world's moves, the recorders' answers, the earliest deadline.
    private func events(in state: ExploredState) -> [Event] {
        var events = world.actions.compactMap { state.event($0.action) }
        events += state.duties.answers(world.whims)
        if state.arbiter.deadline.map({ $0 < .distantFuture }) ?? false { events.append(.timePassed) }
        return events
    }

    private func counterexample(_ nodes: [Node], _ last: Int, _ message: String) -> Counterexample {
        var path: [(Event, Moment)] = []
        var index = last
        while index >= 0 {
            path.append((nodes[index].event, nodes[index].moment))
            index = nodes[index].parent
        }
        return Counterexample(world: world, path: path.reversed(), message: message)
    }
}

extension ExploredState {
    /// Once nothing is under way any more, a session that waits for the camera waits for one that has it.
    var lostWakeUp: String? {
        guard duties.areDone, arbiter.deadline ?? .distantFuture == .distantFuture, arbiter.isAnybodyUnserved else {
            return nil
        }
        if !arbiter.isAnybodyPerhapsForgotten { return nil }
        let status = arbiter.status()
        for session in status.sessions where session.causes == CauseSet([.videoDeviceInUseByAnotherClient]) {
            guard session.state != .stopped, session.waitsFor != nil else { continue }
            if !status.cameras.contains(where: { $0.holder != nil }) {
                return "4: session \(session.id.rawValue) waits, and nobody has a camera or ever will"
            }
        }
        let faults: Set<Cause> = [.recorderReset, .deviceError]
        for session in status.sessions
        where session.state == .interrupted && session.causes.ordered.allSatisfy(faults.contains) {
            return "4: session \(session.id.rawValue) waits for a recorder that nobody restarts"
        }
        for session in status.sessions where session.state == .starting {
            return "4: session \(session.id.rawValue) asks to run, nothing limits it, and nothing is under way"
        }
        return nil
    }
}
