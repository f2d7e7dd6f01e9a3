import Arbiter
public import ArbiterProtocol
import Glibc
import Synchronization

extension PolicyWalk {
    /// Walks the worlds of several policies on several threads. Each report is the one that a single thread would give, and they
    /// come in the order of the walks.
    /// - Parameters:
    ///   - clock: read on any thread when a walk begins and ends; a walk has no clock of its own.
    ///   - limiter: asked on the calling thread about each walk that is under way. Where memory is short, the largest world
    ///     goes on and the others are walked later, one at a time; only a world that is alone is cut off.
    ///   - kept: called on the calling thread with each world that was walked whole.
    ///   - ended: called on the calling thread with each walk that is over.
    public static func run(
        _ walks: [PlannedWalk], threads: Int, clock: @escaping @Sendable () -> Moment = { .zero },
        limiter: @escaping SearchLimiter = { _ in nil },
        kept: @escaping (_ walk: Int, _ world: Int, _ figures: WalkedWorld) -> Void = { _, _, _ in },
        ended: @escaping (WalkEnd) -> Void
    ) {
        WorkerPool(walks, threads: threads, clock: clock).run(
            WorkerPool.Listener(limiter: limiter, kept: kept, ended: ended))
    }
}

/// Walks worlds on several threads, with the reports of one thread that walks them one by one.
///
/// Worlds are independent, but for the bound on the states of all worlds of a walk: a world that may have passed it is walked
/// again once the states before it are known. Of several findings the one in the first world counts.
final class WorkerPool: Sendable {
    /// Called on the thread that started the pool.
    struct Listener {
        let limiter: SearchLimiter
        let kept: (_ walk: Int, _ world: Int, _ figures: WalkedWorld) -> Void
        let ended: (WalkEnd) -> Void
    }

    private let plans: [PlannedWalk]
    private let threads: Int
    private let clock: @Sendable () -> Moment
    private let queue: Mutex<WorkQueue>

    /// Microseconds that an idle thread waits before it looks again.
    private static let pause: UInt32 = 2000

    init(_ plans: [PlannedWalk], threads: Int, clock: @escaping @Sendable () -> Moment) {
        self.plans = plans
        self.threads = max(1, min(threads, plans.reduce(0) { $0 + $1.walk.worlds.count }))
        self.clock = clock
        queue = Mutex(WorkQueue(plans, threads: self.threads))
    }

    func run(_ listener: Listener) {
        var reported = 0
        let helpers = WorkThreads(beside: threads - 1) { [self] in work(thread: $0) { _ in } }
        work(thread: 0) { [self] isInWorld in
            applyBounds(listener)
            report(to: listener, &reported, mayWalk: !isInWorld)
        }
        helpers.join()
        report(to: listener, &reported, mayWalk: true)
    }

    private func work(thread: Int, between: (_ isInWorld: Bool) -> Void) {
        while true {
            let now = clock()
            switch queue.withLock({ $0.begin(thread: thread, at: now) }) {
            case .none: return
            case .wait: usleep(Self.pause)
            case .walk(let place, let states):
                let walked = walk(plans[place.walk], place.world, statesBefore: states) { [self] progress in
                    queue.withLock { $0.note(thread: thread, progress) }
                    between(true)
                    return queue.withLock { $0.stop(thread: thread) }
                }
                let end = clock()
                queue.withLock { $0.finish(thread: thread, walked, at: end) }
            }
            between(false)
        }
    }

    private func applyBounds(_ listener: Listener) {
        let now = clock()
        for progress in queue.withLock({ $0.progress(at: now) }) {
            guard let bound = listener.limiter(progress) else { continue }
            queue.withLock { $0.meet(bound, in: progress.walk, worldsAtOnce: progress.worldsAtOnce) }
        }
    }

    /// - Parameter mayWalk: false inside a world: a walk of which a world has to be walked again is reported later.
    private func report(to listener: Listener, _ reported: inout Int, mayWalk: Bool) {
        let fresh = queue.withLock { queue in
            queue.takeFresh().compactMap { place in
                queue.walks[place.walk].walked[place.world].map { (place, $0.figures) }
            }
        }
        for (place, figures) in fresh { listener.kept(place.walk, place.world, figures) }
        while reported < plans.count {
            let index = reported
            guard let walk = queue.withLock({ $0.isOver(index) ? $0.walks[index] : nil }),
                let report = report(walk, plans[index], mayWalk ? listener : nil, index)
            else { return }
            listener.ended(WalkEnd(walk: index, report: report, took: walk.took))
            reported += 1
        }
    }

