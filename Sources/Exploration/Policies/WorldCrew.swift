import Arbiter
import ArbiterProtocol
import Glibc
import Synchronization

/// Walks the worlds of a policy on two threads, and reports what one thread would report that walked them one by one.
///
/// Worlds know nothing of each other, except for the bound on the states of all of them: a world that may have passed
/// it is walked again when it is known what came before it. Of several findings the one in the first world counts. The
/// caller is asked about time and memory on its own thread only.
final class WorldCrew: Sendable {
    private let walk: PolicyWalk
    private let bounds: SearchBounds
    private let policyLine: String
    private let policies: String
    private let shared: Mutex<Work>

    private struct Work {
        /// The next world that nobody has begun.
        var next = 0
        /// Worlds behind this one do not matter any more.
        var last: Int
        var walked: [Walked?]
        /// Of worlds under way, by the thread.
        var underWay = [SearchProgress(), SearchProgress()]
        var cut: SearchBound?

        /// What is done for sure, and what is under way.
        var progress: SearchProgress {
            var sum = SearchProgress(world: min(next, walked.count), worlds: walked.count)
            for one in walked.compactMap({ $0?.report }) {
                sum.states += one.states
                sum.transitions += one.transitions
            }
            for one in underWay {
                sum.states += one.states
                sum.transitions += one.transitions
                sum.depth = max(sum.depth, one.depth)
            }
            return sum
        }
    }

    /// A world's part of the report.
    private struct Walked {
        var report: PolicyWalk.Report
        /// The states that it was told were walked before it.
        var statesBefore: Int
    }

    init(_ walk: PolicyWalk, _ bounds: SearchBounds, policyLine: String, policies: String) {
        self.walk = walk
        self.bounds = bounds
        self.policyLine = policyLine
        self.policies = policies
        let count = walk.worlds.count
        shared = Mutex(Work(last: count - 1, walked: Array(repeating: nil, count: count)))
    }

    func run(_ limiter: SearchLimiter) -> PolicyWalk.Report {
        let helper = walk.worlds.count > 1 ? startHelper() : nil
        work(thread: 0, limiter)
        if let helper {
            // Asks back as often as a walk does.
            while !isDone {
                usleep(2000)
                _ = look(thread: 0, at: Int.max, SearchProgress(), limiter)
            }
            pthread_join(helper, nil)
        }
        return report(limiter)
    }

    // MARK: Threads

    private func startHelper() -> pthread_t? {
        let box = Unmanaged.passRetained(self)
        var thread = pthread_t()
        let result = pthread_create(
            &thread, nil,
            { pointer in
                guard let pointer else { return nil }
                let crew = Unmanaged<WorldCrew>.fromOpaque(pointer).takeRetainedValue()
                crew.work(thread: 1) { _ in nil }
                return nil
            }, box.toOpaque())
        if result == 0 { return thread }
        // Without a second thread all of it is walked on the first.
        box.release()
        return nil
    }

    /// Takes one world after the other.
    private func work(thread: Int, _ limiter: SearchLimiter) {
        while let (index, states) = begin() {
            let walked = walk(index, statesBefore: states) { progress in
                self.look(thread: thread, at: index, progress, limiter)
            }
            shared.withLock { shared in
                shared.underWay[thread] = SearchProgress()
                shared.walked[index] = walked
                if walked.report.finding != nil { shared.last = min(shared.last, index) }
            }
        }
    }

    private func begin() -> (index: Int, states: Int)? {
        shared.withLock { shared in
            guard shared.cut == nil, shared.next <= shared.last else { return nil }
            let states = shared.walked[..<shared.next].reduce(0) { $0 + ($1?.report.states ?? 0) }
            // What is known to have come before a world is enough to end the walk.
            guard states < bounds.statesMax else { return nil }
            defer { shared.next += 1 }
            return (shared.next, states)
        }
    }

    private var isDone: Bool {
        shared.withLock { shared in
            shared.walked[..<shared.next].enumerated().allSatisfy { $0.offset > shared.last || $0.element != nil }
        }
    }

