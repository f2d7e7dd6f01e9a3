import Arbiter
import ArbiterProtocol
import Scenario

/// The walk of one world for statements about time: breadth first, with leases counted, and with time that passes in steps, so that
/// events also happen between deadlines.
struct TimedSearch: LevelSearch {
    struct Reached {
        var state: ExploredState
        var watch: ObligationWatch?
        var number: Int
    }

    var cursor: SearchCursor
    var next: [Reached] = []
    private let walk: TimedWorlds
    private let bounds: SearchBounds
    private let statesBefore: Int
    private var moments: [Moment] = []
    private(set) var found: (state: Int, message: String, statement: String)?
    /// For each statement about time, in how many states it applied; for warnings, in how many losses.
    private(set) var applied: [Int]
    private let statements: TimedStatements
    private var seen = VisitedSet()
    /// Apps only come in front and start.
    private let isProbe: Bool

    init(_ walk: TimedWorlds, _ world: SmallWorld, _ bounds: SearchBounds, statesBefore: Int, isProbe: Bool = false) {
        (self.walk, self.bounds, self.statesBefore, self.isProbe) = (walk, bounds, statesBefore, isProbe)
        cursor = SearchCursor(
            world, world.symmetry.under(walk.policy.statements, isReduced: walk.reducesSymmetry), walk.policy,
            lateRecorders: false)
        statements = TimedStatements(cursor.state.arbiter)
        applied = statements.ready.map { _ in 0 }
        record(nil, parent: 0, choice: 0)
    }

    mutating func run(_ limiter: SearchLimiter) { walk(depthMax: bounds.depthMax, limiter) }

    mutating func expand(_ one: Reached, _ limiter: SearchLimiter) -> Bool {
        let before = statements.situation(in: one.state.arbiter)
        let isGoingOn = cursor.world.forEachChoice(in: one.state, answers: false) { choice, events, now in
            choice == SmallWorld.timePasses || isProbe && !events.allSatisfy(\.isOfAProbe)
                || advance(one, before, choice, events, now, limiter)
        }
        guard isGoingOn else { return false }
        guard let moment = walk.nextMoment(after: one.state, one.watch, isProbe: isProbe) else { return true }
        return advance(one, before, SmallWorld.timePasses, [.timePassed], moment, limiter)
    }

    private mutating func advance(
        _ one: Reached, _ before: TimedStatements.Situation, _ choice: Int, _ events: [Event], _ now: Moment,
        _ limiter: SearchLimiter
    ) -> Bool {
        // Violations of the contract are for the other walk to find.
        _ = cursor.step(from: one.state, events, now)
        cursor.transitions += 1
        var watch = one.watch
        let goesOn = watch.map { before.obligations.contains($0.obligation) } ?? false
        let words = StatementWords(statements: statements, names: cursor.world.names)
        if watch?.pass(now - one.state.now, goesOn: goesOn) == true, let watch {
            return fail(words.broken(watch, in: one.state.arbiter, at: now), watch.obligation, one, choice, now)
        }
        for loss in statements.losses(one.state.arbiter, events, cursor.state.arbiter) {
            applied[loss.obligation.statement] += 1
            let warned = watch?.obligation == loss.obligation ? watch : nil
            guard !loss.isWarned || warned?.isTooShort == true else { continue }
            return fail(words.broken(loss, warned, in: cursor.state.arbiter), loss.obligation, one, choice, now)
        }
        let situation = statements.situation(in: cursor.state.arbiter)
        if let known = watch, known.isOver(goesOn: situation.obligations.contains(known.obligation)) { watch = nil }
        record(watch, parent: one.number, choice: choice, situation.applied)
        if watch == nil {
            for begun in situation.obligations where !before.obligations.contains(begun) {
                let watch = ObligationWatch(begun, statements.ready[begun.statement].source)
                record(watch, parent: one.number, choice: choice)
            }
        }
        if statesBefore + cursor.tree.count >= min(bounds.statesMax, SearchTree.countMax) { cursor.cutOffBy = .states }
        return cursor.mayGoOn(limiter)
    }

