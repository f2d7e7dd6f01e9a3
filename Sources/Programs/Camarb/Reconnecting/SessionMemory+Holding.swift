import ArbiterProtocol

/// What a session's client was not told of its broker's end, since the next broker may give the session back as it was.
///
///     none ──the end──▶ running ──Reclaim──▶ reclaiming ──given back──▶ none, and nothing is told
///      │                   └───── time over, or refused ─────▶ none, and the loss is told
///      └──the end──▶ waiting ──the next broker has said the same, or runs it──▶ none
///
/// A session that ran without a secret, or was about to, is told at once.
enum SessionHold {
    /// Clearly longer than a service manager takes to start another broker, and as long as a recorder core goes on without
    /// one. A client that hears nothing for longer would show a picture that stands still.
    static let holdMax = Duration.seconds(3)

    case none
    /// It runs, as far as the client knows, and there is a secret to go on by.
    case running(until: ContinuousClock.Instant)
    /// The next broker is being asked for it.
    case reclaiming(until: ContinuousClock.Instant)
    /// It was interrupted. Once it is back, what the broker says of that is kept: while others come back, it changes.
    case waiting(until: ContinuousClock.Instant, isBack: Bool, said: Interruption?)

    var until: ContinuousClock.Instant? {
        switch self {
        case .none: nil
        case .running(let until), .reclaiming(let until), .waiting(let until, _, _): until
        }
    }

    /// Another broker has ended before anything was settled: time goes on.
    var lostAgain: SessionHold {
        switch self {
        case .none: .none
        case .running(let until), .reclaiming(let until): .running(until: until)
        case .waiting(let until, _, _): .waiting(until: until, isBack: false, said: nil)
        }
    }

    /// Takes in what a broker says of an interruption.
    /// - Returns: whether it is not told now.
    mutating func notes(_ interruption: Interruption) -> Bool {
        guard case .waiting(let until, _, _) = self else { return false }
        self = .waiting(until: until, isBack: true, said: interruption)
        return true
    }
}

/// What a broker's end means for a session, what of it is told, and what is held back.
extension SessionMemory {
    /// What the session can be given back by, told once for each grant.
    mutating func takeWish() -> UInt64? {
        guard wantsSecret else { return nil }
        wantsSecret = false
        return run
    }

    mutating func keep(_ secret: String, of run: UInt64) {
        if told.grant != nil, run == self.run { self.secret = secret }
    }
    var isReclaimable: Bool { told.grant != nil && secret != nil }

    /// The broker was restarted under what ran, as far as the client is told or the broker is to be.
    var wasRunning: Bool {
        told.grant != nil || told.interruption.map { $0.causes.contains(.brokerRestarted) } ?? wantsToRun
    }

    /// The connection has ended: what the client is told now. The rest is held back for a while where the next broker may
    /// leave the session as it was.
    mutating func lost(at now: ContinuousClock.Instant) -> [SessionSignal] {
        var events = photos.sorted().map { photo in
            SessionEvent.photoCaptured(
                PhotoCaptured(
                    photo: photo, width: 0, height: 0, bytes: 0, error: "The broker ended before the photo was taken."))
        }
        photos = []
        photosDone = []
        switch hold {
        case .running, .reclaiming, .waiting: hold = hold.lostAgain
        case .none where isReclaimable: hold = .running(until: now + SessionHold.holdMax)
        case .none:
            if wantsToRun, let open = told.interruption, !open.causes.contains(.brokerRestarted) {
                isCarried = true
                hold = .waiting(until: now + SessionHold.holdMax, isBack: false, said: nil)
                events += recordingLost()
            } else {
                events += loss(at: now)
            }
        }
        defer { beginWithAnotherBroker() }
        return tell(events)
    }

    /// The next broker counts interruptions from 1, and its first is the one that is open.
    private mutating func beginWithAnotherBroker() {
        expected = 1
        offset = told.interruption.map { $0.id - 1 } ?? lastInterruption
    }

