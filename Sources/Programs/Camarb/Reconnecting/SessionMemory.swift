import ArbiterProtocol

/// What a client's session asked for and was last told: enough to create it anew at another broker, and to go on with its
/// events where they stopped.
///
/// The client sees one life of the session where there are several: sequence numbers go on without a gap, and the
/// interruption that a broker's end is stays the same one until the next broker ends it.
///
/// Where the next broker may give the session back as it was, the client is not told of the end of the one before, for a while
/// (`SessionHold`, in `SessionMemory+Holding`).
struct SessionMemory {
    var camera: String
    /// Everything that was committed and not refused.
    var configuration: Configuration
    /// What was asked of cameras that the session had before, as the broker remembers it: in the order of the switches.
    private var others: [(camera: String, configuration: Configuration)] = []
    /// More cameras than anybody switches between; beyond that the one that was left first is forgotten.
    private static let othersMax = 16
    var batchDepth = 0
    var batch = Configuration()
    var wantsToRun = false
    /// The session as its client was told that it is.
    private(set) var told = SessionView()

    var hold = SessionHold.none
    /// Shown to the next broker, it goes on with the camera; nil: there is none for what runs now.
    var secret: String?
    /// Counts grants, so that a secret that comes late is not taken for that of a later one.
    var run: UInt64 = 0
    var wantsSecret = false
    /// It has just gone on at another broker, which tells it what it knows already: its access, and what is in force.
    var isSettling = false
    var knowsInForce = false

    /// Of the interruption that is open: since when, and that it began under a broker that is gone.
    var interruptedSince = ContinuousClock.now
    var isCarried = false
    var lastInterruption: InterruptionID = 0
    /// What the broker's numbers of interruptions are behind the client's.
    var offset: InterruptionID = 0

    /// It is the client's as soon as the call for it is answered.
    var recording: RecordingID?
    var lastRecordingFinished: RecordingID = 0
    var photos: Set<PhotoID> = []
    /// Photos that were told before the answer to their call was seen.
    var photosDone: Set<PhotoID> = []

    /// The last sequence number that the client was given.
    var sequence: UInt64 = 0
    /// The sequence number that this broker's next signal must have.
    var expected: UInt64 = 1
    var decision: DecisionID = 0

    init(camera: String, configuration: Configuration) {
        self.camera = camera
        self.configuration = configuration
    }

    // MARK: What the client asked

    mutating func remember(_ call: WireCall, _ answer: [WireValue]) {
        switch call.member {
        case "StartRunning": wantsToRun = true
        case "StopRunning": wantsToRun = false
        case "BeginConfiguration": batchDepth += 1
        case "CommitConfiguration":
            batchDepth = max(0, batchDepth - 1)
            if batchDepth == 0 {
                keep(batch)
                batch = Configuration()
            }
        case "Configure":
            guard let wire = call.arguments.first?.dictionary, let asked = try? Configuration(wire: wire) else {
                return
            }
            if batchDepth > 0 { batch.take(asked) } else { keep(asked) }
        case "StartRecording": if let id = answer.first?.uint64, id > lastRecordingFinished { recording = id }
        case "CapturePhoto": if let id = answer.first?.uint64 { remember(photo: id) }
        case "CapturePhotoBracket": for id in answer.first?.elements ?? [] { id.uint64.map { remember(photo: $0) } }
        default: break
        }
    }

    private mutating func remember(photo id: PhotoID) { if photosDone.remove(id) == nil { photos.insert(id) } }

    mutating func keep(_ asked: Configuration) {
        if case .text(let name)? = asked[.camera], name != camera { leaveCamera(for: name) }
        configuration.take(asked)
        // A ramp is something that happened, not something that is.
        configuration[.videoZoomRampRate] = nil
        configuration[.cancelVideoZoomRamp] = nil
        if case .text(let switched)? = configuration[.camera] {
            camera = switched
            configuration[.camera] = nil
        }
    }

