import Arbiter
import ArbiterProtocol
import Explain
import Scenario

/// Looks in one world for a course of events that goes on for ever while somebody asks all along and never runs. Such a
/// course in a finite world comes back to a state in which it has been, so it is a way there and a loop; or it ends
/// where nothing has to happen any more. In the loop time has to pass: a client that starts and stops within one moment
/// keeps nobody waiting. Mirror images are told apart here, and what is left of leases is counted: folded, two apps
/// that wait by turns would look like one that waits for ever, and a lease that has just begun would be over.
struct FairSearch: LevelSearch {
    struct Found {
        var statement: Statement
        var session: SessionID
        var stem: [Int]
        /// Empty: nothing has to happen any more.
        var loop: [Int]
    }

    var scout: Scout
    var next: [(state: ExploredState, number: Int)] = []
    private let statesMax: Int
    private let starving: [Starving]
    private var graph: KeptGraph
    private(set) var found: Found?
    private var numbers: [Fingerprint: UInt32] = [:]

    init(_ walk: PolicyWalk, _ world: SmallWorld, statesMax: Int) {
        self.statesMax = statesMax
        scout = Scout(world, world.cast.unfolded, walk.policy, lateRecorders: walk.scope.lateRecorders)
        let arbiter = scout.state.arbiter
        starving = walk.policy.statements.compactMap { Starving($0, in: arbiter) }
        graph = KeptGraph(statements: starving.count)
        numbers[scout.fingerprint()] = 0
        _ = note(parent: 0, choice: 0)
    }

    mutating func run(_ limiter: SearchLimiter) {
        if found == nil { walk(depthMax: .max, limiter) }
        // Also in what a bound left: a loop that was found is one.
        if found == nil { findLoop() }
    }

    mutating func expand(_ one: (state: ExploredState, number: Int), _ limiter: SearchLimiter) -> Bool {
        graph.beginState()
        return scout.world.forEachChoice(in: one.state, answers: scout.lateRecorders) { choice, events, now in
            advance(one.state, one.number, choice, events, now) && scout.mayGoOn(limiter)
        }
    }

    private mutating func advance(
        _ state: ExploredState, _ number: Int, _ choice: Int, _ events: [Event], _ now: Moment
    ) -> Bool {
        var bits = starving.indices.map { graph.masks[$0][number] }
        // Whoever runs for a moment within the step does not starve. What goes wrong is the other walk's to find.
        scout.leave(state, at: now)
        for event in events {
            _ = scout.take(event)
            keep(&bits)
        }
        for _ in 0..<(scout.lateRecorders ? 0 : ExploredState.answersMax) {
            guard let answer = scout.state.duties.firstAnswer else { break }
            _ = scout.take(answer)
            keep(&bits)
        }
        scout.transitions += 1
        let fingerprint = scout.fingerprint()
        if let known = numbers[fingerprint] {
            graph.add(choice: choice, to: Int(known), starving: bits)
            return true
        }
        let fresh = note(parent: number, choice: choice)
        numbers[fingerprint] = UInt32(truncatingIfNeeded: fresh)
        graph.add(choice: choice, to: fresh, starving: bits)
        if found == nil, scout.ways.count >= statesMax { scout.cutOffBy = .states }
        return found == nil
    }

    private func keep(_ bits: inout [Starving.Bits]) {
        for index in starving.indices where bits[index] != 0 {
            bits[index] &= starving[index].bits(in: scout.state.arbiter)
        }
    }

    private mutating func note(parent: Int, choice: Int) -> Int {
        let number = scout.ways.append(parent: parent, choice: choice)
        next.append((scout.state, number))
        let isStill = scout.state.duties.areDone && scout.state.arbiter.deadline ?? .distantFuture == .distantFuture
        for index in starving.indices {
            let bits = starving[index].bits(in: scout.state.arbiter)
            graph.masks[index].append(bits)
            if isStill, bits != 0, found == nil {
                found = Found(
                    statement: starving[index].statement, session: starving[index].session(bits.trailingZeroBitCount),
                    stem: scout.ways.path(to: number), loop: [])
            }
        }
        return number
    }

    private mutating func findLoop() {
        for index in starving.indices {
            for bit in starving[index].bits {
                let part = KeptGraph.Part(statement: index, bit: bit)
                guard let loop = graph.loop(in: part, timePasses: SmallWorld.timePasses) else { continue }
                let stem = scout.ways.path(to: loop.entry)
                let isShorter = found.map { stem.count + loop.choices.count < $0.stem.count + $0.loop.count } ?? true
                guard isShorter else { continue }
                found = Found(
                    statement: starving[index].statement, session: starving[index].session(bit), stem: stem,
                    loop: loop.choices)
            }
        }
    }
}

