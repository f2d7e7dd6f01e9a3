import Vocabulary

extension Arbiter {
    /// The holder's grant and access, for a request that needs both; a refusal that says what is missing otherwise.
    private mutating func streaming(
        _ id: SessionID, needs right: Access, _ verb: String, _ turn: inout Turn
    ) -> (session: Session, grant: GrantID)? {
        guard let session = known(id, &turn) else { return nil }
        switch session.shown {
        case .running(let access) where access.isSuperset(of: right):
            guard let grant = ledger.grants[session.camera] else {
                preconditionFailure("a running session has a grant")
            }
            return (session, grant)
        case .running(let access):
            let limit = limit(on: right, of: session)
            let allowed = access.names.joined(separator: ", ")
            turn.refuse(
                .accessDenied, "This session may not \(verb) now: \(limit.sentence). It may \(allowed).",
                rule: limit.rule)
        case .interrupted(let causes):
            turn.refuse(
                .interrupted,
                "The session is interrupted (\(causes.reason?.wireName ?? "")); it can \(verb) when it runs again.",
                rule: "only a running session can \(verb)")
        case .stopped, .pending:
            turn.refuse(
                .notRunning, "The session is not running yet; \(verb) after DidStartRunning.",
                rule: "only a running session can \(verb)")
        }
        return nil
    }

    /// The rule that takes a right from a session that runs, and what to say about it.
    func limit(on right: Access, of session: Session) -> (rule: String, sentence: String) {
        let live = everyCause(of: session).first { !$0.access.isSuperset(of: right) }
        guard let live else {
            return watches(session)
                ? (Self.asksToWatch, "its sharingMode is sharedReadOnly") : ("access", "the policy does not give it")
        }
        // The published wording of the picker's rule (capture.md, "Outputs").
        if right == .record, live.cause == .videoDeviceNotAvailableWithMultipleForegroundApps {
            return (live.rule, "it must be full screen to record video")
        }
        return (live.rule, "\(live.cause.wireName) because \"\(live.rule)\"")
    }

    mutating func openStream(_ id: SessionID, _ turn: inout Turn) {
        guard let (session, grant) = streaming(id, needs: .preview, "preview", &turn) else { return }
        turn.effects.append(.openStream(session.camera, grant, id))
    }

    mutating func capturePhoto(_ id: SessionID, _ turn: inout Turn) {
        guard let (session, grant) = streaming(id, needs: .photo, "photo", &turn) else { return }
        ledger.photo += 1
        ledger.photos[ledger.photo] = id
        turn.effects.append(.capturePhoto(session.camera, grant, id, ledger.photo))
        turn.effects.append(.answered(ledger.photo))
    }

    mutating func startRecording(_ id: SessionID, _ turn: inout Turn) {
        guard let (session, grant) = streaming(id, needs: .record, "record", &turn) else { return }
        guard !session.isRecording else {
            turn.refuse(
                .alreadyRecording,
                "The session is recording already (recording \(ledger.sessions[id]?.recording ?? 0)); StopRecording finishes it.",
                rule: "one recording at a time")
            return
        }
        ledger.recording += 1
        ledger.recordings[ledger.recording] = id
        ledger.sessions[id]?.recording = ledger.recording
        state.sessions[id]?.isRecording = true
        turn.effects.append(.startRecording(session.camera, grant, id, ledger.recording))
        turn.effects.append(.answered(ledger.recording))
        notify(id, .recordingStarted(ledger.recording), &turn)
        touch(id, &turn)
    }

    mutating func stopRecording(_ id: SessionID, _ turn: inout Turn) {
        guard let session = known(id, &turn) else { return }
        guard session.isRecording, let recording = ledger.sessions[id]?.recording else {
            turn.refuse(
                .notRecording, "The session is not recording; StartRecording begins one.",
                rule: "a recording is stopped once")
            return
        }
        turn.effects.append(.stopRecording(session.camera, recording, why: .stopped))
        forgetRecording(id)
        touch(id, &turn)
    }

    /// The session records no more; the file is finished by the recorder, which reports it later.
    @discardableResult
    mutating func forgetRecording(_ id: SessionID) -> RecordingID? {
        if state.sessions[id]?.isRecording == true { state.sessions[id]?.isRecording = false }
        guard let recording = ledger.sessions[id]?.recording else { return nil }
        ledger.sessions[id]?.recording = nil
        ledger.endedRecordings[recording] = lastDecision
        return recording
    }

    mutating func recordingFinished(
        _ recording: RecordingID, _ why: RecordingEnd, _ frames: UInt64, _ duration: Duration, _ bytes: UInt64,
        _ turn: inout Turn
    ) {
        ledger.endedRecordings[recording] = nil
        guard let id = ledger.recordings.removeValue(forKey: recording), let session = state.sessions[id] else {
            return
        }
        // It ended by itself: a limit, a full disk, an error.
        if ledger.sessions[id]?.recording == recording {
            forgetRecording(id)
            ledger.endedRecordings[recording] = nil
            touch(id, &turn)
        }
        let next: RecordingFinished.NextChance =
            switch session.shown {
            case .running(let access): access.contains(.record) ? .now : .whenAccessReturns
            case .interrupted: .whenInterruptionEnds
            case .pending, .stopped: .afterStart
            }
        notify(
            id,
            .recordingFinished(
                RecordingFinished(
                    recording: recording, why: why, frames: frames, duration: duration, bytes: bytes, nextChance: next)),
            &turn)
    }

    mutating func photoCaptured(_ photo: PhotoCaptured, _ turn: inout Turn) {
        guard let id = ledger.photos.removeValue(forKey: photo.photo), state.sessions[id] != nil else { return }
        notify(id, .photoCaptured(photo), &turn)
    }
}
