import Arbiter
public import ArbiterProtocol
public import Scenario

/// Looks for the smallest scenarios that reach what a policy's scenarios have not reached. Worlds are walked breadth
/// first, all of one size side by side and smaller ones before, so a gap's first path is a shortest one. Each path is
/// written as a scenario and run, and counts only if that reaches the gap.
public struct ScenarioSearch: Sendable {
    public let policy: Policy
    public let clients: Int
    public let cameras: Int
    let gaps: [PolicyCoverage.Gap]
    let pairsOnly: Bool

    public struct Suggestion: Sendable {
        /// A sentence about the first gap.
        public var title: String
        /// As a file has it.
        public var scenario: String
        public var closes: [PolicyCoverage.Gap]
        /// Steps.
        public var length: Int
    }

    public struct Report: Sendable {
        public var suggestions: [Suggestion] = []
        /// The gaps that no suggestion reaches, in the order of the file format.
        public var left: [PolicyCoverage.Gap] = []
        public var populations = 0
        public var populationsInAll = 0
        public var worlds = 0
        public var states = 0
        public var transitions = 0
        /// `nil` where every state of the largest worlds was walked, or a suggestion reaches every gap.
        public var cutOffBy: SearchBound?
    }

    /// - Parameter gaps: of this policy, without those that are proven to be out of reach.
    public init(_ policy: Policy, _ gaps: [PolicyCoverage.Gap], clients: Int, cameras: Int, pairsOnly: Bool = false) {
        (self.policy, self.gaps, self.clients) = (policy, gaps, clients)
        (self.cameras, self.pairsOnly) = (cameras, pairsOnly)
    }

    /// - Parameter policyLine: how a scenario names the policy, in the folder `policies`.
    public func run(
        _ bounds: SearchBounds = SearchBounds(), policyLine: String, policies: String = ".",
        limiter: SearchLimiter = { _ in nil }
    ) throws(ScenarioError) -> Report {
        var found = FoundScenarios(policy, gaps, policyLine: policyLine, policies: policies)
        var report = Report()
        for size in sizes where !found.wanted(in: size).isEmpty {
            let reads = PolicyReads([policy], variesRights: size.variesRights, namesCount: true)
            let populations = Populations(reads, clients: size.clients, pairsOnly: pairsOnly)
            let worlds = try SmallWorld.worlds(reads, populations, cameras: size.cameras, scope: size.scope)
            var bounds = bounds
            if size.scope == .everything { bounds.statesMax = min(bounds.statesMax, report.states + Self.machineMax) }
            var walk = CoverageWalk(policy, worlds, size, bounds, statesBefore: report.states)
            walk.run(&found, limiter)
            report.states += walk.states
            report.transitions += walk.transitions
            report.cutOffBy = report.cutOffBy ?? walk.cutOffBy
            guard size.scope == .policy, !size.variesRights else { continue }
            (report.worlds, report.populations) = (worlds.count, Set(populations.all.map(\.number)).count)
            report.populationsInAll = populations.countInAll
            if walk.cutOffBy != nil { break }
        }
        if found.isDone { report.cutOffBy = nil }
        report.suggestions = found.fewest()
        let closed = Set(report.suggestions.flatMap(\.closes))
        report.left = gaps.filter { !closed.contains($0) }
        return report
    }

    /// States of worlds with the machine's own events: few clauses need these, and are near.
    private static let machineMax = 100_000

    struct Size: Sendable {
        var clients: Int
        var cameras: Int
        /// Clients differ in their rights; only gaps of rights are looked for there.
        var variesRights = false
        /// With `everything` recorders answer at once all the same.
        var scope = WalkScope.policy
    }

    /// The smallest first. The last contains all others, but for rights and the machine.
    private var sizes: [Size] {
        let cameras = policy.linksCameras ? cameras : 1
        var sizes = [Size(clients: 1, cameras: 1, variesRights: true)]
        for clients in 1...clients {
            // A third camera takes a third client. The machine has its turn before worlds get large.
            if clients == 3 { sizes.append(Size(clients: 2, cameras: 1, scope: .everything)) }
            let most = min(clients, cameras)
            sizes += (clients < 3 ? 1...most : most...most).map { Size(clients: clients, cameras: $0) }
        }
        if clients < 3 { sizes.append(Size(clients: clients, cameras: 1, scope: .everything)) }
        return sizes
    }
}

