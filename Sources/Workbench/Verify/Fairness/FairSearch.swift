import Arbiter
import ArbiterProtocol
import Explain
import Scenario

/// Looks in one world for starvation: a run without end in which somebody asks all along and never runs, as a path to a
/// loop, or to a state in which nothing has to happen any more. Time passes in the loop, for a client that starts and
/// stops within one moment keeps nobody waiting. Neither symmetry reduction nor the abstraction of leases applies:
/// under them two apps that wait by turns would look like one that starves.
struct FairSearch: LevelSearch {
    struct Found {
        var statement: Statement
        var session: SessionID
        var stem: [Int]
        /// Empty where nothing has to happen any more.
        var loop: [Int]
    }

    var cursor: SearchCursor
    var next: [(state: ExploredState, number: Int)] = []
    private let statesMax: Int
    private let starving: [Starving]
    private var graph: KeptGraph
    private(set) var found: Found?
    private var numbers: [Fingerprint: UInt32] = [:]

    init(_ walk: PolicyWalk, _ world: SmallWorld, statesMax: Int) {
        self.statesMax = statesMax
        cursor = SearchCursor(
            world, world.symmetry.withoutReduction, walk.policy, lateRecorders: walk.scope.lateRecorders)
        let arbiter = cursor.state.arbiter
        starving = walk.policy.statements.compactMap { Starving($0, in: arbiter) }
        graph = KeptGraph(statements: starving.count)
        numbers[cursor.fingerprint()] = 0
        _ = note(parent: 0, choice: 0)
    }

    mutating func run(_ limiter: SearchLimiter) {
        if found == nil { walk(depthMax: .max, limiter) }
        // A loop in the part up to a bound is a loop, too.
        if found == nil { findLoop() }
    }

    mutating func expand(_ one: (state: ExploredState, number: Int), _ limiter: SearchLimiter) -> Bool {
        graph.beginState()
        return cursor.world.forEachChoice(in: one.state, answers: cursor.lateRecorders) { choice, events, now in
            advance(one.state, one.number, choice, events, now) && cursor.mayGoOn(limiter)
        }
    }

    private mutating func advance(
        _ state: ExploredState, _ number: Int, _ choice: Int, _ events: [Event], _ now: Moment
    ) -> Bool {
        var bits = starving.indices.map { graph.masks[$0][number] }
        // A session that runs for a moment within the step does not starve. Violations are for the other walk to find.
        cursor.leave(state, at: now)
        for event in events {
            _ = cursor.take(event)
            keep(&bits)
        }
        for _ in 0..<(cursor.lateRecorders ? 0 : ExploredState.answersMax) {
            guard let answer = cursor.state.duties.firstAnswer else { break }
            _ = cursor.take(answer)
            keep(&bits)
        }
        cursor.transitions += 1
        let fingerprint = cursor.fingerprint()
        if let known = numbers[fingerprint] {
            graph.add(choice: choice, to: Int(known), starving: bits)
            return true
        }
        let fresh = note(parent: number, choice: choice)
        numbers[fingerprint] = UInt32(truncatingIfNeeded: fresh)
        graph.add(choice: choice, to: fresh, starving: bits)
        if found == nil, cursor.tree.count >= statesMax { cursor.cutOffBy = .states }
        return found == nil
    }

    private func keep(_ bits: inout [Starving.Bits]) {
        for index in starving.indices where bits[index] != 0 {
            bits[index] &= starving[index].bits(in: cursor.state.arbiter)
        }
    }

    private mutating func note(parent: Int, choice: Int) -> Int {
        let number = cursor.tree.append(parent: parent, choice: choice)
        next.append((cursor.state, number))
        let isStill = cursor.state.isAtRest
        for index in starving.indices {
            let bits = starving[index].bits(in: cursor.state.arbiter)
            graph.masks[index].append(bits)
            if isStill, bits != 0, found == nil {
                found = Found(
                    statement: starving[index].statement, session: starving[index].session(bits.trailingZeroBitCount),
                    stem: cursor.tree.path(to: number), loop: [])
            }
        }
        return number
    }

