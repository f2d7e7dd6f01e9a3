import Arbiter
import ArbiterProtocol

/// The notices that a session may get, and when (semantics §4).
extension ContractMonitor {
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
        wrong.unless(watched.client == client, session, notice, "goes to another client")
        if watched.isClosed {
            let isFileEnd = if case .recordingFinished = notice { true } else { false }
            wrong.unless(isFileEnd, "session \(session.rawValue) is closed, and gets \(notice.wireName)")
        }
        switch notice {
        case .willBeInterrupted, .interruptionWithdrawn, .wasInterrupted, .interruptionChanged, .interruptionEnded:
            interruption(&watched, notice, seen, terms, &wrong)
        case .recordingStarted, .recordingPaused, .recordingResumed, .recordingFinished:
            // Only these change the state of files.
            sessions[place] = watched
            return recording(place, notice, &wrong)
        case .didStartRunning, .didStopRunning, .accessChanged, .sharersChanged, .sessionStopped, .photoCaptured,
            .configurationApplied, .rampFinished, .connectionsFormed, .cameraStateChanged, .runtimeError, .ended:
            running(&watched, notice, seen, terms, &wrong)
        }
        sessions[place] = watched
    }

    private func interruption(
        _ watched: inout Watched, _ notice: SessionEvent, _ seen: Seen, _ terms: Terms, _ wrong: inout Findings
    ) {
        let (before, session) = (watched, watched.session)
        switch notice {
        case .willBeInterrupted(let told):
            let isContention = told.cause == .videoDeviceInUseByAnotherClient
            wrong.unless(before.isRunning, session, notice, "for a session that does not run")
            wrong.unless(!before.isWarned, session, notice, "while a warning stands")
            wrong.unless(isContention, session, notice, "for a cause other than device-in-use")
            wrong.unless(told.deadline > seen.now, session, notice, "with a deadline that has passed")
            wrong.unless(told.id > before.lastInterruption, session, notice, "with an old id")
            watched.marks.insert(.warned)
            watched.warning = told.id
            watched.warnedUntil = told.deadline
            watched.isReady = false
            watched.lastInterruption = told.id
        case .interruptionWithdrawn(let id):
            // A warning for a winner that does not come after all is not sent.
            let isNew = seen.hasNotice(of: session) {
                if case .willBeInterrupted(let told) = $0 { told.id == id } else { false }
            }
            wrong.unless(before.isWarned && before.warning == id, session, notice, "without its warning")
            wrong.unless(!isNew, session, notice, "in the step that gave the warning")
            watched.marks.remove(.warned)
            watched.isReady = false
        case .wasInterrupted(let told):
            let isOwn = before.isWarned ? before.warning == told.id : told.id > before.lastInterruption
            wrong.unless(!before.isInterrupted, session, notice, "while interrupted")
            wrong.unless(!told.causes.isEmpty, session, notice, "without a cause")
            wrong.unless(isOwn, session, notice, "with an id that is not its own")
            wrong.unless(
                told.recording == (before.isRecording ? before.recording : nil), session, notice,
                "names another recording")
            if before.isRunning, told.causes == CauseSet([.videoDeviceInUseByAnotherClient]) {
                givesWay(before, notice, seen, terms, &wrong)
            }
            watched.marks.insert(.interrupted)
            watched.marks.subtract([.warned, .recording])
            watched.isReady = false
            watched.interruption = told.id
            watched.lastInterruption = max(told.id, before.lastInterruption)
            watched.isLost = told.isLoss
        case .interruptionChanged(let told):
            wrong.unless(before.isInterrupted(told.id), session, notice, "of another interruption")
            wrong.unless(!told.causes.isEmpty, session, notice, "without a cause")
            watched.isLost = before.isLost || told.isLoss
        case .interruptionEnded(let told):
            wrong.unless(before.isInterrupted(told.id), session, notice, "of another interruption")
            wrong.unless(!told.causes.isEmpty, session, notice, "that had no cause")
            wrong.unless(told.duration >= .zero, session, notice, "before it began")
            watched.marks.remove(.interrupted)
        default: preconditionFailure("\(notice.wireName) is about no interruption")
        }
    }

    private func running(
        _ watched: inout Watched, _ notice: SessionEvent, _ seen: Seen, _ terms: Terms, _ wrong: inout Findings
    ) {
        let (before, session) = (watched, watched.session)
        switch notice {
        case .didStartRunning(let grant):
            let isOpen = cameras.contains { $0.marks.contains(.open) && $0.grant == grant }
            wrong.unless(!before.isRunning, session, notice, "twice")
            wrong.unless(!before.isInterrupted, session, notice, "while interrupted")
            wrong.unless(isOpen, session, notice, "without an open grant")
            watched.marks.insert(.running)
            watched.isLost = false
            // A session that gets a streaming camera has `ConfigurationApplied` when that is settled.
            let isSettled = seen.hasNotice(of: session) {
                if case .configurationApplied(let told) = $0 {
                    told.by == .client || told.by == .resumption
                } else {
                    false
                }
            }
            if !isSettled { watched.batchesDue = max(watched.batchesDue, 1) }
        case .didStopRunning:
            wrong.unless(before.isRunning, session, notice, "for a session that does not run")
            let isEvicted = seen.hasNotice(of: session) {
                if case .sessionStopped(let stop) = $0 { stop.reason == .evicted } else { false }
            }
            if isEvicted { givesWay(before, notice, seen, terms, &wrong) }
            watched.marks.subtract([.running, .warned, .recording])
        case .sessionStopped: watched.marks.subtract([.interrupted, .warned])
        case .accessChanged: wrong.unless(!before.isInterrupted, session, notice, "while interrupted")
        case .configurationApplied(let told) where told.by == .client:
            // A session that starts gets the batch that it starts with; a running one those that it asked for since, or
            // that were ordered for it.
            let isStarting = !before.isRunning && seen.starts(session)
            if !isStarting { watched.batchesDue -= min(1, before.batchesDue) }
            wrong.unless(isStarting || before.batchesDue > 0, session, notice, "by a client that asked for nothing")
        case .runtimeError("configuration-refused", _): watched.batchesDue -= min(1, before.batchesDue)
        default: break
        }
    }

    private mutating func recording(_ place: Int, _ notice: SessionEvent, _ wrong: inout Findings) {
        let (watched, session) = (sessions[place], sessions[place].session)
        switch notice {
        case .recordingStarted(let id):
            let isNew = !files.contains { $0.recording == id }
            wrong.unless(watched.isRunning, session, notice, "for a session that does not run")
            wrong.unless(!watched.isRecording, session, notice, "twice")
            wrong.unless(isNew, session, notice, "names another recording")
            begin(id, place)
        case .recordingPaused(let id), .recordingResumed(let id):
            let isUnderWay = watched.isRecording && watched.recording == id
            wrong.unless(isUnderWay, session, notice, "names a recording that does not run")
        case .recordingFinished(let end):
            if watched.recording == end.recording { sessions[place].marks.remove(.recording) }
            let file = File(recording: end.recording, session: session)
            let isKnown = files.contains(file)
            wrong.unless(isKnown, session, notice, "for a recording that is finished or never began")
            if isKnown { finished(file) }
        default: preconditionFailure("\(notice.wireName) is about no recording")
        }
    }

    /// In one step: `ConfigurationApplied`, `InterruptionEnded`, `DidStartRunning`, `AccessChanged`, in this order as
    /// far as they come, and no promise to resume without the start. A session that starts, loses and starts again in
    /// one step, on a shared camera, gets each start in this order. Where a deadline started it there, a recorder's
    /// answer to an earlier batch comes after that.
    func startsWhole(_ session: SessionID, _ notice: SessionEvent, _ seen: Seen, _ wrong: inout Findings) {
        let isAnswer = if case .recorderConfigured = seen.event { true } else { false }
        switch notice {
        case .didStartRunning:
            var last = 0
            for case .notify(_, session, _, let other) in seen.effects {
                if case .didStopRunning = other { last = 0 }
                guard let place = other.placeInStart else { continue }
                if isAnswer, case .configurationApplied = other { continue }
                wrong.unless(place >= last, session, other, "comes too late in its start")
                last = max(last, place)
            }
        case .interruptionEnded(let told) where told.willResume:
            wrong.unless(seen.starts(session), session, notice, "promises a start that does not come")
        default: break
        }
    }
}

extension ContractMonitor.Seen {
    fileprivate func starts(_ session: SessionID) -> Bool {
        hasNotice(of: session) { if case .didStartRunning = $0 { true } else { false } }
    }
}

extension Interruption {
    /// The session has nothing left to finish.
    fileprivate var isLoss: Bool { causes.contains(.recorderReset) || causes.contains(.deviceError) }
}

extension SessionEvent {
    /// Its place among the notices of the step in which a session starts.
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