/// Which sessions ask to run at one moment, and do not, although a fair statement speaks of them: a bit for each.
/// Whoever runs again and again has its bit cleared again and again. So a bit that stays set around a loop is a session
/// that asks all along, and never runs.
struct Starving {
    var statement: Statement { ready.source }
    private let ready: ReadyStatement
    private let sessions: [SessionID]

    /// A bit for each; a world has a session for each of its four clients, and a second one for some.
    typealias Bits = UInt8

    /// Nil: the statement is about each moment, and not about what goes on.
    init?(_ statement: Statement, in beginning: Arbiter) {
        guard statement.isFair else { return nil }
        ready = ReadyStatement(statement, beginning.state.policy.names)
        sessions = beginning.state.sessionSlots.slots.prefix(Bits.bitWidth).map { beginning.state.id($0) }
    }

    var bits: Range<Int> { sessions.indices }

    func session(_ bit: Int) -> SessionID { sessions[bit] }

    /// A session is excused while it does not ask, while the machine forbids it, where its client gave its rank away, while
    /// another session of its app runs on the same camera, and by what the statement excuses.
    func bits(in arbiter: Arbiter) -> Bits {
        let moment = StatementMoment(arbiter.state)
        return moment.places(ready.when).reduce(0) { bits, place in
            guard moment.asking[place].isEntitled, moment.isMeant(place, ready), !moment.isKept(place, ready.part),
                let bit = sessions.firstIndex(of: moment.asking[place].id)
            else { return bits }
            return bits | 1 << Bits(bit)
        }
    }
}

/// A course of events in which somebody never runs, as a scenario: the way to where the loop begins, and the loop twice, so
/// that a reader sees the same again.
struct FairStory {
    private let story: Story
    private let policy: Policy
    private let answers: Bool

    init(_ story: Story, _ policy: Policy, _ scope: WalkScope) {
        self.story = story
        self.policy = policy
        answers = scope.lateRecorders
    }

    func finding(_ found: FairSearch.Found) -> PolicyWalk.Finding {
        let told = found.loop.isEmpty ? standstill(found) : loop(found)
        return PolicyWalk.Finding(
            message: told.message, statement: found.statement.name, length: found.stem.count + found.loop.count,
            scenario: told.text, cameras: told.cameras, loop: (found.stem.count, found.loop.count),
            starving: name(found))
    }

    private typealias Told = (message: String, text: String, cameras: [CameraStanding])

    /// Long enough to see that nothing comes, whatever a policy's times are: no lease is longer than a day.
    private static let silence = Duration.seconds(24 * 3600)

    private func standstill(_ found: FairSearch.Found) -> Told {
        let (stem, end) = story.world.lived(found.stem, policy, answers: answers)
        var events = stem
        let waits = "\(name(found)) \(predicament(of: found.session, in: end.arbiter)) for ever"
        let remarks = [events.count: "From here on nothing has to happen any more: \(waits)."]
        for day in 1...2 { events.append((.timePassed, end.now + Self.silence * day)) }
        return tell(events, "nothing has to happen any more, and \(waits)", remarks, found)
    }

    private func loop(_ found: FairSearch.Found) -> Told {
        let (world, once) = (story.world, found.stem + found.loop)
        let events = world.lived(once + found.loop, policy, answers: answers).events
        let (stem, entry) = world.lived(found.stem, policy, answers: answers)
        let (lap, back) = world.lived(once, policy, answers: answers)
        let around =
            "\(found.loop.count) step\(found.loop.count == 1 ? "" : "s") and "
            + TimeText.write(back.now - entry.now)
        let remarks = [
            stem.count: "The loop begins here: \(around), in which \(name(found)) asks all along and never runs.",
            lap.count: "The same state again; around once more.",
            events.count: "And the same state again: this can go on for ever.",
        ]
        let message = "\(name(found)) goes on asking and never runs, in a loop of \(around)"
        return tell(events, message, remarks, found)
    }

    private func tell(
        _ events: [(event: Event, moment: Moment)], _ what: String, _ remarks: [Int: String], _ found: FairSearch.Found
    ) -> Told {
        let message = "the statement “\(found.statement.name)” is broken: \(what)"
        let title = "Found by `camclient policy verify`: \(message)."
        let told = story.telling(events, title, policy, remarks: remarks) { stage in
            Starving(found.statement, in: stage.arbiter).map { $0.bits(in: stage.arbiter) != 0 } ?? false
        }
        return (message, told.text, told.cameras)
    }

    private func name(_ found: FairSearch.Found) -> String { story.world.names.name(of: found.session) }

    private func predicament(of session: SessionID, in arbiter: Arbiter) -> String {
        guard let status = arbiter.status(of: session) else { return "asks" }
        if let other = status.waitsFor { return "waits behind \(story.world.names.name(of: other))" }
        return "stays interrupted (\(status.causes.ordered.map(\.shortName).joined(separator: " and ")))"
    }
}
