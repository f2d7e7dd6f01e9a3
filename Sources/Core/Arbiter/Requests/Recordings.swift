import Vocabulary

/// Recordings of a session: the picture, its own microphone's sound, and metadata beside them.
extension Arbiter {
    /// The microphone belongs to the grant: it ends with the grant, and when another session takes the grant over.
    mutating func attachMicrophone(_ slot: Slot<Session>, _ format: MicrophoneFormat) throws(Refusal) {
        try demand(.record, of: slot, to: "attach a microphone", .runningToAttach)
        guard state.sessions[slot].waits == nil else { throw .microphoneOfTheHolder }
        guard state.sessions[slot].has.contains(.audio) else { throw .usesNoAudio }
        state.sessions[slot].has.insert(.microphone)
        order(for: slot) { .attachMicrophone($0, $1, $2, format) }
    }

    /// Detaches the microphone while its grant goes on.
    mutating func detachMicrophone(of slot: Slot<Session>) {
        guard state.sessions[slot].has.remove(.microphone) != nil else { return }
        order(for: slot) { camera, grant, _ in .detachMicrophone(camera, grant) }
    }

    /// Forgets the outputs that the recorder core lost with the grant.
    mutating func forgetGrant(of camera: Slot<Camera>) {
        var place = state.cameras[camera].firstRequest
        while let slot = place {
            state.sessions[slot].has.subtract([.microphone, .slate])
            if state.sessionSettings[slot].picture != nil { state.sessionSettings[slot].picture = nil }
            place = state.sessions[slot].nextOnCamera
        }
    }

    mutating func startRecording(_ slot: Slot<Session>, _ options: RecordingOptions) throws(Refusal) {
        try demand(.record, of: slot, to: "record", .runningToRecord)
        let session = state.sessions[slot]
        guard !session.has.contains(.recording) else { throw .recordsAlready(session.ledger.recording ?? 0) }
        let recordings = state.requests(on: session.camera).count { state.sessions[$0].has.contains(.recording) }
        guard recordings < Bound.recordingsMax else { throw .tooManyRecordings }
        // A sharer records without sound.
        if session.has.contains(.audio), session.waits == nil, !session.has.contains(.microphone) {
            throw .noMicrophone
        }
        let findsObjects = !state.cameraSettings[session.camera].capabilities.availableMetadataObjectTypes.isEmpty
        if !findsObjects, options.metadata.contains(where: { $0.type == .objects }) {
            throw .findsNoObjects(state.cameraNames[session.camera])
        }
        state.ledger.lastRecording += 1
        let recording = state.ledger.lastRecording
        begin(recording, of: slot)
        state.set(.metadata, !options.metadata.isEmpty, of: slot)
        order(for: slot) { .startRecording($0, $1, $2, recording) }
        notes.effects.append(.answered(recording))
        notify(slot, .recordingStarted(recording))
        touch(slot)
    }

    mutating func begin(_ recording: RecordingID, of slot: Slot<Session>) {
        state.ledger.recordings.append(Ledger.Recording(id: recording, session: state.sessions[slot].id))
        state.sessions[slot].ledger.recording = recording
        state.sessions[slot].ledger.unfinished += 1
        state.sessions[slot].has.insert(.recording)
    }

    mutating func stopRecording(_ slot: Slot<Session>) throws(Refusal) {
        guard let recording = recording(of: slot) else { throw .nothingToStop }
        notes.effects.append(.stopRecording(camera(of: slot), recording, why: .stopped))
        forgetRecording(slot)
        touch(slot)
    }

    /// Ends the session's recording; the recorder finishes the file, and reports that later.
    @discardableResult mutating func forgetRecording(_ slot: Slot<Session>) -> RecordingID? {
        state.sessions[slot].has.subtract([.recording, .paused])
        guard let recording = state.sessions[slot].ledger.recording else { return nil }
        state.sessions[slot].ledger.recording = nil
        if let place = state.ledger.recordings.firstIndex(where: { $0.id == recording }) {
            state.ledger.recordings[place].endedBy = lastDecision
        }
        return recording
    }

    mutating func recordingFinished(_ end: RecordingFinished) {
        guard let place = state.ledger.recordings.firstIndex(where: { $0.id == end.recording }) else {
            return forgetRecordingOfSurvivor(end.recording)
        }
        let known = state.ledger.recordings.remove(at: place)
        guard let slot = state.sessionSlots[known.session] else { return }
        state.sessions[slot].ledger.unfinished -= 1
        // The recording ended by itself: a limit, a full disk, an error.
        if state.sessions[slot].ledger.recording == end.recording {
            forgetRecording(slot)
            touch(slot)
        }
        var told = end
        (told.cause, told.interrupter) = (known.cause, known.interrupter)
        told.nextChance =
            switch state.sessions[slot].shown {
            case .running(let access): access.contains(.record) ? .now : .whenAccessReturns
            case .interrupted: .whenInterruptionEnds
            case .pending, .stopped: .afterStart
            }
        notify(slot, .recordingFinished(told))
        // The session was closed, and this was its last notice.
        if state.sessions[slot].has.contains(.closing), state.sessions[slot].ledger.unfinished == 0 { self.end(slot) }
    }

    mutating func pauseRecording(_ slot: Slot<Session>, _ pauses: Bool) throws(Refusal) {
        guard let recording = recording(of: slot) else {
            throw .notRecording(pauses ? "pause" : "resume", .recordingToPause)
        }
        guard state.sessions[slot].has.contains(.paused) != pauses else {
            throw pauses ? .pausedAlready(recording) : .notPaused(recording)
        }
        state.set(.paused, pauses, of: slot)
        let camera = camera(of: slot)
        notes.effects.append(pauses ? .pauseRecording(camera, recording) : .resumeRecording(camera, recording))
        notify(slot, pauses ? .recordingPaused(recording) : .recordingResumed(recording))
    }

    /// The items go to the recorder core, which has the declared kinds, and replies.
    mutating func appendMetadata(_ slot: Slot<Session>) throws(Refusal) {
        guard let recording = recording(of: slot) else { throw .notRecording("append metadata to", .recordingToAppend) }
        notes.effects.append(.appendMetadata(camera(of: slot), recording))
    }

    private func recording(of slot: Slot<Session>) -> RecordingID? {
        state.sessions[slot].has.contains(.recording) ? state.sessions[slot].ledger.recording : nil
    }

    private func camera(of slot: Slot<Session>) -> CameraID { state.cameraNames[state.sessions[slot].camera] }

    /// Records the cause for the order that ends the recording, and for the notice of its whole file.
    mutating func note(
        _ cause: Cause?, by interrupter: Interrupter?, for recording: RecordingID, on camera: Slot<Camera>
    ) {
        if let place = state.ledger.recordings.firstIndex(where: { $0.id == recording }) {
            state.ledger.recordings[place].cause = cause
            state.ledger.recordings[place].interrupter = interrupter
        }
        let reason = RecordingReason(cause, by: interrupter)
        let name = state.cameraNames[camera]
        for place in notes.effects.indices {
            switch notes.effects[place] {
            case .cut(name, let grant, let why, let next, _):
                notes.effects[place] = .cut(name, grant, why: why, next: next, reason: reason)
            case .stopRecording(name, recording, let why, _):
                notes.effects[place] = .stopRecording(name, recording, why: why, reason: reason)
            default: break
            }
        }
    }
}
