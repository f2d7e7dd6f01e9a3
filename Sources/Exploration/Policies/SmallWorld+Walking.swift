import Arbiter
import ArbiterProtocol
import Scenario

/// What may happen in a state of a small world. Choices are numbers, so that a path is a list of numbers.
extension SmallWorld {
    /// Time passes to the earliest deadline.
    static let timePasses = Int(UInt16.max)

    /// The state in which a walk begins.
    func beginning(_ policy: Policy) -> ExploredState {
        var state = ExploredState(policy)
        for action in setup {
            if let event = state.event(action) { _ = state.take(event) }
        }
        return state
    }

    /// Calls with every choice that there is, and what happens then: events of one moment.
    /// - Parameter answers: recorders answer as a step of their own, at any time; else at once, within the step.
    func forEachChoice(
        in state: ExploredState, answers: Bool, _ body: (_ choice: Int, _ events: [Event], _ now: Moment) -> Bool
    ) -> Bool {
        for index in moves.indices {
            guard let events = events(of: moves[index], in: state) else { continue }
            if !body(index, events, state.now) { return false }
        }
        var owed = false
        if answers {
            for (index, answer) in state.duties.answers([]).enumerated() {
                owed = true
                if !body(moves.count + index, [answer], state.now) { return false }
            }
        }
        // Recorders answer in time here: what happens when they do not is no question of the policy.
        if !owed, let deadline = state.arbiter.deadline, deadline < .distantFuture {
            return body(Self.timePasses, [.timePassed], max(deadline, state.now))
        }
        return true
    }

    /// Nil: it cannot happen, or says what is known.
    func events(of move: Move, in state: ExploredState) -> [Event]? {
        guard let first = move.actions.first, let event = state.event(first) else { return nil }
        switch event {
        case .startRunning(let session): if state.arbiter.asksToRun(session) { return nil }
        case .stopRunning(let session): if !state.arbiter.asksToRun(session) { return nil }
        case .startRecording(let session):
            if !state.checker.isRunning(session) || state.checker.mark(of: session) & 16 != 0 { return nil }
        case .stopRecording(let session): if state.checker.mark(of: session) & 16 == 0 { return nil }
        // Who asks for nothing has nothing to leave. Who records is taken to stop that first, and its file to be
        // finished: it comes back under its old ids, which the old file's end would be taken for its own.
        case .disconnected(let client):
            let sessions = state.arbiter.sessions(of: client)
            if !sessions.contains(where: state.arbiter.asksToRun) { return nil }
            if sessions.contains(where: { state.duties.mark(of: $0) != 0 }) { return nil }
        default: if state.arbiter.isKnown(event) { return nil }
        }
        if move.actions.count == 1 { return [event] }
        return [event]
            + move.actions.dropFirst().compactMap { action in
                if case .event(let event) = action { event } else { nil }
            }
    }

    /// The events of a path, each with its moment, from the beginning on.
    func events(along path: [Int], _ policy: Policy, answers: Bool) -> [(event: Event, moment: Moment)] {
        var state = beginning(policy)
        var found: [(Event, Moment)] = []
        for choice in path {
            _ = forEachChoice(in: state, answers: answers) { candidate, events, now in
                guard candidate == choice else { return true }
                state.now = now
                for event in events {
                    found.append((event, now))
                    _ = state.take(event)
                }
                if !answers { _ = state.answerAll() }
                return false
            }
        }
        return found
    }
}

extension ExploredState {
    /// Recorders answer everything they owe, in the order in which they were asked.
    mutating func answerAll() -> (effects: [Effect], wrong: [String]) {
        var effects: [Effect] = []
        var wrong: [String] = []
        // Two recorders that answer each other's orders for ever would be the arbiter's fault.
        let answersMax = 200
        for _ in 0..<answersMax {
            guard let answer = duties.answers([]).first else { return (effects, wrong) }
            let (more, mistakes) = take(answer)
            effects += more
            wrong += mistakes
        }
        return (effects, wrong + ["orders and answers do not come to an end"])
    }

    func fold(_ world: SmallWorld, _ cast: FoldedCast, into fold: inout StateFold) {
        arbiter.fold(cast, into: &fold) { session in
            checker.mark(of: session) | duties.mark(of: session) << 20
        } camera: { camera in
            checker.mark(of: camera) | duties.mark(of: camera) << 8
        }
    }
}