/// The walk of all worlds of one size, side by side, until no gap is wanted any more.
struct CoverageWalk {
    private(set) var states = 0
    private(set) var transitions = 0
    private(set) var cutOffBy: SearchBound?
    private let policy: Policy
    private let size: ScenarioSearch.Size
    private let bounds: SearchBounds
    private let statesBefore: Int
    private var places: [Place]
    private var recorder = CoverageRecorder()

    private struct Place {
        let world: SmallWorld
        var tree = SearchTree()
        var seen = VisitedSet()
        var frontier: [(state: ExploredState, number: Int)]
        package var canonical = CanonicalState()

        init(_ world: SmallWorld, _ policy: Policy) {
            self.world = world
            let start = world.beginning(policy)
            start.canonicalize(world.symmetry, into: &canonical)
            _ = seen.insert(canonical.fingerprint(world.symmetry))
            frontier = [(start, tree.append(parent: 0, choice: 0))]
        }
    }

    init(
        _ policy: Policy, _ worlds: [SmallWorld], _ size: ScenarioSearch.Size, _ bounds: SearchBounds, statesBefore: Int
    ) {
        (self.policy, self.size, self.bounds, self.statesBefore) = (policy, size, bounds, statesBefore)
        places = worlds.map { Place($0, policy) }
        states = places.count
    }

    private static let transitionsBetweenLooks = 512

    mutating func run(_ found: inout FoundScenarios, _ limiter: SearchLimiter) {
        var depth = 0
        while places.contains(where: { !$0.frontier.isEmpty }), depth < bounds.depthMax {
            depth += 1
            for index in places.indices {
                let level = places[index].frontier
                places[index].frontier = []
                for (state, number) in level { guard expand(state, number, in: index, &found, limiter) else { return } }
            }
        }
        if depth == bounds.depthMax, places.contains(where: { !$0.frontier.isEmpty }) { cutOffBy = .depth }
    }

    private mutating func expand(
        _ state: ExploredState, _ number: Int, in index: Int, _ found: inout FoundScenarios, _ limiter: SearchLimiter
    ) -> Bool {
        let world = places[index].world
        recorder.begin(at: state.arbiter)
        return world.forEachChoice(in: state, answers: false) { choice, events, now in
            let reached = recorder.reached
            let after = step(state, events, now)
            transitions += 1
            after.canonicalize(world.symmetry, into: &places[index].canonical)
            if places[index].seen.insert(places[index].canonical.fingerprint(world.symmetry)) {
                places[index].frontier.append((after, places[index].tree.append(parent: number, choice: choice)))
                states += 1
                if statesBefore + states >= bounds.statesMax { cutOffBy = .states }
            }
            if recorder.reached > reached, let coverage = recorder.coverages.first(where: { $0.policy == policy }) {
                let path = places[index].tree.path(to: number) + [choice]
                if !found.note(coverage, path, world, size) {
                    // The next path may close the gap.
                    recorder = CoverageRecorder()
                    recorder.begin(at: state.arbiter)
                }
                if found.wanted(in: size).isEmpty { return false }
            }
            recorder.rewind()
            if transitions % Self.transitionsBetweenLooks == 0 { cutOffBy = cutOffBy ?? limiter(progress) }
            return cutOffBy == nil
        }
    }

    private var progress: SearchProgress {
        SearchProgress(
            world: places.count, worlds: places.count, states: statesBefore + states, transitions: transitions)
    }

    /// Takes the events and the recorders' answers, with their coverage.
    private mutating func step(_ state: ExploredState, _ events: [Event], _ now: Moment) -> ExploredState {
        var after = state
        after.now = now
        var rest = events[...]
        for _ in 0..<ExploredState.answersMax {
            guard let event = rest.popFirst() ?? after.duties.firstAnswer else { break }
            recorder.expect(event, at: now, after.arbiter)
            let (effects, verdicts) = after.observe(event)
            recorder.note(event, effects, verdicts, after.arbiter)
        }
        return after
    }
}