    /// What was asked of one camera does not bind another: that one has what was asked of it before, and to begin with the
    /// session's preset. A torch is off once its camera is left.
    private mutating func leaveCamera(for name: String) {
        let left = configuration.keeping { !$0.isOfTheSession && $0 != .torchMode && $0 != .torchLevel }
        var next = Configuration()
        if let known = others.first(where: { $0.camera == name }) {
            next = known.configuration
        } else {
            next[.sessionPreset] = configuration[.sessionPreset]
        }
        next.merge(configuration.keeping(\.isOfTheSession))
        others.removeAll { $0.camera == name || $0.camera == camera }
        if others.count == Self.othersMax { others.removeFirst() }
        others.append((camera, left))
        configuration = next
    }

    /// What the broker says of what was asked, beyond the batches themselves.
    private mutating func learn(_ asked: Configuration, _ inForce: Configuration) {
        // A zoom that another format does not reach is over, and said to be 1 beside that format.
        if configuration[.videoZoomFactor] != nil, let zoom = asked[.videoZoomFactor] {
            configuration[.videoZoomFactor] = zoom
        }
        let noPreset = ConfigurationValue.text("inputPriority")
        // A camera that lacks the session's preset begins with its own format.
        if asked[.camera] != nil, inForce[.sessionPreset] == noPreset { configuration[.sessionPreset] = nil }
        // Without its preset a session keeps the format, and the rate, that the preset chose.
        guard asked[.sessionPreset] == noPreset, configuration[.sessionPreset] == noPreset,
            configuration[.activeFormat] == nil, let format = inForce[.activeFormat]
        else { return }
        configuration[.activeFormat] = format
        guard configuration[.activeVideoMinFrameDuration] == nil, configuration[.activeVideoMaxFrameDuration] == nil,
            configuration[.frameRate] == nil
        else { return }
        configuration[.frameRate] = inForce[.frameRate]
    }

    /// The calls that bring a new broker's session to where this one was, after its creation.
    /// - Parameter hasBegun: it asks to run there already.
    func replay(hasBegun: Bool) -> [(member: String, arguments: [WireValue])] {
        var calls: [(member: String, arguments: [WireValue])] = []
        if wantsToRun, !hasBegun { calls.append(("StartRunning", [])) }
        for _ in 0..<batchDepth { calls.append(("BeginConfiguration", [])) }
        if !batch.isEmpty { calls.append(("Configure", [.dictionary(batch.wire)])) }
        return calls
    }

    // MARK: What the broker says

    /// An interruption's number as the present broker knows it.
    func brokersNumber(_ id: InterruptionID) -> InterruptionID { id > offset ? id - offset : id }

    /// Takes a signal in.
    /// - Returns: what the client is told for it; nothing for what it knows already.
    mutating func arrived(_ signal: SessionSignal, at now: ContinuousClock.Instant) -> [SessionSignal] {
        decision = signal.decision
        // A gap is passed on as one: the client gives the session up.
        if signal.sequence != expected { sequence += 1 }
        expected = signal.sequence + 1
        // Whatever a broker says of a session that is shown as running there, it has given it back.
        let wentOn = if case .reclaiming = hold { goesOn() } else { [SessionEvent]() }
        return tell(wentOn + translated(signal.event, now))
    }

    private mutating func translated(_ event: SessionEvent, _ now: ContinuousClock.Instant) -> [SessionEvent] {
        switch event {
        case .willBeInterrupted, .interruptionWithdrawn, .wasInterrupted, .interruptionChanged, .interruptionEnded:
            return translatedInterruption(event, now)
        case .didStartRunning:
            hold = .none
            wantsToRun = true
            hasNewGrant()
            return endOfCarried(now, willResume: true) + [event]
        case .didStopRunning: runsNoMore()
        case .sessionStopped:
            hold = .none
            runsNoMore()
            wantsToRun = false
            // It closes an interruption of this broker's by itself.
            return endOfCarried(now, willResume: false) + [event]
        case .recordingStarted(let id): recording = id
        // The next broker says it again.
        case .recordingPaused: if told.recording?.isPaused == true { return [] }
        case .recordingFinished(let finished):
            // Told by the broker before, which ended over it.
            if finished.recording <= lastRecordingFinished, finished.recording != recording { return [] }
            lastRecordingFinished = max(lastRecordingFinished, finished.recording)
            recording = nil
        case .photoCaptured(let photo): if photos.remove(photo.photo) == nil { photosDone.insert(photo.photo) }
        case .accessChanged(let now):
            let isKnown = isSettling && now.access == told.access.access && now.causes == told.access.causes
            if isSettling { wantsSecret = true }
            isSettling = false
            if isKnown { return [] }
        case .configurationApplied(let applied):
            if applied.by == .client { learn(applied.asked, applied.inForce) }
            var now = applied.inForce
            now[.camera] = nil
            let isKnown = knowsInForce && now == told.inForce
            knowsInForce = false
            if isKnown { return [] }
        case .recordingResumed, .sharersChanged, .cameraStateChanged, .rampFinished, .connectionsFormed, .runtimeError,
            .ended:
            break
        }
        return [event]
    }

