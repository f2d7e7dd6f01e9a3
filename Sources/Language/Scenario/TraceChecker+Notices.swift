import Arbiter
import ArbiterProtocol

/// What a session may be told, and when (semantics §4).
extension TraceChecker {
    mutating func notified(
        _ client: ClientID, _ session: SessionID, _ sequence: UInt64, _ notice: SessionEvent, _ seen: Seen,
        _ terms: Terms, _ wrong: inout Findings
    ) {
        guard let place = place(of: session) else {
            wrong.unless(false, "session \(session.rawValue) is gone, and gets \(notice.wireName)")
            return
        }
        var watched = sessions[place]
        let expected = watched.sequence + 1
        wrong.unless(sequence == expected, "session \(session.rawValue): notice \(sequence) follows \(expected - 1)")
        watched.sequence = sequence
        wrong.unless(watched.client == client, "session \(session.rawValue): \(notice.wireName) goes to another client")
        if watched.marks.contains(.closed) {
            let isFileEnd = if case .recordingFinished = notice { true } else { false }
            wrong.unless(isFileEnd, "session \(session.rawValue) is closed, and gets \(notice.wireName)")
        }
        switch notice {
        case .willBeInterrupted, .interruptionWithdrawn, .wasInterrupted, .interruptionChanged, .interruptionEnded:
            interruption(&watched, notice, seen, terms, &wrong)
        case .recordingStarted, .recordingPaused, .recordingResumed, .recordingFinished:
            // The only ones that change what is remembered elsewhere.
            sessions[place] = watched
            recording(place, notice, &wrong)
            return
        case .didStartRunning, .didStopRunning, .accessChanged, .sharersChanged, .sessionStopped, .photoCaptured,
            .configurationApplied, .rampFinished, .connectionsFormed, .cameraStateChanged, .runtimeError, .ended:
            running(&watched, notice, seen, terms, &wrong)
        }
        sessions[place] = watched
    }

    private func sentence(_ watched: Watched, _ notice: SessionEvent, _ what: String) -> String {
        "session \(watched.session.rawValue): \(notice.wireName) \(what)"
    }

    private func interruption(
        _ watched: inout Watched, _ notice: SessionEvent, _ seen: Seen, _ terms: Terms, _ wrong: inout Findings
    ) {
        let before = watched
        func unless(_ condition: Bool, _ what: @autoclosure () -> String, _ wrong: inout Findings) {
            wrong.unless(condition, sentence(before, notice, what()))
        }
        switch notice {
        case .willBeInterrupted(let told):
            unless(before.marks.contains(.running), "for a session that does not run", &wrong)
            unless(!before.marks.contains(.warned), "while a warning stands", &wrong)
            unless(told.cause == .videoDeviceInUseByAnotherClient, "for a cause other than device-in-use", &wrong)
            unless(told.deadline > seen.now, "with a deadline that has passed", &wrong)
            unless(told.id > before.lastInterruption, "with an old id", &wrong)
            watched.marks.insert(.warned)
            watched.warning = told.id
            watched.warnedUntil = told.deadline
            watched.isReady = false
            watched.lastInterruption = told.id
        case .interruptionWithdrawn(let id):
            unless(before.marks.contains(.warned) && before.warning == id, "without its warning", &wrong)
            unless(!isGiven(id, to: before.session, seen), "in the step that gave the warning", &wrong)
            watched.marks.remove(.warned)
            watched.isReady = false
        case .wasInterrupted(let told):
            let isWarned = before.marks.contains(.warned)
            unless(!before.marks.contains(.interrupted), "while interrupted", &wrong)
            unless(!told.causes.isEmpty, "without a cause", &wrong)
            unless(
                isWarned ? before.warning == told.id : told.id > before.lastInterruption,
                "with an id that is not its own", &wrong
            )
            let running = before.marks.contains(.recording) ? before.recording : nil
            unless(told.recording == running, "names another recording", &wrong)
            if before.marks.contains(.running), told.causes == CauseSet([.videoDeviceInUseByAnotherClient]) {
                givesWay(before, notice, seen, terms, &wrong)
            }
            watched.marks.insert(.interrupted)
            watched.marks.subtract([.warned, .recording])
            watched.isReady = false
            watched.interruption = told.id
            watched.lastInterruption = max(told.id, before.lastInterruption)
            watched.isLost = told.causes.contains(.recorderReset) || told.causes.contains(.deviceError)
        case .interruptionChanged(let told):
            unless(before.isInterrupted(told.id), "of another interruption", &wrong)
            unless(!told.causes.isEmpty, "without a cause", &wrong)
            watched.isLost = before.isLost || told.causes.contains(.recorderReset) || told.causes.contains(.deviceError)
        case .interruptionEnded(let told):
            unless(before.isInterrupted(told.id), "of another interruption", &wrong)
            unless(!told.causes.isEmpty, "that had no cause", &wrong)
            unless(told.duration >= .zero, "before it began", &wrong)
            watched.marks.remove(.interrupted)
        default: preconditionFailure("\(notice.wireName) is about no interruption")
        }
    }

    /// Whether a step's effects have this warning: nobody is warned for a winner that does not come after all.
    private func isGiven(_ id: InterruptionID, to session: SessionID, _ seen: Seen) -> Bool {
        seen.effects.contains { effect in
            if case .notify(_, session, _, .willBeInterrupted(let told)) = effect { told.id == id } else { false }
        }
    }

