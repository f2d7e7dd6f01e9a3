package import Arbiter
package import ArbiterProtocol
import Explain

/// Watches a stage step by step, and notes which clauses of the policies in force it reaches.
package struct CoverageRecorder: Sendable {
    /// One for each policy that was in force, in that order; without proofs of what cannot be reached.
    package private(set) var coverages: [PolicyCoverage] = []
    private var sights: [RuleSight] = []
    private var trials: [ChoiceTrials] = []
    private var before: Observation?
    private var beginning: Observation?

    package init() {}

    /// Goes on as if the last step had led to this arbiter.
    package mutating func begin(at arbiter: Arbiter) {
        beginning = Observation(arbiter)
        before = beginning
    }

    package mutating func rewind() { before = beginning }

    /// The number of clauses and opposites that were reached; it only grows.
    package var reached: Int { coverages.reduce(0) { $0 + $1.fired.count + $1.unmatched.count } }

    package mutating func expect(_ event: Event, at now: Moment, _ arbiter: Arbiter) {
        guard let index = index(of: arbiter.policy) else { return }
        trials[index].run(event, at: now, arbiter, &coverages[index])
    }

    package mutating func note(_ event: Event, _ effects: [Effect], _ verdicts: [Verdict], _ arbiter: Arbiter) {
        let after = Observation(arbiter)
        let policy = arbiter.policy
        let index: Int
        if let known = self.index(of: policy) {
            index = known
        } else {
            coverages.append(PolicyCoverage(gathering: policy))
            sights.append(RuleSight(policy))
            trials.append(ChoiceTrials(policy))
            index = coverages.count - 1
        }
        let step = CoveredStep(
            event: event, effects: effects, verdicts: verdicts, before: before, after: after, arbiter: arbiter,
            policy: policy)
        for facts in step.facts { sights[index].note(facts, in: &coverages[index]) }
        step.note(in: &coverages[index])
        before = after
    }

    private func index(of policy: Policy) -> Int? { coverages.lastIndex { $0.policy == policy } }
}

private struct CoveredStep {
    let event: Event
    let effects: [Effect]
    let verdicts: [Verdict]
    let before: Observation?
    let after: Observation
    let arbiter: Arbiter
    let policy: Policy

    var facts: [Facts] { after.asking.map(\.facts) + verdicts.compactMap(\.facts) }

    func note(in coverage: inout PolicyCoverage) {
        if case .startRunning(let session) = event { noteRight(of: session, &coverage) }
        for verdict in verdicts {
            noteNamed(verdict.text, &coverage)
            noteLoss(verdict, &coverage)
        }
        for effect in effects { note(effect, &coverage) }
        noteMinHold(&coverage)
        noteStanding(&coverage)
    }

    // MARK: Access

    private func noteRight(of session: SessionID, _ coverage: inout PolicyCoverage) {
        guard let status = arbiter.status(of: session) else { return }
        let rights = policy.rights
        switch status.right {
        case .user:
            for account in rights.users where account.number == status.app.user {
                coverage.fire(.access(.user(account)))
            }
        case .group:
            let own = arbiter.groups(of: session)
            for account in rights.groups where account.number.map(own.contains) == true {
                coverage.fire(.access(.group(account)))
            }
        case .service: coverage.fire(.access(.service(status.app.name)))
        case .none where rights.identity == .strong && arbiter.isWeak(session): coverage.fire(.access(.strong))
        case .root, .own, .seat, .none: break
        }
    }

    // MARK: Rules

    /// Bids are compared from left to right: a verdict, a notice or a refusal names the first thing in which they
    /// differed, and in everything before it they were equal.
    private func noteNamed(_ rule: String, _ coverage: inout PolicyCoverage) {
        let rule = rule.withoutTiming
        let order = policy.decidingOrder
        if let place = order.firstIndex(where: { rule == "order: \($0.name)" }) {
            coverage.fire(.order(order[place]))
            for key in order[..<place] { coverage.unmatch(.order(key)) }
        } else if let choice = Self.named.first(where: { rule == $0.text || $0.hasValue && rule.hasPrefix($0.text) })?
            .choice
        {
            coverage.fire(.choice(choice))
            if choice == .tie { for key in order { coverage.unmatch(.order(key)) } }
        } else if rule == Law.anotherUser.text, policy.contention.shareWith == .user {
            coverage.fire(.choice(.shareWith))
        }
    }

    private static let named: [(text: String, hasValue: Bool, choice: PolicyClause.ContentionChoice)] = [
        ("tie: ", true, .tie), ("same-app: ", true, .sameApp), ("own-conflict: ", true, .ownConflict),
        ("cool-down", false, .coolDown), ("re-decide: open", false, .reDecide), ("budget", false, .budget),
    ]

    // MARK: Losers, and what they lost to

    private func noteLoss(_ verdict: Verdict, _ coverage: inout PolicyCoverage) {
        let isStarter = event == .startRunning(verdict.session)
        let isOwn = verdict.rule.isOwnApps
        let held = before?.tenancies.first { $0.session == verdict.session }
        switch verdict.outcome {
        case .granted, .warned: return
        case .restricted: break
        case .refused:
            guard isStarter, !isOwn else { return }
            if let denied = deniedBy(verdict) {
                coverage.fire(.rankChoice(rule: denied, .deny))
                return
            }
            if let facts = verdict.facts, policy.rank(facts).pause > .zero, policy.rank(facts).name == verdict.text {
                coverage.fire(.rankChoice(rule: verdict.text, .pause))
                return
            }
            coverage.fire(.choice(.newcomer))
        case .interrupted(let causes):
            guard causes.contains(.videoDeviceInUseByAnotherClient), !isOwn, !verdict.rule.isMachines else { return }
            if held != nil {
                coverage.fire(.choice(.loser))
            } else if isStarter, policy.contention.newcomer == .queue, !verdict.rule.isAfterItsTime {
                coverage.fire(.choice(.newcomer))
            }
        case .stopped(let reason):
            switch reason {
            case .evicted: if !isOwn { coverage.fire(.choice(.loser)) }
            case .leaseExpired: coverage.fire(.rankChoice(rule: verdict.text, .lease))
            case .deniedByPolicy: coverage.fire(.rankChoice(rule: verdict.text, .deny))
            case .configurationLost, .recorderFailed, .stoppedByUser, .deniedByUser: return
            }
        }
        noteImmediate(verdict, held, &coverage)
        noteOtherCameras(verdict, held, &coverage)
    }

