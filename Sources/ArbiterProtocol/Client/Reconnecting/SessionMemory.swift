/// What a client's session asked for and was last told: enough to create it anew at another broker, and to go on with its
/// events where they stopped.
///
/// The client sees one life of the session where there are several: sequence numbers go on without a gap, and the
/// interruption that a broker's end is stays the same one until the next broker ends it.
struct SessionMemory {
    var camera: String
    /// Everything that was committed and not refused.
    private(set) var configuration: Configuration
    private(set) var batchDepth = 0
    private(set) var batch = Configuration()
    private(set) var wantsToRun = false
    private(set) var isRunning = false

    private struct OpenInterruption {
        var id: InterruptionID
        var causes: CauseSet
        var causesItHad: CauseSet
        var interrupter: Interrupter?
        var since: ContinuousClock.Instant
        /// It began under a broker that is gone.
        var isCarried = false
    }
    private var open: OpenInterruption?
    /// Announced, and not come yet.
    private var warned: InterruptionID?
    private var lastInterruption: InterruptionID = 0
    /// What the broker's numbers of interruptions are behind the client's.
    private var offset: InterruptionID = 0

    /// Whose apps watch the camera that it holds.
    private var sharers: [Interrupter] = []

    private var recording: RecordingID?
    private var lastRecordingFinished: RecordingID = 0
    private var photos: Set<PhotoID> = []
    /// Photos that were told before the answer to their call was seen.
    private var photosDone: Set<PhotoID> = []

