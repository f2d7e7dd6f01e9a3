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
            guard let events = events(of: index, in: state) else { continue }
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
    func events(of move: Int, in state: ExploredState) -> [Event]? {
        guard let events = moves[move].events else {
            // Of one action, which answers what was said last.
            return moves[move].actions.first.flatMap { state.event($0) }.map { [$0] }
        }
        switch moves[move].need {
        case .start(let session):
            return state.checker.exists(session) && !state.arbiter.asksToRun(session) ? events : nil
        case .stop(let session): return state.arbiter.asksToRun(session) ? events : nil
        case .place(let app, let placed, let source): return state.arbiter.isPlaced(app, placed, source) ? nil : events
        case .asked: return isNews(events[0], in: state) ? events : nil
        }
    }

    private func isNews(_ event: Event, in state: ExploredState) -> Bool {
        guard state.isPossible(event), state.duties.allows(event) else { return false }
        switch event {
        case .startRecording(let session, _), .attachMicrophone(let session, _):
            return state.checker.isRunning(session) && state.checker.mark(of: session) & 16 == 0
        case .stopRecording(let session): return state.checker.mark(of: session) & 16 != 0
        // A client that asks for nothing has nothing to leave. One that records is expected to stop that first, and
        // have its file finished: it comes back under its old ids, which the old file's end would be taken for its own.
        case .disconnected(let client):
            let sessions = state.arbiter.sessions(of: client)
            return sessions.contains(where: state.arbiter.asksToRun)
                && !sessions.contains(where: state.duties.owesFile)
        // One trouble at a time: together they make worlds many times as large, and touch each other hardly anywhere.
        case .cameraDisappeared, .privacy(_, on: true), .sleep(true), .policyLoaded(.firstCome):
            return state.isUndisturbed && !state.arbiter.isKnown(event)
        case .configure(let session, let batch):
            // What a policy can see may be at any time.
            let isSeen = batch[.sharingMode] != nil || batch[.activeFormat] != nil
            guard isSeen || state.isUndisturbed else { return false }
            return !state.duties.areConfiguring && !state.arbiter.isConfigured(session, batch)
        default: return !state.arbiter.isKnown(event)
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
    /// The machine is whole and awake, nobody has configured the camera, and the policy is the one that a walk is about.
    fileprivate var isUndisturbed: Bool {
        arbiter.isMachineWhole && policy != Self.builtIn && !arbiter.isAnybodyZoomed
    }
    private static let builtIn = Policy.firstCome.fingerprint

    /// Recorders answer everything they owe, in the order in which they were asked.
    mutating func answerAll() -> (effects: [Effect], wrong: [String]) {
        var effects: [Effect] = []
        var wrong: [String] = []
        for _ in 0..<Self.answersMax {
            guard let answer = duties.firstAnswer else { return (effects, wrong) }
            let (more, mistakes) = take(answer)
            effects += more
            wrong += mistakes
        }
        return (effects, wrong + [Self.endless])
    }

    /// The same, and what went wrong first.
    mutating func answerAll(in memory: inout StepMemory) -> String? {
        for _ in 0..<Self.answersMax {
            guard let answer = duties.firstAnswer else { return nil }
            if let wrong = take(answer, in: &memory).first { return wrong }
        }
        return Self.endless
    }

    /// Two recorders that answer each other's orders for ever would be the arbiter's fault.
    static let answersMax = 200
    private static let endless = "orders and answers do not come to an end"

    /// - Parameter mark: what a walk remembers of a session besides.
    func fold(
        _ world: SmallWorld, _ cast: FoldedCast, into fold: inout StateFold, mark: (SessionID) -> UInt64 = { _ in 0 }
    ) {
        arbiter.fold(cast, into: &fold) { session in
            checker.mark(of: session) | duties.mark(of: session) << 20
                ^ (cast.tellsWhoIsInTheWay ? arbiter.markOfWhoIsInTheWay(of: session, cast) : 0) ^ mark(session)
        } camera: { camera in
            // Under another policy the same state goes on otherwise.
            checker.mark(of: camera) | duties.mark(of: camera) << 8 ^ policy.first << 48
        }
    }
}