    private func deniedBy(_ verdict: Verdict) -> String? {
        policy.rankRules.first { $0.deny && $0.name == verdict.text }?.name
    }

    /// A holder whose grace or min-hold stood in the way was cut at once, because of an immediate rank.
    private func noteImmediate(_ verdict: Verdict, _ held: Observation.Tenure?, _ coverage: inout PolicyCoverage) {
        guard let held, after.tenure(of: held.camera)?.session != held.session, let facts = verdict.facts,
            let winner = policy.rankRules.first(where: { $0.isImmediate && $0.name == verdict.text })
        else { return }
        let isKept = held.minHoldUntil.map { $0 > after.at } ?? false
        if isKept || (held.isStreaming && policy.rank(facts).grace > .zero) {
            coverage.fire(.rankChoice(rule: winner.name, .immediate))
        }
    }

    private func noteOtherCameras(_ verdict: Verdict, _ held: Observation.Tenure?, _ coverage: inout PolicyCoverage) {
        guard let camera = verdict.facts?.camera else { return }
        var others = verdict.opponents.filter { $0 != camera }
        if let held, held.camera == camera, arbiter.status(of: camera)?.holder == nil {
            // Its own camera goes to no session: it had to go for a session on another one.
            others += effects.compactMap { effect in
                if case .open(let opened, _, _, _) = effect, opened != camera { opened } else { nil }
            }
            if case .startRunning(let starter) = event, let wanted = arbiter.status(of: starter)?.camera,
                wanted != camera
            {
                others.append(wanted)
            }
        }
        for other in others {
            let rules = policy.cameras.filter {
                ($0.camera == camera && $0.conflicts.contains(other))
                    || ($0.camera == other && $0.conflicts.contains(camera))
            }
            if rules.isEmpty { coverage.fire(.choice(.budget)) }
            for rule in rules { coverage.fire(.conflicts(rule.camera)) }
        }
    }

    // MARK: Notices, and what stands after the step

    private func note(_ effect: Effect, _ coverage: inout PolicyCoverage) {
        switch effect {
        case .refused(let refusal): noteNamed(refusal.rule, &coverage)
        case .notify(_, let session, _, .willBeInterrupted(let warning)):
            noteNamed(warning.rule, &coverage)
            if let facts = facts(of: session) {
                let holder = policy.rank(facts).name
                coverage.fire(.rankChoice(rule: holder, .grace))
                if isForAnotherCamera(after.tenancies.first { $0.session == session }) {
                    coverage.fire(.acrossCameras(rule: holder, .grace))
                }
            }
        case .notify(_, _, _, .wasInterrupted(let told)), .notify(_, _, _, .interruptionChanged(let told)):
            noteNamed(told.rule, &coverage)
        case .notify(_, _, _, .accessChanged(let told)): noteNamed(told.rule, &coverage)
        default: break
        }
    }

    private func facts(of session: SessionID) -> Facts? { after.asking.first { $0.session == session }?.facts }

    /// A stronger bid waits although nothing was announced: only the min-hold keeps it.
    private func noteMinHold(_ coverage: inout PolicyCoverage) {
        for tenure in after.tenancies {
            guard case .unannounced? = tenure.contest, let facts = facts(of: tenure.session) else { continue }
            let holder = policy.rank(facts).name
            coverage.fire(.rankChoice(rule: holder, .minHold))
            if isForAnotherCamera(tenure) { coverage.fire(.acrossCameras(rule: holder, .minHold)) }
        }
    }

    private func isForAnotherCamera(_ tenure: Observation.Tenure?) -> Bool {
        tenure.flatMap { tenure in tenure.wanted.map { $0 != tenure.camera } } ?? false
    }

    private func noteStanding(_ coverage: inout PolicyCoverage) {
        if policy.contention.sharing != .none {
            let sessions = arbiter.status().sessions.filter { $0.state == .running }
            for sharer in sessions where !sharer.isHolder {
                coverage.fire(.choice(.sharing))
                let holder = sessions.first { $0.isHolder && $0.camera == sharer.camera }
                if policy.contention.shareWith == .everyone, let holder, holder.app.user != sharer.app.user {
                    coverage.fire(.choice(.shareWith))
                }
            }
        }
        if let budget = policy.contention.budget {
            let sum = after.tenancies.reduce(0) { sum, tenure in sum + arbiter.costInUse(of: tenure.camera) }
            if sum > budget { coverage.fire(.choice(.strongestMayExceed)) }
        }
    }
}

extension String {
    /// The rule by which a bid wins, without the remark that the holder has time left.
    fileprivate var withoutTiming: String {
        let remark = ", after its time"
        return hasSuffix(remark) ? String(dropLast(remark.count)) : self
    }
}

extension Rule {
    /// It decides between two sessions of one app.
    fileprivate var isOwnApps: Bool {
        switch law {
        case .sameAppNewest, .sameAppReplace, .sameAppRefuse, .ownConflictRefuse: true
        default: false
        }
    }

    fileprivate var isMachines: Bool { law?.text.hasPrefix("built in") ?? false }
}
