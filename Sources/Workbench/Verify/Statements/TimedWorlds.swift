import Arbiter
import ArbiterProtocol
import Scenario

/// The worlds in which a policy is held to its statements about time, and how time passes there.
struct TimedWorlds: Sendable {
    /// With no statements but those about time.
    let policy: Policy
    /// The statements' places in the policy as it was.
    let places: [Int]
    let clients: Int
    let cameras: Int
    package let worlds: [SmallWorld]
    /// Every time of the policy and of the statements is a multiple of it, and none is as short, where that leaves few enough
    /// steps: else nothing would happen while the shortest one passes.
    let unit: Duration
    /// Time passes by one unit after the other; else from one deadline to the next, and no event comes between.
    let isStepped: Bool
    private let isFolded: Bool

    /// More steps in the longest time than this, and a world is not walked to its end in minutes: half an hour out of two
    /// hours in steps of ten seconds is within it.
    private static let stepsMax: Int64 = 720
    /// Half as long steps make worlds several times as large, which only those can be that have few.
    private static let coarseMax: Int64 = 30

    init?(_ policy: Policy, clients: Int, cameras: Int, pairsOnly: Bool, isFolded: Bool) throws(ScenarioError) {
        places = policy.statements.indices.filter { policy.statements[$0].isTimed }
        guard !places.isEmpty else { return nil }
        var timed = policy
        timed.statements = places.map { policy.statements[$0] }
        self.policy = timed
        (self.isFolded, self.clients, self.cameras) = (isFolded, clients, cameras)
        let reads = PolicyReads([timed])
        let casting = Casting(reads, clients: self.clients, pairsOnly: pairsOnly).about(
            timed.statements.compactMap(\.roles.first))
        worlds = try SmallWorld.worlds([timed], casting, cameras: self.cameras, scope: .policy)
        var times = timed.rankRules.flatMap { [$0.grace, $0.minHold] + ($0.lease.map { [$0] } ?? []) }
        times += [timed.contention.coolDown] + (reads.pressures.isEmpty ? [] : [timed.pressureSettle])
        times += timed.statements.flatMap(\.durations)
        let lengths = times.map(\.wholeNanoseconds).filter { $0 > 0 }
        let longest = lengths.max() ?? 0
        var unit = lengths.reduce(0, commonDivisor)
        if lengths.contains(unit), unit % 2 == 0, longest / unit <= Self.coarseMax { unit /= 2 }
        self.unit = .nanoseconds(unit)
        isStepped = longest / max(unit, 1) <= Self.stepsMax
    }

    package func cast(of world: SmallWorld) -> FoldedCast {
        // An app that is watched is not another one's mirror image; its mark says so. Whom it waits behind does not.
        let tellsWhoIsInTheWay = policy.statements.contains(where: \.asksWhoIsInTheWay)
        var cast = isFolded && !tellsWhoIsInTheWay ? world.cast : world.cast.unfolded
        cast.tellsWhoIsInTheWay = tellsWhoIsInTheWay
        return cast
    }

    /// Until when time passes in one step; nil: nothing changes however much of it passes.
    func nextMoment(after state: ExploredState, _ watch: ObligationWatch?) -> Moment? {
        let deadline = state.arbiter.deadline.flatMap { $0 < .distantFuture ? max($0, state.now) : nil }
        if isStepped { return min(deadline ?? .distantFuture, state.now + unit) }
        // A limit is passed a little later than it is reached.
        let rest = watch?.rest.map { state.now + max($0, unit) }
        return [deadline, rest].compactMap { $0 }.min()
    }

    func run(
        _ bounds: SearchBounds, policyLine: String, policies: String, limiter: SearchLimiter
    ) -> (report: PolicyWalk.TimedReport, finding: PolicyWalk.Finding?) {
        var report = PolicyWalk.TimedReport(
            clients: clients, cameras: cameras, worldsInAll: worlds.count, step: isStepped ? unit : nil)
        report.applied = places.map { _ in 0 }
        for world in worlds {
            let before = report
            var search = TimedSearch(self, world, bounds, statesBefore: report.states)
            search.run {
                limiter($0.inWorld(before.worlds + 1, of: worlds.count, behind: before.states, before.transitions))
            }
            report.worlds += 1
            report.states += search.scout.ways.count
            report.transitions += search.scout.transitions
            for index in search.applied.indices { report.applied[index] += search.applied[index] }
            if let found = search.found {
                let story = Story(world: world, policyLine: policyLine, policies: policies)
                return (report, story.finding(found, search, policy))
            }
            if let cut = search.scout.cutOffBy {
                report.cutOffBy = cut
                if cut != .depth { return (report, nil) }
            }
        }
        return (report, nil)
    }
}

func commonDivisor(_ a: Int64, _ b: Int64) -> Int64 { b == 0 ? a : commonDivisor(b, a % b) }

extension PolicyWalk {
    public struct TimedReport: Sendable {
        public var clients: Int
        public var cameras: Int
        public var worlds = 0
        public var worldsInAll: Int
        public var states = 0
        public var transitions = 0
        /// Events happen at multiples of it; nil: only when deadlines fall due, since the times have too little in common.
        public var step: Duration?
        public var applied: [Int] = []
        public var cutOffBy: SearchBound?
    }
}

extension Story {
    func finding(
        _ found: (state: Int, message: String, statement: String), _ search: TimedSearch, _ policy: Policy
    ) -> PolicyWalk.Finding {
        let events = search.events(to: found.state)
        let title = "Found by `camclient policy verify`: \(found.message)."
        let told = telling(events, title, policy) { stage in
            TimedReplay.broken(policy, stage.steps.map { ($0.event, $0.moment) }, until: stage.now)
                .contains(found.statement)
        }
        let inputs = events.filter { $0.event != .timePassed }.count
        let isLate = events.last?.event == .timePassed
        return PolicyWalk.Finding(
            message: found.message, statement: found.statement, length: inputs + (isLate ? 1 : 0),
            scenario: told.text, cameras: told.cameras)
    }
}

enum TimedReplay {
    static func broken(_ policy: Policy, _ events: [(event: Event, moment: Moment)], until end: Moment) -> Set<String> {
        var arbiter = Arbiter(policy: policy)
        let statements = TimedStatements(arbiter)
        var names: Set<String> = []
        var watches: [ObligationWatch] = []
        var now = Moment.zero
        func pass(to moment: Moment) {
            let obligations = statements.situation(in: arbiter).obligations
            for index in watches.indices {
                let goesOn = obligations.contains(watches[index].obligation)
                if watches[index].pass(moment - now, goesOn: goesOn) {
                    names.insert(statements.ready[watches[index].obligation.statement].source.name)
                }
            }
            now = moment
        }
        for (event, moment) in events {
            pass(to: moment)
            let before = arbiter
            let known = statements.situation(in: before).obligations
            _ = arbiter.step(event, at: moment)
            for loss in statements.losses(before, [event], arbiter) {
                let isTooShort = watches.contains { $0.obligation == loss.obligation && $0.isTooShort }
                if !loss.isTold || isTooShort { names.insert(statements.ready[loss.obligation.statement].source.name) }
            }
            let obligations = statements.situation(in: arbiter).obligations
            watches.removeAll { $0.isOver(goesOn: obligations.contains($0.obligation)) }
            for begun in obligations where !known.contains(begun) {
                if let watch = ObligationWatch(begun, statements.ready[begun.statement].source) {
                    watches.append(watch)
                }
            }
        }
        pass(to: end)
        return names
    }
}