struct FoundScenarios {
    private let policy: Policy
    private let gaps: [PolicyCoverage.Gap]
    private let policyLine: String
    private let policies: String
    private var wanted: [PolicyCoverage.Gap]
    private var found: [Told] = []
    private var misled: [PolicyCoverage.Gap: Int] = [:]

    private struct Told {
        var text: String
        var closes: [PolicyCoverage.Gap]
        var goal: PolicyCoverage.Gap
        var length: Int
    }

    /// Paths to a gap that do not close it as scenarios; further ones are not tried.
    private static let misledMax = 400

    init(_ policy: Policy, _ gaps: [PolicyCoverage.Gap], policyLine: String, policies: String) {
        (self.policy, self.gaps, self.policyLine, self.policies) = (policy, gaps, policyLine, policies)
        wanted = gaps
    }

    var isDone: Bool { wanted.isEmpty }

    func wanted(in size: ScenarioSearch.Size) -> [PolicyCoverage.Gap] {
        wanted.filter { ($0.clause.group == .access) == size.variesRights && misled[$0, default: 0] < Self.misledMax }
    }

    /// Keeps a path that closes a wanted gap.
    /// - Returns: false where the path does not close the gap as a scenario.
    mutating func note(
        _ coverage: PolicyCoverage, _ path: [Int], _ world: SmallWorld, _ size: ScenarioSearch.Size
    ) -> Bool {
        let closed = coverage.closed(of: wanted(in: size))
        guard let first = closed.first else { return true }
        let events = world.replay(path, policy, answers: false).events
        let scenario = PathScenario(world: world, policyLine: policyLine, policies: policies)
        let told = scenario.simplest(events, "?", policy) { text in
            tell(text).flatMap { $0.closes.contains(first) ? $0 : nil }
        }
        guard let told else {
            for gap in closed { misled[gap, default: 0] += 1 }
            return false
        }
        wanted.removeAll(where: told.closes.contains)
        found.append(Told(text: told.text, closes: told.closes, goal: first, length: path.count))
        return true
    }

    /// A scenario with its notices, and the gaps that it closes.
    private func tell(_ text: String) -> (text: String, closes: [PolicyCoverage.Gap])? {
        guard let scenario = try? Scenario.parse(text, file: "suggestion", policies: policies) else { return nil }
        let (outcome, coverages) = scenario.under(policy).runWithCoverage()
        guard outcome.violations.isEmpty, let coverage = coverages.first(where: { $0.policy == policy }) else {
            return nil
        }
        return (outcome.rewritten, coverage.closed(of: gaps))
    }

    /// A few scenarios that close all gaps: next is always the one that closes most of the rest, and of several the shortest. Each
    /// names the gaps that none before it closes.
    func fewest() -> [ScenarioSearch.Suggestion] {
        var rest = Set(found.flatMap(\.closes))
        var chosen: [ScenarioSearch.Suggestion] = []
        func gain(_ one: Told) -> Int { one.closes.filter(rest.contains).count }
        while !rest.isEmpty {
            let best = found.max { (gain($0), -$0.length) < (gain($1), -$1.length) }
            guard let best else { break }
            chosen.append(suggestion(best, best.closes.filter(rest.contains)))
            rest.subtract(best.closes)
        }
        return chosen
    }

    private func suggestion(_ told: Told, _ closes: [PolicyCoverage.Gap]) -> ScenarioSearch.Suggestion {
        let first = closes.contains(told.goal) ? told.goal : closes[0]
        let title = sentence(first)
        let others = closes.filter { $0 != first }.map { "# Besides: \(sentence($0))" }
        // The whole first comment is the title.
        let head = (["# \(title)"] + (others.isEmpty ? [] : [""] + others)).joined(separator: "\n")
        let body = told.text.drop { $0 != "\n" }
        return ScenarioSearch.Suggestion(title: title, scenario: head + body, closes: closes, length: told.length)
    }

    private func sentence(_ gap: PolicyCoverage.Gap) -> String {
        let claim = gap.claim(in: policy)
        return "\(claim.prefix(1).uppercased())\(claim.dropFirst())."
    }
}
