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
    var isRunning = false

    /// What was not told of a broker's end.
    var hold = SessionHold.none
    /// Shown to the next broker, it goes on with the camera; nil: there is none for what runs now.
    var secret: String?
    /// Counts grants, so that a secret that comes late is not taken for that of a later one.
    var run: UInt64 = 0
    var wantsSecret = false
    /// What was last told of each.
    var access = Access.all
    var accessCauses = CauseSet()
    var inForce: Configuration?
    /// It has just gone on at another broker, which tells it what it knows already: its access, and what is in force.
    var isSettling = false
    var knowsInForce = false

    struct OpenInterruption {
        var id: InterruptionID
        var causes, causesItHad: CauseSet
        var interrupter: Interrupter?
        var since: ContinuousClock.Instant
        /// The recording that it ended.
        var cut: RecordingID?
        /// It began under a broker that is gone.
        var isCarried = false
    }
    var open: OpenInterruption?
    /// Announced, and not come yet.
    var warned: InterruptionID?
    var lastInterruption: InterruptionID = 0
    /// What the broker's numbers of interruptions are behind the client's.
    var offset: InterruptionID = 0

    /// Whose apps watch the camera that it holds.
    var sharers: [Interrupter] = []

    var recording: RecordingID?
    var isPaused = false
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

    /// Remembers a call that the broker has answered.
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
        return (wentOn + translated(signal.event, now)).map { numbered($0) }
    }

    mutating func translated(_ event: SessionEvent, _ now: ContinuousClock.Instant) -> [SessionEvent] {
        switch event {
        case .willBeInterrupted, .interruptionWithdrawn, .wasInterrupted, .interruptionChanged, .interruptionEnded:
            return translatedInterruption(event, now)
        case .didStartRunning:
            hold = .none
            (isRunning, wantsToRun) = (true, true)
            hasNewGrant()
            (access, accessCauses) = (.all, CauseSet())
            return endOfCarried(now, willResume: true) + [event]
        case .didStopRunning: runsNoMore()
        case .sessionStopped:
            hold = .none
            runsNoMore()
            wantsToRun = false
            let ended = endOfCarried(now, willResume: false)
            // It closes an interruption of this broker's by itself.
            open = nil
            return ended + [event]
        case .recordingStarted(let id): (recording, isPaused) = (id, false)
        case .recordingPaused:
            // The next broker says it again.
            if isPaused { return [] }
            isPaused = true
        case .recordingResumed: isPaused = false
        case .recordingFinished(let finished):
            // Told by the broker before, which ended over it.
            if finished.recording <= lastRecordingFinished, finished.recording != recording { return [] }
            lastRecordingFinished = max(lastRecordingFinished, finished.recording)
            recording = nil
        case .photoCaptured(let photo): if photos.remove(photo.photo) == nil { photosDone.insert(photo.photo) }
        case .sharersChanged(let now): sharers = now
        case .accessChanged(let now, let causes, _):
            let isKnown = isSettling && now == access && causes == accessCauses
            if isSettling { wantsSecret = true }
            isSettling = false
            (access, accessCauses) = (now, causes)
            if isKnown { return [] }
        case .configurationApplied(let asked, var now, let by):
            if by == .client { learn(asked, now) }
            // Said where a session was switched to it, and there alone.
            now[.camera] = nil
            let isKnown = knowsInForce && now == inForce
            knowsInForce = false
            inForce = now
            if isKnown { return [] }
        case .cameraStateChanged(let changed): inForce?.merge(changed)
        case .rampFinished, .connectionsFormed, .runtimeError: break
        }
        return [event]
    }

    /// What the client is told of an interruption, which has the client's own number and may have begun before this broker.
    private mutating func translatedInterruption(
        _ event: SessionEvent, _ now: ContinuousClock.Instant
    ) -> [SessionEvent] {
        switch event {
        case .willBeInterrupted(let id, let cause, let deadline, let rule):
            warned = see(id)
            return [.willBeInterrupted(id: id + offset, cause: cause, deadline: deadline, rule: rule)]
        case .interruptionWithdrawn(let id):
            warned = nil
            return [.interruptionWithdrawn(id: id + offset)]
        case .wasInterrupted(let id, let causes, let interrupter, let cutting, let rule):
            warned = nil
            // A session that is interrupted has asked to run, also where the broker ends before it has said so in its answer.
            wantsToRun = true
            let mine = see(id)
            if hold.notes(causes, interrupter, rule) { return [] }
            guard let open, open.isCarried else {
                self.open = OpenInterruption(
                    id: mine, causes: causes, causesItHad: causes, interrupter: interrupter, since: now, cut: cutting)
                return [
                    .wasInterrupted(id: mine, causes: causes, interrupter: interrupter, cutting: cutting, rule: rule)
                ]
            }
            return changed(to: causes, interrupter, rule)
        case .interruptionChanged(_, let causes, let interrupter, let rule):
            if hold.notes(causes, interrupter, rule) { return [] }
            return changed(to: causes, interrupter, rule)
        case .interruptionEnded(let id, let causesItHad, let duration, let willResume, let cut):
            hold = .none
            let carried = open.flatMap { $0.isCarried ? $0 : nil }
            open = nil
            guard let carried else {
                return [
                    .interruptionEnded(
                        id: id + offset, causesItHad: causesItHad, duration: duration, willResume: willResume, cut: cut)
                ]
            }
            return [ended(carried, with: causesItHad, now, willResume)]
        default: preconditionFailure("\(event) is not about an interruption")
        }
    }

    mutating func hasNewGrant() {
        run += 1
        secret = nil
        wantsSecret = true
    }

    mutating func runsNoMore() {
        (isRunning, secret, wantsSecret) = (false, nil, false)
        (isSettling, knowsInForce) = (false, false)
    }

    mutating func see(_ id: InterruptionID) -> InterruptionID {
        lastInterruption = max(lastInterruption, id + offset)
        return id + offset
    }

    mutating func changed(to causes: CauseSet, _ interrupter: Interrupter?, _ rule: String) -> [SessionEvent] {
        guard let known = open, known.causes != causes || known.interrupter != interrupter else { return [] }
        open?.causes = causes
        open?.causesItHad = known.causesItHad.union(causes)
        open?.interrupter = interrupter
        return [.interruptionChanged(id: known.id, causes: causes, interrupter: interrupter, rule: rule)]
    }

    func ended(
        _ carried: OpenInterruption, with causes: CauseSet, _ now: ContinuousClock.Instant, _ willResume: Bool
    ) -> SessionEvent {
        .interruptionEnded(
            id: carried.id, causesItHad: carried.causesItHad.union(causes), duration: now - carried.since,
            willResume: willResume, cut: carried.cut)
    }

    /// The new broker has nothing against the session, and so nothing to say of an interruption.
    mutating func endOfCarried(_ now: ContinuousClock.Instant, willResume: Bool) -> [SessionEvent] {
        guard let carried = open, carried.isCarried else { return [] }
        open = nil
        offset = carried.id
        return [ended(carried, with: CauseSet(), now, willResume)]
    }

    mutating func numbered(_ event: SessionEvent) -> SessionSignal {
        sequence += 1
        return SessionSignal(sequence: sequence, decision: decision, event: event)
    }
}
