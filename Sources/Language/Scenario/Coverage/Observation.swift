import Arbiter
import ArbiterProtocol
import PolicyFile

/// The state of the core between two steps: facts of the sessions that ask to run, and holders.
struct Observation: Sendable {
    let at: Moment
    /// In the order of ids.
    let asking: [(session: SessionID, facts: Facts)]
    let tenancies: [Tenure]
    /// Of each session that shares a camera with its holder.
    private let sharers: [SessionID: Access]
    /// The formats that cameras have for another session's wish.
    private let served: [Configuration?]

    struct Tenure: Sendable {
        let camera: CameraID
        let session: SessionID
        let isStreaming: Bool
        let minHoldUntil: Moment?
        let contest: Contested?
        let wanted: CameraID?

        enum Contested: Hashable, Sendable {
            /// A stronger bid waits for the holder's min-hold.
            case unannounced
            case announced(isReady: Bool)
        }
    }

    init(_ arbiter: Arbiter) {
        let state = arbiter.state
        at = state.now
        asking = state.requesting.map { (state.id($0), state.words(for: $0)) }
        tenancies = state.cameraOrder.compactMap { camera in
            let tenancy = state.cameras[camera].tenancy
            guard let held = tenancy.held else { return nil }
            let contest = held.contest.map { contest in
                contest.announced.map { .announced(isReady: $0.isReady) } ?? Tenure.Contested.unannounced
            }
            return Tenure(
                camera: state.id(camera), session: state.id(held.session), isStreaming: tenancy.isStreaming,
                minHoldUntil: held.minHoldUntil, contest: contest,
                wanted: held.contest.map { state.id(state.sessions[$0.beneficiary].camera) })
        }
        served = state.cameraOrder.map { state.cameraSettings[$0].served }
        let running = state.requesting.compactMap { slot -> (SessionID, Access)? in
            guard case .running(let access) = state.sessions[slot].shown,
                state.sessions[slot].waits?.isSharing == true
            else { return nil }
            return (state.id(slot), access)
        }
        sharers = Dictionary(uniqueKeysWithValues: running)
    }

    /// The result of a decision: who has which camera, who is to have it next, how many ask, what those that share may do,
    /// and whose wish a camera serves.
    var picture: [[AnyHashable]] {
        tenancies.map { [$0.camera, $0.session, $0.contest, $0.wanted] } + [[asking.count], [sharers], [served]]
    }

    func tenure(of camera: CameraID) -> Tenure? { tenancies.first { $0.camera == camera } }
}

/// Which rules answer for a session's facts, which are asked before and do not match, and which facts decide that.
struct RuleSight: Sendable {
    private let lists: [RuleList]
    /// Most steps change no facts.
    private var seen: Set<Facts> = []

    init(_ policy: Policy) { lists = RuleList.all(policy) }

    mutating func note(_ facts: Facts, in coverage: inout PolicyCoverage) {
        guard seen.insert(facts).inserted else { return }
        for list in lists { Self.note(facts, list, in: &coverage) }
    }

    private static func note(_ facts: Facts, _ list: RuleList, in coverage: inout PolicyCoverage) {
        var answered: Int?
        // Rules that one fact alone keeps from matching.
        var nearly: [(entry: Int, test: FactTest)] = []
        for (index, entry) in list.entries.enumerated() {
            let missing = entry.when.lazy.filter { !$0.holds(for: facts) }.prefix(2)
            var all = missing.makeIterator()
            guard let first = all.next() else {
                answered = index
                break
            }
            coverage.unmatch(entry.clause)
            if all.next() == nil { nearly.append((index, first)) }
        }
        let actual = answered.map { list.entries[$0].answer } ?? list.otherwise
        for (index, test) in nearly where list.entries[index].answer != actual {
            coverage.unmatch(.fact(rule: list.entries[index].name, test))
        }
        guard let answered else { return }
        let entry = list.entries[answered]
        coverage.fire(entry.clause)
        guard list.answer(facts, behind: answered) != entry.answer else { return }
        for test in entry.when { coverage.fire(.fact(rule: entry.name, test)) }
    }
}

extension RuleList.Entry {
    fileprivate var clause: PolicyClause { isCause ? .causeRule(name) : .rankRule(name) }
}

/// Choices of `[contention]` that no verdict names: they count where the same event leads to another result under the
/// policy with the other choice, and copies of the arbiter under both stand alike before it.
struct ChoiceTrials: Sendable {
    private let policy: Policy
    private let others: [(clause: PolicyClause, policy: Policy)]

    init(_ policy: Policy) {
        self.policy = policy
        others = policy.clauses.compactMap { clause in
            guard case .choice(let choice) = clause, choice.isTried else { return nil }
            var other = policy
            if choice == .givesWay {
                other.contention.givesWay = policy.contention.givesWay == .weakest ? .longestHeld : .weakest
            } else {
                choice.row?.copy(&other.contention, Contention())
            }
            return (clause, other)
        }
    }

    func run(_ event: Event, at now: Moment, _ arbiter: Arbiter, _ coverage: inout PolicyCoverage) {
        for other in others where !coverage.fired.contains(other.clause) {
            var (one, two) = (arbiter, arbiter)
            _ = one.step(.policyLoaded(policy), at: now)
            _ = two.step(.policyLoaded(other.policy), at: now)
            guard Observation(one).picture == Observation(two).picture else { continue }
            _ = one.step(event, at: now)
            _ = two.step(event, at: now)
            if Observation(one).picture != Observation(two).picture { coverage.fire(other.clause) }
        }
    }
}