    private mutating func findLoop() {
        for index in starving.indices {
            for bit in starving[index].bits {
                let part = KeptGraph.Part(statement: index, bit: bit)
                guard let loop = graph.loop(in: part, timePasses: SmallWorld.timePasses) else { continue }
                let stem = cursor.tree.path(to: loop.entry)
                let isShorter = found.map { stem.count + loop.choices.count < $0.stem.count + $0.loop.count } ?? true
                guard isShorter else { continue }
                found = Found(
                    statement: starving[index].statement, session: starving[index].session(bit), stem: stem,
                    loop: loop.choices)
            }
        }
    }
}

/// The sessions of a fair statement that ask to run at one moment and do not, a bit for each. A bit that stays set around a loop is
/// a session that asks all along and never runs.
struct Starving {
    var statement: Statement { ready.source }
    private let ready: ReadyStatement
    private let sessions: [SessionID]

    /// A world has a session for each of its four clients at most, and a second one for some.
    typealias Bits = UInt8

    /// `nil` where the statement is not about fairness.
    init?(_ statement: Statement, in beginning: Arbiter) {
        guard statement.isFair else { return nil }
        ready = ReadyStatement(statement, beginning.state.policy.names)
        sessions = beginning.state.sessionSlots.slots.prefix(Bits.bitWidth).map { beginning.state.id($0) }
    }

    var bits: Range<Int> { sessions.indices }

    func session(_ bit: Int) -> SessionID { sessions[bit] }

    /// A session is excused while it does not ask, while the machine forbids it, where its client lowered its rank, while another
    /// session of its app runs on the same camera, and by the statement's own excuses.
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

/// Writes a loop as the way to where it begins, and the loop twice, so that a reader sees the same again.
extension PathScenario {
    func finding(_ found: FairSearch.Found, _ policy: Policy, _ scope: WalkScope) -> PolicyWalk.Finding {
        let (events, words, remarks) =
            found.loop.isEmpty ? standstill(found, policy, scope) : loop(found, policy, scope)
        var finding = finding(
            "the statement “\(found.statement.name)” is broken: \(words)", found.statement.name,
            length: found.stem.count + found.loop.count, events, policy, remarks: remarks
        ) { stage in Starving(found.statement, in: stage.arbiter).map { $0.bits(in: stage.arbiter) != 0 } ?? false }
        (finding.loop, finding.starving) = ((found.stem.count, found.loop.count), world.names.name(of: found.session))
        return finding
    }

    private typealias Course = (events: Events, words: String, remarks: [Int: String])

    /// No lease is longer than a day.
    private static let silence = Duration.seconds(24 * 3600)

    private func standstill(_ found: FairSearch.Found, _ policy: Policy, _ scope: WalkScope) -> Course {
        var (events, end) = world.replay(found.stem, policy, answers: scope.lateRecorders)
        let waits =
            "\(world.names.name(of: found.session)) \(predicament(of: found.session, in: end.arbiter)) for ever"
        let remarks = [events.count: "From here on nothing has to happen any more: \(waits)."]
        for day in 1...2 { events.append((.timePassed, end.now + Self.silence * day)) }
        return (events, "nothing has to happen any more, and \(waits)", remarks)
    }

    private func loop(_ found: FairSearch.Found, _ policy: Policy, _ scope: WalkScope) -> Course {
        func replay(_ path: [Int]) -> (events: Events, end: ExploredState) {
            world.replay(path, policy, answers: scope.lateRecorders)
        }
        let (stem, entry) = replay(found.stem)
        let (lap, back) = replay(found.stem + found.loop)
        let events = replay(found.stem + found.loop + found.loop).events
        let name = world.names.name(of: found.session)
        let around =
            "\(found.loop.count) step\(found.loop.count == 1 ? "" : "s") and "
            + TimeText.write(back.now - entry.now)
        let remarks = [
            stem.count: "The loop begins here: \(around), in which \(name) asks all along and never runs.",
            lap.count: "The same state again; around once more.",
            events.count: "And the same state again: this can go on for ever.",
        ]
        return (events, "\(name) goes on asking and never runs, in a loop of \(around)", remarks)
    }

    private func predicament(of session: SessionID, in arbiter: Arbiter) -> String {
        guard let status = arbiter.status(of: session) else { return "asks" }
        if let other = status.waitsFor { return "waits behind \(world.names.name(of: other))" }
        return "stays interrupted (\(status.causes.ordered.map(\.shortName).joined(separator: " and ")))"
    }
}