    private func walk(
        _ plan: PlannedWalk, _ index: Int, statesBefore: Int, _ limiter: SearchLimiter
    ) -> WorkQueue.Walked {
        let (walk, bounds, world) = (plan.walk, plan.bounds, plan.walk.worlds[index])
        var walked = WorkQueue.Walked(figures: WalkedWorld(applied: []), statesBefore: statesBefore)
        var search = WorldWalk(walk, world, walk.leases, bounds, statesBefore: statesBefore)
        search.run(limiter)
        walked.figures.count(search)
        if search.leases != nil, search.found != nil || search.isOffStep {
            // Leases as long as they are decide whether it is broken, and how soon.
            walked.figures.recounted = 1
            search = WorldWalk(walk, world, nil, bounds, statesBefore: statesBefore + walked.figures.states)
            search.run(limiter)
            walked.figures.count(search)
        }
        if let found = search.found {
            let scenario = PathScenario(world: world, policyLine: plan.policyLine, policies: plan.policies)
            walked.finding = scenario.finding(found, search.cursor.tree, walk.policy, walk.scope)
        } else {
            walked.cutOffBy = search.cursor.cutOffBy
        }
        return walked
    }

    /// - Returns: `nil` where a world has to be walked again and there is no listener.
    private func report(
        _ done: WorkQueue.Walk, _ plan: PlannedWalk, _ listener: Listener?, _ number: Int
    ) -> PolicyWalk.Report? {
        let worlds = plan.walk.worlds
        var report = PolicyWalk.Report(worldsInAll: worlds.count, populationsInAll: plan.walk.populationsInAll)
        report.applied = plan.walk.policy.statements.map { _ in 0 }
        var missing: Set<Int> = []
        for index in worlds.indices {
            var walked = done.walked[index]
            let states = report.states + (walked?.figures.states ?? 0)
            let isExact = walked?.statesBefore == report.states || states < plan.bounds.statesMax
            if done.cut == nil, walked == nil || !isExact {
                guard let listener else { return nil }
                walked = walk(plan, index, statesBefore: report.states) { [report] progress in
                    var all = progress.inWorld(
                        report.worlds + 1, of: worlds.count, behind: report.states, report.transitions)
                    all.walk = number
                    return listener.limiter(all)
                }
            }
            // A bound of time or memory leaves out the worlds under way, and not those that were walked by then.
            guard let walked else {
                missing.insert(worlds[index].populationNumber)
                continue
            }
            report.add(walked)
            let isComplete = walked.finding == nil && walked.cutOffBy == nil
            if !isComplete, walked.cutOffBy != .depth { missing.insert(worlds[index].populationNumber) }
            if walked.finding != nil || walked.cutOffBy == .states {
                missing.formUnion(worlds[index...].map(\.populationNumber))
                break
            }
        }
        // Depth is each world's own bound; the others are of all worlds together.
        report.cutOffBy = done.cut ?? report.cutOffBy
        report.populations = Set(worlds.map(\.populationNumber)).subtracting(missing).count
        return report
    }
}

extension PolicyWalk.Report {
    fileprivate mutating func add(_ walked: WorkQueue.Walked) {
        let figures = walked.figures
        worlds += 1
        states += figures.states
        transitions += figures.transitions
        recounted += figures.recounted
        for index in figures.applied.indices { applied[index] += figures.applied[index] }
        depth = max(depth, figures.depth)
        finding = walked.finding
        cutOffBy = walked.cutOffBy ?? cutOffBy
    }
}

/// Numbered threads beside the caller's, which is number 0. They are pthreads: a walk keeps its thread for minutes, for which
/// Swift's own pool of as many threads as there are cores is not made.
private struct WorkThreads {
    private var threads: [pthread_t] = []

    private final class Work: Sendable {
        let run: @Sendable () -> Void
        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// Starts so many, or as many as the machine has left: the work has to be whole without any of them.
    init(beside count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        for number in 0..<max(0, count) {
            var thread = pthread_t()
            let work = Unmanaged.passRetained(Work { body(number + 1) })
            let result = pthread_create(
                &thread, nil,
                { pointer in
                    if let pointer { Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue().run() }
                    return nil
                }, work.toOpaque())
            guard result == 0 else {
                work.release()
                return
            }
            threads.append(thread)
        }
    }

    func join() { for thread in threads { pthread_join(thread, nil) } }
}