    private mutating func record(_ watch: ObligationWatch?, parent: Int, choice: Int, _ applies: UInt64 = 0) {
        let mark = watch.map { watch in
            let arbiter = cursor.state.arbiter
            return { (session: SessionID) in watch.mark(of: session, arbiter) }
        }
        guard seen.insert(cursor.fingerprint(mark: mark)) else { return }
        for index in applied.indices where applies >> UInt64(index) & 1 == 1 { applied[index] += 1 }
        next.append(
            Reached(state: cursor.state, watch: watch, number: cursor.tree.append(parent: parent, choice: choice)))
        moments.append(cursor.state.now)
    }

    private mutating func fail(
        _ message: String, _ obligation: TimedStatements.Obligation, _ one: Reached, _ choice: Int, _ now: Moment
    ) -> Bool {
        let name = statements.ready[obligation.statement].source.name
        let number = cursor.tree.append(parent: one.number, choice: choice)
        found = (number, "the statement “\(name)” is broken: \(message)", name)
        moments.append(now)
        return false
    }

    func events(to state: Int) -> [(event: Event, moment: Moment)] {
        var now = cursor.world.beginning(walk.policy)
        var found: [(event: Event, moment: Moment)] = []
        for number in cursor.tree.states(to: state) {
            let choice = cursor.tree.choice(of: number)
            let events =
                choice == SmallWorld.timePasses ? [.timePassed] : cursor.world.events(of: choice, in: now) ?? []
            found += events.map { ($0, moments[number]) }
            now.perform(events, at: moments[number])
        }
        // The next event, or the end, shows that time has passed.
        let last = found.count - 1
        return found.enumerated().filter { $0.offset == last || $0.element.event != .timePassed }.map(\.element)
    }
}

struct StatementWords {
    let statements: TimedStatements
    let names: Names

    func broken(_ watch: ObligationWatch, in arbiter: Arbiter, at now: Moment) -> String {
        let since = TimeText.write(Moment.zero + (now - Moment.zero - watch.spent))
        switch (watch.limit, watch.obligation.subject) {
        case (.within(let most), .session(let session)):
            let camera = arbiter.camera(of: session).map { " on camera \($0.name)" } ?? ""
            let part = statements.ready[watch.obligation.statement].source.parts.first?.rawValue ?? ""
            let what =
                arbiter.whoIsInTheWay(of: session, names.name(of:)).map { "waits behind \($0)\(camera)" }
                ?? "is not \(part)\(camera)"
            return "\(names.name(of: session)) \(what) since \(since), for longer than \(Self.text(most))"
        case (.atMost(let most, let window), .app(let app)):
            return
                "\(arbiter.words(of: app, near: Slot(0), names.name(of:))) has held a camera for longer than \(Self.text(most)) since \(since), "
                + "within \(Self.text(window))"
        default: return "it went on since \(since)"
        }
    }

    /// In the largest unit that leaves a whole number.
    private static func text(_ time: Duration) -> String {
        let seconds = time.components.seconds
        guard time == .seconds(seconds), seconds > 0 else { return TimeText.write(Moment.zero + time) }
        if seconds % 3600 == 0 { return "\(seconds / 3600)h" }
        return seconds % 60 == 0 ? "\(seconds / 60)min" : "\(seconds)s"
    }

    func broken(_ loss: TimedStatements.Loss, _ warned: ObligationWatch?, in arbiter: Arbiter) -> String {
        guard case .session(let session) = loss.obligation.subject else { return "" }
        let camera = arbiter.state.camera(loss.camera) ?? Slot(0)
        let winner = loss.winner.map { "to \(arbiter.words(of: $0, near: camera, names.name(of:)))" } ?? "to its lease"
        let when = warned.map { "\(Self.text($0.spent)) after it was told" } ?? "without being told before"
        return "\(names.name(of: session)) loses camera \(loss.camera.name) \(winner), \(when)"
    }
}

extension Arbiter {
    fileprivate func camera(of session: SessionID) -> CameraID? {
        state.session(session).map { state.id(state.sessions.rows[Int($0.index)].camera) }
    }
}
