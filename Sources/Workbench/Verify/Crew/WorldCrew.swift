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
        let helpers = WorkThreads(beside: threads - 1) { [self] in help(thread: $0) }
        while true {
            let now = clock()
            let task = work.withLock { $0.begin(thread: 0, at: now) }
            if case .none = task { break }
            if case .walk(let place, let states) = task {
                walk(thread: 0, place, states) { [self] progress in
                    work.withLock { $0.note(thread: 0, progress) }
                    look(listener)
                    tell(listener, &told, mayWalk: false)
                    return work.withLock { $0.stop(thread: 0) }
                }
            } else {
                usleep(Self.pause)
            }
            look(listener)
            tell(listener, &told, mayWalk: true)
        }
        helpers.join()
        tell(listener, &told, mayWalk: true)
    }

    // MARK: Threads

    private func help(thread: Int) {
        while true {
            let now = clock()
            switch work.withLock({ $0.begin(thread: thread, at: now) }) {
            case .none: return
            case .wait: usleep(Self.pause)
            case .walk(let place, let states):
                walk(thread: thread, place, states) { [self] progress in
                    work.withLock { work in
                        work.note(thread: thread, progress)
                        return work.stop(thread: thread)
                    }
                }
            }
        }
    }

    private func walk(thread: Int, _ place: CrewWork.Place, _ states: Int, _ limiter: SearchLimiter) {
        let walked = walk(plans[place.walk], place.world, statesBefore: states, limiter)
        let now = clock()
        work.withLock { $0.finish(thread: thread, walked, at: now) }
    }

    /// Asks whoever began all this whether a bound is met.
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
                work.walks[place.walk].walked[place.world].map { (place, WalkedWorld($0.report)) }
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

    // MARK: One world

    private func walk(
        _ plan: PlannedWalk, _ index: Int, statesBefore: Int, _ limiter: SearchLimiter
    ) -> CrewWork.Walked {
        var part = PolicyWalk.Report()
        let (walk, bounds) = (plan.walk, plan.bounds)
        let world = walk.worlds[index]
        var search = WorldWalk(walk, world, walk.leases, bounds, statesBefore: statesBefore)
        search.run(limiter)
        part.count(search)
        if search.leases != nil, search.found != nil || search.isOffStep {
            // Whether it is broken when leases last as long as they do, and how soon.
            part.recounted = 1
            search = WorldWalk(walk, world, nil, bounds, statesBefore: statesBefore + part.states)
            search.run(limiter)
            part.count(search)
        }
        if let found = search.found {
            let story = Story(world: world, policyLine: plan.policyLine, policies: plan.policies)
            part.finding = story.finding(found, search.ways, walk.policy, walk.scope)
        } else {
            part.cutOffBy = search.cutOffBy
        }
        return CrewWork.Walked(report: part, statesBefore: statesBefore)
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
            let states = report.states + (walked?.report.states ?? 0)
            let isExact = walked?.statesBefore == report.states || states < plan.bounds.statesMax
            if done.cut == nil, walked == nil || !isExact {
                guard let listener else { return nil }
                walked = walkAgain(plan, index, after: report, listener, number)
            }
            // A bound of time or memory leaves out what was under way, and not what others had walked by then.
            if let part = walked?.report {
                report.worlds += 1
                report.add(part)
                if !part.isComplete, part.cutOffBy != .depth { missing.insert(worlds[index].castNumber) }
                if part.finding != nil || part.cutOffBy == .states {
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
    fileprivate mutating func count(_ search: WorldWalk) {
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