    /// A look aside from a world: whether to stop there.
    private func look(thread: Int, at index: Int, _ progress: SearchProgress, _ limiter: SearchLimiter) -> SearchBound?
    {
        let (all, known) = shared.withLock { shared in
            shared.underWay[thread] = progress
            return (shared.progress, shared.cut)
        }
        // A thread that was told to stop does not ask again.
        if let known { return known }
        let cut = limiter(all)
        return shared.withLock { shared in
            shared.cut = shared.cut ?? cut
            // Worlds after a finding do not matter; the bound that is given here is never shown.
            return shared.cut ?? (index > shared.last ? .time : nil)
        }
    }

    // MARK: One world

    private func walk(_ index: Int, statesBefore: Int, _ limiter: SearchLimiter) -> Walked {
        var part = PolicyWalk.Report()
        let world = walk.worlds[index]
        var search = WorldSearch(walk, world, walk.leases, bounds, statesBefore: statesBefore)
        search.run(limiter)
        part.count(search)
        if search.leases != nil, search.found != nil || search.isOffStep {
            // Whether it is broken when leases last as long as they do, and how soon.
            part.recounted = 1
            search = WorldSearch(walk, world, nil, bounds, statesBefore: statesBefore + part.states)
            search.run(limiter)
            part.count(search)
        }
        if let found = search.found {
            let story = Story(world, policyLine: policyLine, policies: policies)
            part.finding = story.finding(found, search.ways, walk.policy, walk.scope)
        } else {
            part.cutOffBy = search.cutOffBy
        }
        return Walked(report: part, statesBefore: statesBefore)
    }

    // MARK: All of them, in their order

    private func report(_ limiter: SearchLimiter) -> PolicyWalk.Report {
        var report = worldsTogether(limiter)
        report.castsInAll = walk.castsInAll
        let isLastWhole = report.finding == nil && (report.cutOffBy == nil || report.cutOffBy == .depth)
        let whole = isLastWhole ? report.worlds : report.worlds - 1
        let missing = Set(walk.worlds.dropFirst(whole).map(\.castNumber))
        report.casts = Set(walk.worlds.map(\.castNumber)).subtracting(missing).count
        return report
    }

    private func worldsTogether(_ limiter: SearchLimiter) -> PolicyWalk.Report {
        var (walked, cut) = shared.withLock { ($0.walked, $0.cut) }
        var report = PolicyWalk.Report()
        report.worldsInAll = walk.worlds.count
        report.applied = walk.policy.statements.map { _ in 0 }
        for index in walk.worlds.indices {
            report.worlds += 1
            let isExact = walked[index]?.statesBefore == report.states
            let states = report.states + (walked[index]?.report.states ?? 0)
            if cut == nil, walked[index] == nil || (!isExact && states >= bounds.statesMax) {
                let before = SearchProgress(
                    world: report.worlds, worlds: report.worldsInAll, states: report.states,
                    transitions: report.transitions, depth: report.depth)
                walked[index] = walk(index, statesBefore: report.states) { progress in
                    var all = progress
                    all.world = before.world
                    all.worlds = before.worlds
                    all.states += before.states
                    all.transitions += before.transitions
                    return limiter(all)
                }
            }
            guard let part = walked[index]?.report else {
                report.cutOffBy = cut
                return report
            }
            report.add(part)
            if report.finding != nil { return report }
            // Depth is each world's own bound; the others are all worlds' together.
            if let bound = part.cutOffBy, bound != .depth { return report }
        }
        return report
    }
}

extension PolicyWalk.Report {
    fileprivate mutating func count(_ search: WorldSearch) {
        states += search.ways.count
        transitions += search.transitions
        depth = max(depth, search.depth)
        // A world that is walked a second time has the same states.
        applied = search.applied
    }

    fileprivate mutating func add(_ part: PolicyWalk.Report) {
        states += part.states
        transitions += part.transitions
        recounted += part.recounted
        for index in part.applied.indices { applied[index] += part.applied[index] }
        depth = max(depth, part.depth)
        finding = part.finding
        cutOffBy = part.cutOffBy ?? cutOffBy
    }
}
