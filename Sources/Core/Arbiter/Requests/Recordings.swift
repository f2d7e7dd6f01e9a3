import Vocabulary

/// What a session records: the picture, its own microphone's sound, and metadata beside them.
extension Arbiter {
    /// It belongs to the grant: whatever ends that or gives it to another session ends the microphone too.
    mutating func attachMicrophone(_ slot: Slot<Session>, _ format: MicrophoneFormat) {
        guard mayUse(slot, needs: .record, "attach a microphone", .runningToAttach) else { return }
        guard state.sessions[slot].has.contains(.audio) else {
            return notes.refuse(
                .unsupportedConfiguration,
                "usesAudio is false: configure usesAudio true, then attach the microphone.", .microphoneForAudio)
        }
        state.sessions[slot].has.insert(.microphone)
        let camera = state.sessions[slot].camera
        notes.effects.append(
            .attachMicrophone(state.cameraNames[camera], state.cameras[camera].grant, state.id(slot), format))
    }

    /// While its grant goes on.
    mutating func detachMicrophone(of slot: Slot<Session>) {
        guard state.sessions[slot].has.contains(.microphone) else { return }
        state.sessions[slot].has.remove(.microphone)
        let camera = state.sessions[slot].camera
        notes.effects.append(.detachMicrophone(state.cameraNames[camera], state.cameras[camera].grant))
    }

    /// What the recorder core had of a grant's sessions is gone with the grant.
    mutating func forgetGrant(of camera: Slot<Camera>) {
        var place = state.cameras[camera].firstRequest
        while let slot = place {
            state.sessions[slot].has.subtract([.microphone, .slate])
            place = state.sessions[slot].nextOnCamera
        }
    }

    mutating func startRecording(_ slot: Slot<Session>, _ options: RecordingOptions) {
        guard mayUse(slot, needs: .record, "record", .runningToRecord) else { return }
        let session = state.sessions[slot]
        guard !session.has.contains(.recording) else {
            return notes.refuse(
                .alreadyRecording,
                "The session is recording already (recording \(session.ledger.recording ?? 0)); StopRecording finishes it.",
                .oneRecording)
        }
        if session.has.contains(.audio), !session.has.contains(.microphone) {
            return notes.refuse(
                .unsupportedConfiguration,
                "usesAudio is true, and no microphone is attached: call AttachMicrophone first, or configure usesAudio false.",
                .audioNeedsMicrophone)
        }
        guard finds(options, on: session.camera) else { return }
        state.ledger.lastRecording += 1
        let recording = state.ledger.lastRecording
        state.ledger.recordings.append(Ledger.Recording(id: recording, session: session.id))
        state.sessions[slot].ledger.recording = recording
        state.sessions[slot].ledger.unfinished += 1
        state.sessions[slot].has.insert(.recording)
        state.set(.metadata, !options.metadata.isEmpty, of: slot)
        let camera = session.camera
        notes.effects.append(
            .startRecording(state.cameraNames[camera], state.cameras[camera].grant, state.id(slot), recording))
        notes.effects.append(.answered(recording))
        notify(slot, .recordingStarted(recording))
        touch(slot)
    }

    mutating func stopRecording(_ slot: Slot<Session>) {
        guard state.sessions[slot].has.contains(.recording), let recording = state.sessions[slot].ledger.recording
        else {
            return notes.refuse(.notRecording, "The session is not recording; StartRecording begins one.", .stoppedOnce)
        }
        let camera = state.sessions[slot].camera
        notes.effects.append(.stopRecording(state.cameraNames[camera], recording, why: .stopped))
        forgetRecording(slot)
        touch(slot)
    }

    /// The session records no more; the file is finished by the recorder, which reports it later.
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
        // It ended by itself: a limit, a full disk, an error.
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
        // It was closed, and only had this left to say.
        if state.sessions[slot].has.contains(.closing), state.sessions[slot].ledger.unfinished == 0 {
            self.end(slot)
        }
    }

    /// Whether the camera gives all the metadata that is asked for.
    private mutating func finds(_ options: RecordingOptions, on camera: Slot<Camera>) -> Bool {
        guard options.metadata.contains(where: { $0.type == .objects }),
            state.cameraSettings[camera].capabilities.availableMetadataObjectTypes.isEmpty
        else { return true }
        notes.refuse(
            .invalidValue,
            "metadata objects: camera \"\(state.cameraNames[camera].name)\" finds none, as its AvailableMetadataObjectTypes say; leave the kind out.",
            .objectsOfTheCamera)
        return false
    }

    mutating func pauseRecording(_ slot: Slot<Session>) {
        guard let recording = recording(of: slot, "pause", .recordingToPause) else { return }
        guard !state.sessions[slot].has.contains(.paused) else {
            return notes.refuse(
                .notRecording, "Recording \(recording) is paused already; ResumeRecording goes on with it.", .pausedOnce
            )
        }
        state.sessions[slot].has.insert(.paused)
        notes.effects.append(.pauseRecording(state.cameraNames[state.sessions[slot].camera], recording))
        notify(slot, .recordingPaused(recording))
    }

    mutating func resumeRecording(_ slot: Slot<Session>) {
        guard let recording = recording(of: slot, "resume", .recordingToPause) else { return }
        guard state.sessions[slot].has.contains(.paused) else {
            return notes.refuse(
                .alreadyRecording, "Recording \(recording) is not paused, and goes on; PauseRecording pauses it.",
                .resumedOnce)
        }
        state.sessions[slot].has.remove(.paused)
        notes.effects.append(.resumeRecording(state.cameraNames[state.sessions[slot].camera], recording))
        notify(slot, .recordingResumed(recording))
    }

    /// The items go to the recorder core, which knows the kinds that were declared, and answers.
    mutating func appendMetadata(_ slot: Slot<Session>) {
        guard let recording = recording(of: slot, "append metadata to", .recordingToAppend) else { return }
        notes.effects.append(.appendMetadata(state.cameraNames[state.sessions[slot].camera], recording))
    }

    /// The session's recording; without one a refusal.
    private mutating func recording(of slot: Slot<Session>, _ verb: String, _ law: Law) -> RecordingID? {
        if state.sessions[slot].has.contains(.recording), let recording = state.sessions[slot].ledger.recording {
            return recording
        }
        notes.refuse(
            .notRecording,
            "The session is not recording, so that there is nothing to \(verb); StartRecording begins one.", law)
        return nil
    }

    /// What the client is told of a recording that is taken from its session goes with the order that ends it, and is told
    /// again when its file is whole.
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