    private func running(
        _ watched: inout Watched, _ notice: SessionEvent, _ seen: Seen, _ terms: Terms, _ wrong: inout Findings
    ) {
        let (before, effects) = (watched, seen.effects)
        switch notice {
        case .didStartRunning(let grant):
            wrong.unless(!before.marks.contains(.running), sentence(before, notice, "twice"))
            wrong.unless(!before.marks.contains(.interrupted), sentence(before, notice, "while interrupted"))
            wrong.unless(
                cameras.contains { $0.marks.contains(.open) && $0.grant == grant },
                sentence(before, notice, "without an open grant"))
            watched.marks.insert(.running)
            watched.isLost = false
            // A session that got a streaming camera is told what is in force when that is settled.
            if !isToldWhatIsInForce(before.session, effects) { watched.batchesDue = max(watched.batchesDue, 1) }
        case .didStopRunning:
            wrong.unless(before.marks.contains(.running), sentence(before, notice, "for a session that does not run"))
            if isEvicted(before.session, effects) { givesWay(before, notice, seen, terms, &wrong) }
            watched.marks.subtract([.running, .warned, .recording])
        case .sessionStopped: watched.marks.subtract([.interrupted, .warned])
        case .accessChanged:
            wrong.unless(!before.marks.contains(.interrupted), sentence(before, notice, "while interrupted"))
        case .configurationApplied(let told) where told.by == .client:
            // A session that starts is told what it starts with; one that runs, what it asked for since or what was
            // ordered for it.
            let isStarting = !before.marks.contains(.running) && starts(before.session, effects)
            if !isStarting { watched.batchesDue -= min(1, before.batchesDue) }
            wrong.unless(
                isStarting || before.batchesDue > 0, sentence(before, notice, "by a client that asked for nothing"))
        case .runtimeError("configuration-refused", _): watched.batchesDue -= min(1, before.batchesDue)
        default: break
        }
    }

    private mutating func recording(_ place: Int, _ notice: SessionEvent, _ wrong: inout Findings) {
        let watched = sessions[place]
        switch notice {
        case .recordingStarted(let id):
            wrong.unless(watched.marks.contains(.running), sentence(watched, notice, "for a session that does not run"))
            wrong.unless(!watched.marks.contains(.recording), sentence(watched, notice, "twice"))
            wrong.unless(!files.contains { $0.recording == id }, sentence(watched, notice, "names another recording"))
            sessions[place].marks.insert(.recording)
            sessions[place].unfinished += 1
            sessions[place].recording = id
            files.append(File(recording: id, session: watched.session))
        case .recordingPaused(let id), .recordingResumed(let id):
            wrong.unless(
                watched.marks.contains(.recording) && watched.recording == id,
                sentence(watched, notice, "names a recording that does not run"))
        case .recordingFinished(let end):
            if watched.recording == end.recording { sessions[place].marks.remove(.recording) }
            let file = File(recording: end.recording, session: watched.session)
            let isKnown = files.contains(file)
            wrong.unless(isKnown, sentence(watched, notice, "for a recording that is finished or never began"))
            if isKnown { finished(file) }
        default: preconditionFailure("\(notice.wireName) is about no recording")
        }
    }

    /// Of one step: `ConfigurationApplied`, `InterruptionEnded`, `DidStartRunning`, `AccessChanged`, in this order as
    /// far as they come, and no promise to resume without the start. A session that starts, loses and starts again in
    /// one step, on a shared camera, is told each start in this order. Where it started on one because something was
    /// due, a recorder's answer to what was asked before comes after that.
    func startsWhole(_ session: SessionID, _ notice: SessionEvent, _ seen: Seen, _ wrong: inout Findings) {
        let effects = seen.effects
        let isAnswer = if case .recorderConfigured = seen.event { true } else { false }
        switch notice {
        case .didStartRunning:
            var last = 0
            for case .notify(_, session, _, let other) in effects {
                if case .didStopRunning = other { last = 0 }
                guard let place = other.placeInStart else { continue }
                if isAnswer, case .configurationApplied = other { continue }
                wrong.unless(
                    place >= last, "session \(session.rawValue): \(other.wireName) comes too late in its start")
                last = max(last, place)
            }
        case .interruptionEnded(let told) where told.willResume:
            wrong.unless(
                starts(session, effects),
                "session \(session.rawValue): InterruptionEnded promises a start that does not come")
        default: break
        }
    }

    private func isToldWhatIsInForce(_ session: SessionID, _ effects: [Effect]) -> Bool {
        effects.contains { effect in
            if case .notify(_, session, _, .configurationApplied(let told)) = effect {
                told.by == .client || told.by == .resumption
            } else {
                false
            }
        }
    }

    private func starts(_ session: SessionID, _ effects: [Effect]) -> Bool {
        effects.contains { if case .notify(_, session, _, .didStartRunning) = $0 { true } else { false } }
    }
}

extension TraceChecker.Watched {
    fileprivate func isInterrupted(_ id: InterruptionID) -> Bool { marks.contains(.interrupted) && interruption == id }
}

extension SessionEvent {
    /// Its place among what a session is told in the step in which it starts.
    fileprivate var placeInStart: Int? {
        switch self {
        case .configurationApplied: 1
        case .interruptionEnded: 2
        case .didStartRunning: 3
        case .accessChanged: 4
        default: nil
        }
    }
}
