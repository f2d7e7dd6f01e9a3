import Arbiter
import ArbiterProtocol
import Glibc
import Synchronization

/// Who is told how a crew comes on, and may stop it: on the thread that began it, and on no other.
struct CrewListener {
    let limiter: SearchLimiter
    let kept: (_ walk: Int, _ world: Int, _ figures: WalkedWorld) -> Void
    let ended: (WalkEnd) -> Void
}

/// Walks the worlds of policies on several threads, and reports what one thread would report that walked them one by one.
///
/// Worlds know nothing of each other, except for the bound on the states of all worlds of a walk: a world that may have
/// passed it is walked again when it is known what came before it. Of several findings the one in the first world counts.
final class WorldCrew: Sendable {
    private let plans: [PlannedWalk]
    private let threads: Int
    private let clock: @Sendable () -> Moment
    private let work: Mutex<CrewWork>

    /// What a thread waits that has nothing to do, and the caller's between two looks: so little that nobody notices.
    private static let pause: UInt32 = 2000

    init(_ plans: [PlannedWalk], threads: Int, clock: @escaping @Sendable () -> Moment) {
        self.plans = plans
        let worlds = plans.reduce(0) { $0 + $1.walk.worlds.count }
        self.threads = max(1, min(threads, worlds))
        self.clock = clock
        work = Mutex(CrewWork(plans, threads: self.threads))
    }

    func run(_ listener: CrewListener) {
        var told = 0
        let helpers = WorkThreads(beside: threads - 1) { [self] in work(thread: $0) { _ in } }
        work(thread: 0) { [self] isInWorld in
            look(listener)
            tell(listener, &told, mayWalk: !isInWorld)
        }
        helpers.join()
        tell(listener, &told, mayWalk: true)
    }

    private func work(thread: Int, between: (_ isInWorld: Bool) -> Void) {
        while true {
            let now = clock()
            switch work.withLock({ $0.begin(thread: thread, at: now) }) {
            case .none: return
            case .wait: usleep(Self.pause)
            case .walk(let place, let states):
                let walked = walk(plans[place.walk], place.world, statesBefore: states) { [self] progress in
                    work.withLock { $0.note(thread: thread, progress) }
                    between(true)
                    return work.withLock { $0.stop(thread: thread) }
                }
                let end = clock()
                work.withLock { $0.finish(thread: thread, walked, at: end) }
            }
            between(false)
        }
    }

    private func look(_ listener: CrewListener) {
        let now = clock()
        for progress in work.withLock({ $0.progress(at: now) }) {
            guard let bound = listener.limiter(progress) else { continue }
            work.withLock { $0.meet(bound, in: progress.walk, worldsAtOnce: progress.worldsAtOnce) }
        }
    }

    /// Tells of worlds that were walked whole, and of walks that are over, in their order.
    /// - Parameter mayWalk: not from the middle of a world: a walk of which one has to be walked again is told of later.
    private func tell(_ listener: CrewListener, _ told: inout Int, mayWalk: Bool) {
        let fresh = work.withLock { work in
            work.takeFresh().compactMap { place in
                work.walks[place.walk].walked[place.world].map { (place, $0.figures) }
            }
        }
        for (place, figures) in fresh { listener.kept(place.walk, place.world, figures) }
        while told < plans.count {
            let index = told
            let over = work.withLock { $0.isOver(index) ? ($0.walks[index], $0.took(index)) : nil }
            guard let (walk, took) = over, let report = report(walk, plans[index], mayWalk ? listener : nil, index)
            else { return }
            listener.ended(WalkEnd(walk: index, report: report, took: took))
            told += 1
        }
    }