    /// What the client is told of an interruption, which has the client's own number and may have begun before this broker.
    private mutating func translatedInterruption(
        _ event: SessionEvent, _ now: ContinuousClock.Instant
    ) -> [SessionEvent] {
        switch event {
        case .willBeInterrupted(var warning):
            warning.id = see(warning.id)
            return [.willBeInterrupted(warning)]
        case .interruptionWithdrawn(let id): return [.interruptionWithdrawn(id + offset)]
        case .wasInterrupted(var interruption):
            // A session that is interrupted has asked to run, also where the broker ends before it has said so in its answer.
            wantsToRun = true
            interruption.id = see(interruption.id)
            if hold.notes(interruption) { return [] }
            if isCarried { return changed(to: interruption) }
            interruptedSince = now
            return [.wasInterrupted(interruption)]
        case .interruptionChanged(let interruption):
            return hold.notes(interruption) ? [] : changed(to: interruption)
        case .interruptionEnded(var end):
            hold = .none
            let ofCarried = endOfCarried(now, with: end.causes, willResume: end.willResume)
            end.id += offset
            return ofCarried.isEmpty ? [.interruptionEnded(end)] : ofCarried
        default: preconditionFailure("\(event) is not about an interruption")
        }
    }

    mutating func hasNewGrant() {
        run += 1
        secret = nil
        wantsSecret = true
    }

    mutating func runsNoMore() {
        (secret, wantsSecret) = (nil, false)
        (isSettling, knowsInForce) = (false, false)
    }

    private mutating func see(_ id: InterruptionID) -> InterruptionID {
        lastInterruption = max(lastInterruption, id + offset)
        return id + offset
    }

    /// - Parameter now: whose number is the broker's.
    func changed(to now: Interruption) -> [SessionEvent] {
        guard let open = told.interruption, open.causes != now.causes || open.interrupter != now.interrupter else {
            return []
        }
        return [
            .interruptionChanged(
                Interruption(id: open.id, causes: now.causes, interrupter: now.interrupter, rule: now.rule))
        ]
    }

    /// The end of an interruption that began under a broker that is gone, if one is open.
    /// - Parameter causes: those that this broker knows of.
    private mutating func endOfCarried(
        _ now: ContinuousClock.Instant, with causes: CauseSet, willResume: Bool
    ) -> [SessionEvent] {
        guard isCarried, let open = told.interruption else { return [] }
        isCarried = false
        return [
            .interruptionEnded(
                InterruptionEnd(
                    id: open.id, causes: told.causesItHad.union(causes), duration: now - interruptedSince,
                    willResume: willResume, recording: open.recording))
        ]
    }

    /// The same where this broker has nothing against the session, and so nothing to say of an interruption.
    mutating func endOfCarried(_ now: ContinuousClock.Instant, willResume: Bool) -> [SessionEvent] {
        if isCarried, let open = told.interruption { offset = open.id }
        return endOfCarried(now, with: CauseSet(), willResume: willResume)
    }

    /// Numbered, and told by that.
    mutating func tell(_ events: [SessionEvent]) -> [SessionSignal] {
        events.map { event in
            told.take(event)
            sequence += 1
            return SessionSignal(sequence: sequence, decision: decision, event: event)
        }
    }
}
