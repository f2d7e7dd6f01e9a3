package import Arbiter
package import ArbiterProtocol
import Explain

/// The promises of a rank's rule to a holder (semantics §5, §6 "Hysteresis").
public struct HoldTerms: Hashable, Sendable {
    /// How long it may finish after the warning.
    public var grace: Duration
    /// How long it keeps the camera against stronger bids.
    public var minHold: Duration

    public init(grace: Duration, minHold: Duration) { (self.grace, self.minHold) = (grace, minHold) }
}

public enum HoldMoment: Hashable, Sendable {
    /// With the recording of a grant from before the broker's restart.
    case granted(isRecording: Bool)
    case gaveWay(wasRecording: Bool)
}

extension Arbiter {
    /// The times of a session's rank, from the texts of the policy and the session's facts, without the kernel. `nil`
    /// where none are promised, or where a session that is not seen from here may cut them short: an immediate rank,
    /// its own app, a session that shares its camera, or a format that costs more.
    package func holdTerms(of session: SessionID, _ moment: HoldMoment) -> HoldTerms? {
        let policy = policy
        // Where formats cost, a holder may become too dear for the budget, and the weakest wait at once (semantics §6).
        let isWeighed = policy.contention.budget != nil && policy.cameras.contains(where: \.cost.isByFormat)
        guard policy.contention.sharing == .none, !isWeighed,
            policy.rankRules.contains(where: { $0.grace > .zero || $0.minHold > .zero }),
            let slot = state.session(session), var facts = facts(of: session)
        else { return nil }
        let client = state.sessions.rows[Int(slot.index)].client
        guard !state.clients.rows[Int(client.index)].hasLoweredItself else { return nil }
        let app = state.clients.rows[Int(client.index)].app
        // A session that takes its app's place over has the rest of a warning (semantics §5). The session that had the
        // place does not ask for it any more.
        if case .granted = moment, state.clients(of: app).reduce(0, { $0 + state.sessions(of: $1).count }) > 1 {
            return nil
        }
        let hasImmediate = policy.rankRules.contains(where: \.isImmediate)
        for row in state.sessions.rows.indices where row != Int(slot.index) {
            guard state.sessions.rows[row].request != nil else { continue }
            if state.clients.rows[Int(state.sessions.rows[row].client.index)].app == app { return nil }
            if hasImmediate, policy.rank(state.words(for: Slot(row))).isImmediate { return nil }
        }
        // The facts are those after the step, in which it may have lost its recording and its start request.
        switch moment {
        case .granted(let isRecording): facts.isRecording = isRecording
        case .gaveWay(let wasRecording):
            facts.isRecording = wasRecording
            facts.bidIsNew = false
            // Its app's claims did not count while several users asked, and count again once it asks no more.
            let user = state.apps[app.slot].user
            let asksAlone = !state.users.contains { $0.user != user && $0.requests > 0 }
            if policy.sources.contains(.selfDeclared), !asksAlone, !state.world.severalUsersAsk { return nil }
        }
        let rule = policy.rank(facts)
        return HoldTerms(grace: rule.grace, minHold: rule.minHold)
    }
}

/// A rank's grace and min-hold are kept, unless a hard cause or an immediate rank cuts them short.
extension ContractMonitor {
    struct Seen {
        let event: Event
        let effects: [Effect]
        let now: Moment

        func hasNotice(of session: SessionID, _ isMeant: (SessionEvent) -> Bool) -> Bool {
            effects.contains { if case .notify(_, session, _, let notice) = $0 { isMeant(notice) } else { false } }
        }
    }

    typealias Terms = (SessionID, HoldMoment) -> HoldTerms?

    /// Its camera is opened for it. A session that lost its device or recorder meanwhile goes on with the time it had,
    /// which is not measured here.
    func minHoldUntil(_ watched: Watched, _ seen: Seen, _ terms: Terms) -> Moment {
        guard !watched.isLost, let terms = terms(watched.session, .granted(isRecording: watched.isRecording)) else {
            return .zero
        }
        return seen.now + terms.minHold
    }

    func givesWay(_ watched: Watched, _ notice: SessionEvent, _ seen: Seen, _ terms: Terms, _ wrong: inout Findings) {
        // Under another policy deadlines may have come nearer. A program outside the broker is no bid. Without its
        // recorder or its device it has nothing to finish.
        switch seen.event {
        case .policyLoaded, .heldOutside, .recorderGone, .deviceFailed: return
        default: break
        }
        // A session that does not close a stream in time is killed, and takes its camera along.
        let isKilled = seen.effects.contains { if case .killRecorder = $0 { true } else { false } }
        if isKilled { return }
        guard let terms = terms(watched.session, .gaveWay(wasRecording: watched.isRecording)) else { return }
        // A session of its own app may take over a lease that has no time left: both end in this step (semantics §6), and
        // the step leaves no request by which the terms could see that session.
        let isUsedUp = seen.hasNotice(of: watched.session) {
            if case .sessionStopped(let stop) = $0 { stop.reason == .leaseExpired } else { false }
        }
        if isUsedUp { return }
        // A session that is ready gives up the rest of both.
        if watched.isReady { return }
        let name = "session \(watched.session.rawValue): \(notice.wireName)"
        wrong.unless(
            seen.now >= watched.minHoldUntil,
            "\(name) before its min-hold is over, \(TimeText.write(watched.minHoldUntil))")
        guard terms.grace > .zero else { return }
        wrong.unless(watched.isWarned, "\(name) without the warning that its grace gives it")
        wrong.unless(
            !watched.isWarned || seen.now >= watched.warnedUntil,
            "\(name) before its deadline, \(TimeText.write(watched.warnedUntil))")
    }
}