    /// The last sequence number that the client was given.
    private var sequence: UInt64 = 0
    /// The sequence number that this broker's next signal must have.
    private var expected: UInt64 = 1
    private var decision: DecisionID = 0

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
            if batchDepth > 0 { batch.merge(asked) } else { keep(asked) }
        case "StartRecording":
            if let id = answer.first?.uint64, id > lastRecordingFinished { recording = id }
        case "CapturePhoto":
            if let id = answer.first?.uint64, photosDone.remove(id) == nil { photos.insert(id) }
        default: break
        }
    }

    private mutating func keep(_ asked: Configuration) {
        configuration.merge(asked)
        // A ramp is something that happened, not something that is.
        configuration[.videoZoomRampRate] = nil
        if case .text(let switched)? = configuration[.camera] {
            camera = switched
            configuration[.camera] = nil
        }
    }

    /// The calls that bring a new broker's session to where this one was, after its creation.
    var replay: [(member: String, arguments: [WireValue])] {
        var calls: [(member: String, arguments: [WireValue])] = []
        if wantsToRun { calls.append(("StartRunning", [])) }
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
        return translated(signal.event, now).map { numbered($0) }
    }

    private mutating func translated(_ event: SessionEvent, _ now: ContinuousClock.Instant) -> [SessionEvent] {
        switch event {
        case .willBeInterrupted(let id, let cause, let deadline, let rule):
            warned = see(id)
            return [.willBeInterrupted(id: id + offset, cause: cause, deadline: deadline, rule: rule)]
        case .interruptionWithdrawn(let id):
            warned = nil
            return [.interruptionWithdrawn(id: id + offset)]
        case .wasInterrupted(let id, let causes, let interrupter, let cutting, let rule):
            warned = nil
            let mine = see(id)
            guard let open, open.isCarried else {
                self.open = OpenInterruption(
                    id: mine, causes: causes, causesItHad: causes, interrupter: interrupter, since: now)
                return [
                    .wasInterrupted(id: mine, causes: causes, interrupter: interrupter, cutting: cutting, rule: rule)
                ]
            }
            return changed(to: causes, interrupter, rule)
        case .interruptionChanged(_, let causes, let interrupter, let rule):
            return changed(to: causes, interrupter, rule)
        case .interruptionEnded(let id, let causesItHad, let duration, let willResume):
            let carried = open.flatMap { $0.isCarried ? $0 : nil }
            open = nil
            guard let carried else {
                return [
                    .interruptionEnded(
                        id: id + offset, causesItHad: causesItHad, duration: duration, willResume: willResume)
                ]
            }
            return [ended(carried, with: causesItHad, now, willResume)]
        case .didStartRunning:
            isRunning = true
            return endOfCarried(now, willResume: true) + [event]
        case .didStopRunning: isRunning = false
        case .sessionStopped:
            isRunning = false
            wantsToRun = false
            let ended = endOfCarried(now, willResume: false)
            // It closes an interruption of this broker's by itself.
            open = nil
            return ended + [event]
        case .recordingStarted(let id): recording = id
        case .recordingFinished(let finished):
            lastRecordingFinished = max(lastRecordingFinished, finished.recording)
            recording = nil
        case .photoCaptured(let photo):
            if photos.remove(photo.photo) == nil { photosDone.insert(photo.photo) }
        case .sharersChanged(let now): sharers = now
        case .accessChanged, .configurationApplied, .rampFinished, .runtimeError: break
        }
        return [event]
    }

    private mutating func see(_ id: InterruptionID) -> InterruptionID {
        lastInterruption = max(lastInterruption, id + offset)
        return id + offset
    }

    private mutating func changed(
        to causes: CauseSet, _ interrupter: Interrupter?, _ rule: String
    ) -> [SessionEvent] {
        guard let known = open, known.causes != causes || known.interrupter != interrupter else { return [] }
        open?.causes = causes
        open?.causesItHad = known.causesItHad.union(causes)
        open?.interrupter = interrupter
        return [.interruptionChanged(id: known.id, causes: causes, interrupter: interrupter, rule: rule)]
    }

    private func ended(
        _ carried: OpenInterruption, with causes: CauseSet, _ now: ContinuousClock.Instant, _ willResume: Bool
    ) -> SessionEvent {
        .interruptionEnded(
            id: carried.id, causesItHad: carried.causesItHad.union(causes), duration: now - carried.since,
            willResume: willResume)
    }

    /// The new broker has nothing against the session, and so nothing to say of an interruption.
    private mutating func endOfCarried(_ now: ContinuousClock.Instant, willResume: Bool) -> [SessionEvent] {
        guard let carried = open, carried.isCarried else { return [] }
        open = nil
        offset = carried.id
        return [ended(carried, with: CauseSet(), now, willResume)]
    }

    private mutating func numbered(_ event: SessionEvent) -> SessionSignal {
        sequence += 1
        return SessionSignal(sequence: sequence, decision: decision, event: event)
    }

    // MARK: When the broker is gone

    /// The connection has ended: what the client is told. A recording ends here, and its figures are known to nobody
    /// any more: they are 0.
    mutating func lost(at now: ContinuousClock.Instant) -> [SessionSignal] {
        var events: [SessionEvent] = []
        if var known = open {
            known.isCarried = true
            known.causes.insert(.brokerRestarted)
            known.causesItHad.insert(.brokerRestarted)
            if known.causes != open?.causes {
                events.append(
                    .interruptionChanged(
                        id: known.id, causes: known.causes, interrupter: known.interrupter,
                        rule: Cause.brokerRestartedRule))
            }
            open = known
        } else if wantsToRun {
            let causes = CauseSet([.brokerRestarted])
            let id = warned ?? lastInterruption + 1
            lastInterruption = id
            open = OpenInterruption(id: id, causes: causes, causesItHad: causes, since: now, isCarried: true)
            events.append(
                .wasInterrupted(
                    id: id, causes: causes, interrupter: nil, cutting: recording, rule: Cause.brokerRestartedRule))
        }
        warned = nil
        // The next broker begins with nobody, and says nothing while that is so.
        if !sharers.isEmpty { events.append(.sharersChanged([])) }
        sharers = []
        if isRunning { events.append(.didStopRunning) }
        isRunning = false
        if let recording {
            events.append(
                .recordingFinished(
                    RecordingFinished(
                        recording: recording, why: .interrupted, frames: 0, duration: .zero, bytes: 0,
                        nextChance: .whenInterruptionEnds)))
        }
        for photo in photos.sorted() {
            events.append(
                .photoCaptured(
                    PhotoCaptured(
                        photo: photo, width: 0, height: 0, bytes: 0,
                        error: "The broker ended before the photo was taken.")
                ))
        }
        recording = nil
        lastRecordingFinished = 0
        photos = []
        photosDone = []
        expected = 1
        // The next broker counts interruptions from 1, and its first is the one that is open.
        offset = open.map { $0.id - 1 } ?? lastInterruption
        return events.map { numbered($0) }
    }

    /// The next broker does not take the session: it has stopped for good, and may be started again.
    mutating func refused(_ error: BrokerError, at now: ContinuousClock.Instant) -> [SessionSignal] {
        let ended = endOfCarried(now, willResume: false)
        wantsToRun = false
        let stopped: [SessionEvent] = [
            .runtimeError(code: error.kind.rawValue, message: error.message),
            .sessionStopped(.deniedByPolicy, rule: Cause.brokerRestartedRule),
        ]
        return (ended + stopped).map { numbered($0) }
    }
}
