import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario

/// The worlds that are walked for a policy's statements about time, and how time passes there.
struct TimedWorlds: Sendable {
    /// Its only statements are those about time.
    let policy: Policy
    /// The statements' places in the policy as it was.
    let places: [Int]
    /// The places of statements about time that leases and pauses settle, so that nothing is walked for them.
    let settled: [Int]
    let clients: Int
    let cameras: Int
    package let worlds: [SmallWorld]
    /// Every time of the policy and of the statements is a multiple of it. It is shorter than all of them, where that leaves few
    /// enough steps: else nothing would happen while the shortest one passes.
    let unit: Duration
    /// Time passes unit by unit; else from deadline to deadline, without events between.
    let isStepped: Bool
    let reducesSymmetry: Bool

    /// With more steps in the longest time a world takes longer than minutes; two hours in steps of ten seconds have as many.
    private static let stepsMax: Int64 = 720
    /// Halved steps make a world several times as large.
    private static let coarseMax: Int64 = 30

    init?(_ policy: Policy, clients: Int, cameras: Int, pairsOnly: Bool, reducesSymmetry: Bool) throws(ScenarioError) {
        let settled = policy.statementsKeptByLeases
        self.settled = settled
        places = policy.statements.indices.filter { policy.statements[$0].isTimed && !settled.contains($0) }
        guard !places.isEmpty || !settled.isEmpty else { return nil }
        var timed = policy
        timed.statements = places.map { policy.statements[$0] }
        self.policy = timed
        (self.reducesSymmetry, self.clients, self.cameras) = (reducesSymmetry, clients, cameras)
        let reads = PolicyReads([timed])
        let populations = Populations(reads, clients: clients, pairsOnly: pairsOnly).about(
            timed.statements.compactMap(\.roles.first))
        worlds = places.isEmpty ? [] : try SmallWorld.worlds(reads, populations, cameras: cameras, scope: .policy)
        var times = timed.rankRules.flatMap { [$0.grace, $0.minHold, $0.pause] + ($0.lease.map { [$0] } ?? []) }
        times += [timed.contention.coolDown] + (reads.pressures.isEmpty ? [] : [timed.pressureSettle])
        times += timed.statements.flatMap(\.durations)
        let lengths = times.map(\.wholeNanoseconds).filter { $0 > 0 }
        let longest = lengths.max() ?? 0
        var unit = lengths.reduce(0, commonDivisor)
        if lengths.contains(unit), unit % 2 == 0, longest / unit <= Self.coarseMax { unit /= 2 }
        self.unit = .nanoseconds(unit)
        isStepped = longest / max(unit, 1) <= Self.stepsMax
    }

    /// The end of a step of time; `nil` where nothing changes however much time passes.
    /// - Parameter isProbe: from deadline to deadline in any case.
    func nextMoment(after state: ExploredState, _ watch: ObligationWatch?, isProbe: Bool) -> Moment? {
        let deadline = state.arbiter.deadline.flatMap { $0 < .distantFuture ? max($0, state.now) : nil }
        if isStepped, !isProbe { return min(deadline ?? .distantFuture, state.now + unit) }
        // A limit is broken a little after it is reached.
        let rest = watch?.rest.map { state.now + max($0, unit) }
        return [deadline, rest].compactMap { $0 }.min()
    }

    func run(
        _ bounds: SearchBounds, policyLine: String, policies: String, limiter: SearchLimiter
    ) -> (report: PolicyWalk.TimedReport, finding: PolicyWalk.Finding?) {
        var report = PolicyWalk.TimedReport(
            clients: clients, cameras: cameras, worldsInAll: worlds.count, step: isStepped ? unit : nil)
        report.applied = places.map { _ in 0 }
        report.settled = settled
        if let found = probe(bounds, policyLine: policyLine, policies: policies) { return (report, found) }
        for world in worlds {
            let before = report
            var search = TimedSearch(self, world, bounds, statesBefore: report.states)
            search.run {
                limiter($0.inWorld(before.worlds + 1, of: worlds.count, behind: before.states, before.transitions))
            }
            report.worlds += 1
            report.states += search.cursor.tree.count
            report.transitions += search.cursor.transitions
            for index in search.applied.indices { report.applied[index] += search.applied[index] }
            if let found = search.found {
                let scenario = PathScenario(world: world, policyLine: policyLine, policies: policies)
                return (report, scenario.finding(found, search, policy))
            }
            if let cut = search.cursor.cutOffBy {
                report.cutOffBy = cut
                if cut != .depth { return (report, nil) }
            }
        }
        return (report, nil)
    }
}

extension TimedWorlds {
    /// Of each world, and of all together: an app that starts whenever it can, and is never stopped, is soon seen through.
    private static let probedStatesMax = 2_000
    private static let probedStatesInAllMax = 20_000

    /// Looks for a violation by apps that only come in front and start: with a long lease, the walk that tries all else would
    /// take hours to reach it.
    private func probe(_ bounds: SearchBounds, policyLine: String, policies: String) -> PolicyWalk.Finding? {
        guard policy.statements.contains(where: \.isAboutHolding) else { return nil }
        var states = 0
        for world in worlds where states < Self.probedStatesInAllMax {
            let limit = SearchBounds(statesMax: Self.probedStatesMax, depthMax: bounds.depthMax)
            var search = TimedSearch(self, world, limit, statesBefore: 0, isProbe: true)
            search.run { _ -> SearchBound? in nil }
            states += search.cursor.tree.count
            if let found = search.found {
                return PathScenario(world: world, policyLine: policyLine, policies: policies).finding(
                    found, search, policy)
            }
        }
        return nil
    }
}

extension Statement {
    fileprivate var isAboutHolding: Bool { if case .atMost = assertion { true } else { false } }
}

extension Event {
    /// An app that only wants the camera does no more.
    var isOfAProbe: Bool {
        switch self {
        case .startRunning, .placed: true
        default: false
        }
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
        /// Events happen at its multiples; `nil`: only at deadlines, since the times have too little in common.
        public var step: Duration?
        public var applied: [Int] = []
        /// The places of statements that leases and pauses settle.
        public var settled: [Int] = []
        public var cutOffBy: SearchBound?
    }
}

extension PathScenario {
    func finding(
        _ found: (state: Int, message: String, statement: String), _ search: TimedSearch, _ policy: Policy
    ) -> PolicyWalk.Finding {
        let events = search.events(to: found.state)
        let isLate = events.last?.event == .timePassed
        let length = events.filter { $0.event != .timePassed }.count + (isLate ? 1 : 0)
        return finding(found.message, found.statement, length: length, events, policy) { stage in
            TimedReplay.broken(policy, stage.steps.map { ($0.event, $0.moment) }, until: stage.now)
                .contains(found.statement)
        }
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
                if !loss.isWarned || isTooShort {
                    names.insert(statements.ready[loss.obligation.statement].source.name)
                }
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