    /// A recording ends with its broker, also one that was cut and whose end was not said yet. Its figures are known to nobody
    /// any more. The next broker counts from 1.
    private mutating func recordingLost() -> [SessionEvent] {
        defer { (recording, lastRecordingFinished) = (nil, 0) }
        guard let recording else { return [] }
        var end = RecordingFinished(
            recording: recording, why: .interrupted, frames: nil, duration: nil, bytes: nil,
            nextChance: .whenInterruptionEnds)
        end.cause = .brokerRestarted
        return [.recordingFinished(end)]
    }

    private mutating func loss(at now: ContinuousClock.Instant) -> [SessionEvent] {
        var events: [SessionEvent] = []
        if let open = told.interruption {
            isCarried = true
            let causes = open.causes.union(CauseSet([.brokerRestarted]))
            events += changed(
                to: Interruption(
                    id: open.id, causes: causes, interrupter: open.interrupter, rule: Cause.brokerRestartedRule))
        } else if wantsToRun {
            let id = told.warning?.id ?? lastInterruption + 1
            (lastInterruption, interruptedSince, isCarried) = (id, now, true)
            events.append(
                .wasInterrupted(
                    Interruption(
                        id: id, causes: CauseSet([.brokerRestarted]), recording: recording,
                        rule: Cause.brokerRestartedRule)))
        }
        events += sharersGone()
        if told.grant != nil { events.append(.didStopRunning) }
        runsNoMore()
        return events + recordingLost()
    }

    /// The next broker begins with nobody, and says nothing while that is so.
    private func sharersGone() -> [SessionEvent] { told.sharers.isEmpty ? [] : [.sharersChanged([])] }

    /// What is to be shown to the present broker in place of a start; nil: it is started as any other.
    mutating func beginReclaiming() -> String? {
        guard case .running(let until) = hold, let secret else { return nil }
        hold = .reclaiming(until: until)
        return secret
    }

    /// The present broker has given the session back: it never stopped.
    mutating func reclaimed() -> [SessionSignal] {
        guard case .reclaiming = hold else { return [] }
        return tell(goesOn())
    }

    mutating func goesOn() -> [SessionEvent] {
        hold = .none
        hasNewGrant()
        // Once frames flow there, which the broker's `AccessChanged` says.
        wantsSecret = false
        isSettling = true
        knowsInForce = true
        // Whoever was about to take the camera asks anew.
        return (told.warning.map { [SessionEvent.interruptionWithdrawn($0.id)] } ?? []) + sharersGone()
    }

    /// The present broker has not: it is as if nothing had been held back.
    mutating func notReclaimed(at now: ContinuousClock.Instant) -> [SessionSignal] {
        guard case .reclaiming = hold else { return [] }
        return tellHeld(at: now)
    }

    /// The present broker knows it, and says by itself what has become of it.
    mutating func isBack() {
        if case .waiting(let until, _, let said) = hold { hold = .waiting(until: until, isBack: true, said: said) }
    }

    /// What was held back until now, where its time is over. While the broker is being asked it is not.
    mutating func holdEnded(at now: ContinuousClock.Instant) -> [SessionSignal] {
        guard let until = hold.until, until <= now else { return [] }
        if case .reclaiming = hold { return [] }
        return tellHeld(at: now)
    }

    /// What was held back, told in any case.
    mutating func tellHeld(at now: ContinuousClock.Instant) -> [SessionSignal] {
        let held = hold
        hold = .none
        switch held {
        case .none: return []
        case .running, .reclaiming, .waiting(_, isBack: false, _):
            defer { beginWithAnotherBroker() }
            return tell(loss(at: now))
        case .waiting(_, isBack: true, let said): return tell(said.map { changed(to: $0) } ?? [])
        }
    }

    /// The next broker does not take the session: it has stopped for good, and may be started again.
    mutating func refused(_ error: BrokerError, at now: ContinuousClock.Instant) -> [SessionSignal] {
        let held = tellHeld(at: now)
        let ended = endOfCarried(now, willResume: false)
        wantsToRun = false
        let stopped: [SessionEvent] = [
            .runtimeError(code: error.kind.rawValue, message: error.message),
            .sessionStopped(SessionStop(.deniedByPolicy, rule: Cause.brokerRestartedRule)),
        ]
        return held + tell(ended + stopped)
    }
}