    private func walk(
        _ plan: PlannedWalk, _ index: Int, statesBefore: Int, _ limiter: SearchLimiter
    ) -> CrewWork.Walked {
        let (walk, bounds) = (plan.walk, plan.bounds)
        let world = walk.worlds[index]
        var walked = CrewWork.Walked(figures: WalkedWorld(applied: []), statesBefore: statesBefore)
        var search = WorldWalk(walk, world, walk.leases, bounds, statesBefore: statesBefore)
        search.run(limiter)
        walked.figures.count(search)
        if search.leases != nil, search.found != nil || search.isOffStep {
            // Whether it is broken when leases last as long as they do, and how soon.
            walked.figures.recounted = 1
            search = WorldWalk(walk, world, nil, bounds, statesBefore: statesBefore + walked.figures.states)
            search.run(limiter)
            walked.figures.count(search)
        }
        if let found = search.found {
            let story = Story(world: world, policyLine: plan.policyLine, policies: plan.policies)
            walked.finding = story.finding(found, search.scout.ways, walk.policy, walk.scope)
        } else {
            walked.cutOffBy = search.scout.cutOffBy
        }
        return walked
    }

    /// - Parameter listener: nil: nil where a world would have to be walked again.
    private func report(
        _ done: CrewWork.Walk, _ plan: PlannedWalk, _ listener: CrewListener?, _ number: Int
    ) -> PolicyWalk.Report? {
        let worlds = plan.walk.worlds
        var report = PolicyWalk.Report()
        report.worldsInAll = worlds.count
        report.castsInAll = plan.walk.castsInAll
        report.applied = plan.walk.policy.statements.map { _ in 0 }
        var missing: Set<Int> = []
        for index in worlds.indices {
            var walked = done.walked[index]
            let states = report.states + (walked?.figures.states ?? 0)
            let isExact = walked?.statesBefore == report.states || states < plan.bounds.statesMax
            if done.cut == nil, walked == nil || !isExact {
                guard let listener else { return nil }
                walked = walkAgain(plan, index, after: report, listener, number)
            }
            // A bound of time or memory leaves out what was under way, and not what others had walked by then.
            if let walked {
                report.add(walked)
                let isComplete = walked.finding == nil && walked.cutOffBy == nil
                if !isComplete, walked.cutOffBy != .depth { missing.insert(worlds[index].castNumber) }
                if walked.finding != nil || walked.cutOffBy == .states {
                    missing.formUnion(worlds[index...].map(\.castNumber))
                    break
                }
            } else {
                missing.insert(worlds[index].castNumber)
            }
        }
        // Depth is each world's own bound; the others are all worlds' together.
        report.cutOffBy = done.cut ?? report.cutOffBy
        report.casts = Set(worlds.map(\.castNumber)).subtracting(missing).count
        return report
    }

    private func walkAgain(
        _ plan: PlannedWalk, _ index: Int, after report: PolicyWalk.Report, _ listener: CrewListener, _ number: Int
    ) -> CrewWork.Walked {
        walk(plan, index, statesBefore: report.states) { progress in
            var all = progress.inWorld(
                report.worlds + 1, of: plan.walk.worlds.count, behind: report.states, report.transitions)
            all.walk = number
            return listener.limiter(all)
        }
    }
}

extension PolicyWalk.Report {
    fileprivate mutating func add(_ walked: CrewWork.Walked) {
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

/// Threads beside the caller's that do one thing together, each known by its number: the caller is number 0. Made with
/// pthreads: a walk takes its thread for minutes, which Swift's own pool of as many threads as there are cores is not
/// made for.
struct WorkThreads {
    private var threads: [pthread_t] = []

    private final class Work: Sendable {
        let number: Int
        let body: @Sendable (Int) -> Void
        init(_ number: Int, _ body: @escaping @Sendable (Int) -> Void) {
            self.number = number
            self.body = body
        }
    }

    /// Begins so many, or as many as the machine has left: what they are to do has to be whole without any of them.
    init(beside count: Int, _ body: @escaping @Sendable (Int) -> Void) {
        for number in 0..<max(0, count) {
            var thread = pthread_t()
            let work = Unmanaged.passRetained(Work(number + 1, body))
            let result = pthread_create(
                &thread, nil,
                { pointer in
                    guard let pointer else { return nil }
                    let work = Unmanaged<Work>.fromOpaque(pointer).takeRetainedValue()
                    work.body(work.number)
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
