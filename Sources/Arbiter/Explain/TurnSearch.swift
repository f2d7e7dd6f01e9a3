import Vocabulary

/// Looks for the smallest changes of facts that turn a verdict, by living the moment again with each.
struct TurnSearch {
    /// More than three facts at once are another situation, not another fact.
    static let factsMax = 3
    /// Steps of a copy, some ten microseconds each: a twentieth of a second of whoever asks.
    static let attemptsMax = 2000
    /// As many ways out as a person compares.
    static let changesMax = 8

    /// The arbiter right before the step that decided.
    let before: Arbiter
    let event: Event
    let at: Moment
    let session: SessionID
    let outcome: Explanation.Outcome

    /// Whether a step ended for the session as its verdict says.
    func fell(_ after: Arbiter) -> Bool {
        switch outcome {
        case .granted: after.has(session)
        case .interrupted, .refused, .stopped: !after.has(session)
        case .restricted(let access): after.accessNow(session) == access
        }
    }

    private func turned(_ after: Arbiter) -> Bool {
        switch outcome {
        case .granted: !after.has(session)
        case .interrupted, .refused, .stopped: after.has(session)
        case .restricted(.all): after.accessNow(session) != .all
        case .restricted(let access): after.accessNow(session).isStrictSuperset(of: access)
        }
    }

    /// The smallest sets that turn it: single facts, else pairs, else triples, in the order of the suppositions.
    func search(attempts: Int) -> (found: [[Explanation.Turn]], searched: Explanation.Searched) {
        let loses = if case .granted = outcome { false } else { true }
        // The facts as the event left them, and those that ended with it: a recording that was cut.
        var after = before
        _ = after.step(event, at: at)
        var candidates = after.suppositions(about: session, loses: loses)
        let known = Set(candidates.map(\.about))
        candidates += before.suppositions(about: session, loses: loses).filter { !known.contains($0.about) }
        var left = attempts
        var found: [[Explanation.Turn]] = []
        for size in 1...Self.factsMax {
            var isCut = false
            choose(size, of: candidates) { set in
                guard left > 0 else {
                    isCut = true
                    return false
                }
                guard Supposition.agree(set) else { return true }
                left -= 1
                if let other = before.supposing(set, then: event, at: at), turned(other) {
                    let turns = set.map(\.turn)
                    if !found.contains(turns) { found.append(turns) }
                }
                return found.count < Self.changesMax
            }
            if !found.isEmpty { return (found, .upTo(facts: size)) }
            if isCut { return (found, .first(attempts: attempts)) }
        }
        return (found, .upTo(facts: Self.factsMax))
    }

    /// Every choice of so many, in order, until the body has enough.
    private func choose(_ count: Int, of all: [Supposition], _ body: ([Supposition]) -> Bool) {
        func extend(_ set: [Supposition], from start: Int) -> Bool {
            if set.count == count { return body(set) }
            for index in start..<all.count where !extend(set + [all[index]], from: index + 1) { return false }
            return true
        }
        if all.count >= count { _ = extend([], from: 0) }
    }
}

extension Arbiter {
    /// The session has its camera, or it is promised to it.
    fileprivate func has(_ id: SessionID) -> Bool {
        guard let session = state.sessions[id], session.request != nil, let camera = state.cameras[session.camera]
        else { return false }
        switch session.shown {
        case .running: return true
        case .pending, .interrupted, .stopped: break
        }
        if camera.promise?.session == id || camera.tenancy.held?.contest?.beneficiary == id { return true }
        return camera.tenancy.held?.session == id && session.shown == .pending
    }

    fileprivate func accessNow(_ id: SessionID) -> Access {
        if case .running(let access)? = state.sessions[id]?.shown { access } else { .none }
    }
}
