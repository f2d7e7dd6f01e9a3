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

    /// - Parameter forbidding: what else must not be, as a sentence about an arbiter that is in such a state.
    public func run(forbidding: (Arbiter) -> String? = { _ in nil }) -> Report {
        var report = Report(world: world.name)
        var nodes: [Node] = []
        var start = ExploredState(world.scenario.world.policy)
        for action in world.scenario.setup {
            // An answer that a recorder does not owe would be the world's mistake, and shows in its first state.
            guard let event = start.event(action) else { continue }
            report.kinds.insert(event.kind)
            let (_, wrong) = start.take(event)
            nodes.append(Node(parent: nodes.count - 1, event: event, moment: start.now))
            if let message = (wrong + start.arbiter.violations()).first {
                report.counterexample = counterexample(nodes, nodes.count - 1, message)
                return report
            }
        }
        var seen: Set<Fingerprint> = [start.fingerprint]
        var frontier = [(state: start, node: nodes.count - 1)]
        report.states = 1
        var check = checksFingerprints ? FingerprintCheck() : nil
        while !frontier.isEmpty {
            var next: [(state: ExploredState, node: Int)] = []
            report.depth += 1
            for (state, node) in frontier {
                for event in events(in: state) {
                    var after = state
                    if event == .timePassed, let deadline = state.arbiter.deadline {
                        after.now = max(deadline, state.now)
                    }
                    let (effects, wrong) = after.take(event)
                    report.transitions += 1
                    if !effects.contains(where: { if case .refused = $0 { true } else { false } }) {
                        report.kinds.insert(event.kind)
                    }
                    func fail(_ message: String) {
                        nodes.append(Node(parent: node, event: event, moment: after.now))
                        report.counterexample = counterexample(nodes, nodes.count - 1, message)
                    }
                    if let message = wrong.first {
                        fail(message)
                        return report
                    }
                    let fingerprint = after.fingerprint
                    if let message = check?.problem(after, fingerprint) {
                        fail(message)
                        return report
                    }
                    guard seen.insert(fingerprint).inserted else { continue }
                    if let message = after.arbiter.violations().first ?? after.lostWakeUp ?? forbidding(after.arbiter) {
                        fail(message)
                        return report
                    }
                    nodes.append(Node(parent: node, event: event, moment: after.now))
                    next.append((after, nodes.count - 1))
                    report.states += 1
                    if report.states >= statesMax { return report }
                }
            }
            frontier = next
        }
        report.isComplete = true
        return report
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
