import Arbiter
import Vocabulary

/// Looks for the smallest changes of facts that change a verdict, by repeating the step with each.
struct AlterationSearch {
    /// More than three facts at once are another situation, not another fact.
    static let factsMax = 3
    /// Steps of a copy of some twenty microseconds each, and twice that beside a thousand clients: less than a tenth of a second.
    static let attemptsMax = 2000
    /// As many as a person compares.
    static let changesMax = 8

    let before: Arbiter
    let after: Arbiter
    let event: Event
    let at: Moment
    let session: SessionID
    let outcome: CoreVerdict.Outcome

    var fell: Bool {
        switch outcome {
        case .granted: after.has(session)
        case .interrupted, .refused, .stopped: !after.has(session) || isHeldOff
        case .restricted(let access): after.accessNow(session) == access
        case .warned: after.isWarned(session)
        }
    }

    private var isHeldOff: Bool { if case .interrupted = outcome { after.isHeldOff(session) } else { false } }

    private func changes(_ after: Arbiter) -> Bool {
        switch outcome {
        case .granted: !after.has(session)
        case .interrupted where isHeldOff: after.has(session) && !after.isHeldOff(session)
        case .interrupted, .refused, .stopped: after.has(session)
        case .warned: after.has(session) && !after.isWarned(session)
        case .restricted(.all): after.accessNow(session) != .all
        case .restricted(let access): after.accessNow(session).isStrictSuperset(of: access)
        }
    }

    /// The smallest sets of suppositions that change the outcome, in order: single facts, else pairs, else triples.
    /// - Parameter mayGoOn: called before each attempt; the search ends when it returns false.
    func search(
        attempts: Int, while mayGoOn: () -> Bool = { true }
    ) -> (found: [[Explanation.Alteration]], searched: Explanation.Searched) {
        let candidates = candidates
        var left = attempts
        var found: [[Explanation.Alteration]] = []
        for size in 1...Self.factsMax {
            var isCut = false
            choose(size, of: candidates) { set in
                guard left > 0, mayGoOn() else {
                    isCut = true
                    return false
                }
                left -= 1
                if let other = before.supposing(set, then: event, at: at), changes(other) {
                    let alterations = set.map(\.alteration)
                    if !found.contains(alterations) { found.append(alterations) }
                }
                return found.count < Self.changesMax
            }
            if !found.isEmpty { return (found, .upTo(facts: size)) }
            if isCut { return (found, .first(attempts: attempts - left)) }
        }
        return (found, .upTo(facts: Self.factsMax))
    }

    /// Apps each of which alone, had it not asked for a camera, would have left the session its own. Takes
    /// `Alternatives.contendersMax` steps of a copy at most.
    func stops(while mayGoOn: () -> Bool) -> [AppID] {
        switch outcome {
        case .interrupted, .refused, .stopped, .warned: break
        case .granted, .restricted: return []
        }
        return (Alternatives(to: session, in: after) ?? Alternatives(to: session, in: before))?.stops.filter { other in
            guard mayGoOn() else { return false }
            var supposed = before
            supposed.assume(other.events.map { .event($0) })
            // If this app's start is the event, the event does not happen.
            let isOwn =
                if case .startRunning(let id) = event { other.events.contains(.stopRunning(id)) } else { false }
            _ = supposed.step(isOwn ? .timePassed : event, at: at)
            return changes(supposed)
        }
        .map(\.app.id) ?? []
    }

    /// The facts after the event, and facts that ended with it: a recording that was cut.
    private var candidates: [Supposition] {
        let loses = if case .granted = outcome { false } else { true }
        let now = Alternatives(to: session, in: after)?.all(loses: loses) ?? []
        let known = Set(now.map(\.about))
        let then = Alternatives(to: session, in: before)?.all(loses: loses) ?? []
        return now + then.filter { !known.contains($0.about) }
    }

    /// Every choice of so many that do not contradict each other, in order, until the body has enough.
    private func choose(_ count: Int, of all: [Supposition], _ body: ([Supposition]) -> Bool) {
        func extend(_ set: [Supposition], from start: Int) -> Bool {
            if set.count == count { return body(set) }
            for index in all.indices[start...] where !set.contains(where: { $0.about == all[index].about }) {
                if !extend(set + [all[index]], from: index + 1) { return false }
            }
            return true
        }
        _ = extend([], from: 0)
    }
}

extension Arbiter {
    fileprivate func has(_ id: SessionID) -> Bool {
        guard let slot = state.sessionSlots[id.rawValue] else { return false }
        let session = state.sessions[slot]
        guard session.request != nil else { return false }
        if session.shown.isRunning { return true }
        let camera = state.cameras[session.camera]
        if camera.promise?.session == slot || camera.contest?.beneficiary == slot { return true }
        // A winner receives no notice before its first frame.
        return camera.tenancy.held?.session == slot && camera.tenancy.isCapturing
    }

    /// It has won, and waits only for the holder's min-hold or grace.
    fileprivate func isHeldOff(_ id: SessionID) -> Bool {
        guard let slot = state.sessionSlots[id.rawValue] else { return false }
        return state.cameraOrder.contains { state.cameras[$0].contest?.beneficiary == slot }
    }

    /// It holds its camera, and was warned.
    fileprivate func isWarned(_ id: SessionID) -> Bool {
        guard let slot = state.sessionSlots[id.rawValue] else { return false }
        let held = state.cameras[state.sessions[slot].camera].tenancy.held
        return held?.session == slot && held?.contest?.announced != nil
    }

    fileprivate func accessNow(_ id: SessionID) -> Access {
        guard let slot = state.sessionSlots[id.rawValue], case .running(let access) = state.sessions[slot].shown
        else { return .none }
        return access
    }
}
