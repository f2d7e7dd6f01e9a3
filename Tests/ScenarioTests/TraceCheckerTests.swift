import Arbiter
import ArbiterProtocol
import Scenario
import Testing

/// The checker finds what no arbiter should do, in steps that are made up here.
@Suite("What a trace's checker finds")
struct TraceCheckerTests {
    static let (client, session, camera) = (ClientID(1), SessionID(1), CameraID("back"))

    /// A checker that has seen a session begin.
    struct Life {
        var checker: TraceChecker
        var sequence: UInt64 = 0
        var found: [String] = []
        var now = Moment.zero
        /// What the session's rank promises it.
        var terms: HoldTerms?

        init(holdsStarts: Bool = false) {
            checker = TraceChecker(holdsStarts: holdsStarts)
            step(.created(session, client, camera: camera, Configuration(), reestablished: false))
        }

        mutating func step(
            _ event: Event, _ notices: [SessionEvent] = [], orders: [Effect] = [], wasDue: Bool = false
        ) {
            var effects = orders
            for notice in notices {
                sequence += 1
                effects.append(.notify(client, session, sequence: sequence, notice))
            }
            found += checker.check(event, effects, at: now, wasDue: wasDue, terms: { [terms] _, _ in terms })
        }

        static func running() -> Life {
            var life = Life()
            life.start()
            return life
        }

        static func recording() -> Life {
            var life = running()
            life.record()
            return life
        }

        /// It runs under its first grant.
        mutating func start(_ notices: [SessionEvent] = [.didStartRunning(grant: GrantID(1))]) {
            step(.startRunning(session), orders: [.open(camera, GrantID(1), session, Configuration())])
            step(.recorderStreaming(camera, GrantID(1), inForce: Configuration()), notices)
        }

        mutating func record() {
            step(
                .startRecording(session), [.recordingStarted(1)],
                orders: [.startRecording(camera, GrantID(1), session, 1)])
        }
    }

    private static let finished = SessionEvent.recordingFinished(
        RecordingFinished(
            recording: 1, why: .sessionEnded, frames: 1, duration: .seconds(1), bytes: 1, nextChance: .afterStart))
    private static let fileEnd = Event.recordingFinished(
        1, why: .sessionEnded, frames: 1, duration: .seconds(1), bytes: 1)
    static let inUse = CauseSet([.videoDeviceInUseByAnotherClient])

    // MARK: Times that a rank promises

    private static let interrupted = SessionEvent.wasInterrupted(
        id: 1, causes: inUse, interrupter: nil, cutting: nil, rule: "rank: call")
    private static let warned = SessionEvent.willBeInterrupted(
        id: 1, cause: .videoDeviceInUseByAnotherClient, deadline: .zero + .seconds(5), rule: "rank: call")

    /// It runs from the beginning on, with a grace of 2 s and a min-hold of 3 s.
    private func held() -> Life {
        var life = Life()
        life.terms = HoldTerms(grace: .seconds(2), minHold: .seconds(3))
        life.start()
        return life
    }

    @Test("Whoever holds a camera keeps it for its min-hold")
    func minHold() {
        var life = held()
        life.now = .zero + .seconds(2)
        life.step(.timePassed, [Self.interrupted, .didStopRunning])
        #expect(
            life.found == [
                "session 1: WasInterrupted before its min-hold is over, 3s",
                "session 1: WasInterrupted without the warning that its grace gives it",
            ])
    }

    @Test("A grace ends at its deadline, or when its holder is ready")
    func grace() {
        var early = held()
        early.now = .zero + .seconds(3)
        early.step(.timePassed, [Self.warned])
        var (ready, late) = (early, early)
        early.now = .zero + .seconds(4)
        early.step(.timePassed, [Self.interrupted, .didStopRunning])
        #expect(early.found == ["session 1: WasInterrupted before its deadline, 5s"])
        ready.step(.ready(Self.session, 1))
        ready.step(.timePassed, [Self.interrupted, .didStopRunning])
        late.now = .zero + .seconds(5)
        late.step(.timePassed, [Self.interrupted, .didStopRunning])
        #expect(ready.found == [] && late.found == [])
    }

    @Test("An eviction keeps to the same times; another policy, another cause and a rank without them have none")
    func otherEnds() {
        var evicted = held()
        evicted.step(.timePassed, [.didStopRunning, .sessionStopped(.evicted, rule: "rank: call")])
        #expect(evicted.found.count == 2)
        var reloaded = held()
        reloaded.step(.policyLoaded(.firstCome), [Self.interrupted, .didStopRunning])
        var hidden = held()
        hidden.step(
            .timePassed,
            [
                .wasInterrupted(
                    id: 1, causes: CauseSet([.videoDeviceNotAvailableInBackground]), interrupter: nil, cutting: nil,
                    rule: "cause: hidden"), .didStopRunning,
            ])
        var plain = Life.running()
        plain.step(.timePassed, [Self.interrupted, .didStopRunning])
        #expect(reloaded.found + hidden.found + plain.found == [])
    }

    // MARK: After the end

    @Test("A closed session is told the end of its recording, and is forgotten then")
    func closedWithAFile() {
        var life = Life.recording()
        life.step(.closed(Self.session))
        #expect(!life.checker.exists(Self.session) && life.checker.remembers(Self.session))
        #expect(!life.checker.isRunning(Self.session) && life.checker.hasUnfinishedRecording(Self.session))
        life.step(Self.fileEnd, [Self.finished])
        #expect(life.found == [] && !life.checker.remembers(Self.session))
        life.step(.timePassed, [Self.finished])
        #expect(life.found == ["session 1 is gone, and gets RecordingFinished"])
    }

    @Test("A closed session is told nothing else")
    func closedAndTold() {
        var life = Life.recording()
        life.step(.closed(Self.session))
        life.step(.timePassed, [.rampFinished(videoZoomFactor: 2)])
        #expect(life.found == ["session 1 is closed, and gets RampFinished"])
    }

    @Test("A session without a file is forgotten when it is closed, and one whose file ended untold with that file")
    func forgotten() {
        var life = Life.running()
        life.step(.closed(Self.session))
        #expect(!life.checker.remembers(Self.session))
        life = .recording()
        life.step(.closed(Self.session))
        life.step(Self.fileEnd)
        #expect(life.found == [] && !life.checker.remembers(Self.session))
    }

    // MARK: Starts

    @Test("A start is one step, in the order of the contract, or it is found where starts are held to it")
    func starts() {
        let applied = SessionEvent.configurationApplied(
            asked: Configuration(), inForce: Configuration(), by: .resumption)
        let ended = SessionEvent.interruptionEnded(
            id: 1, causesItHad: Self.inUse, duration: .zero, willResume: true)
        let started = SessionEvent.didStartRunning(grant: GrantID(1))
        let access = SessionEvent.accessChanged(.all, causes: CauseSet(), rule: "r")
        func found(_ notices: [SessionEvent], holdsStarts: Bool = true) -> [String] {
            var life = Life(holdsStarts: holdsStarts)
            life.step(
                .startRunning(Self.session),
                [.wasInterrupted(id: 1, causes: Self.inUse, interrupter: nil, cutting: nil, rule: "r")])
            life.start(notices)
            return life.found
        }
        #expect(found([applied, ended, started, access]) == [])
        #expect(
            found([ended, applied, started]) == ["session 1: ConfigurationApplied comes too late in its start"])
        #expect(found([ended, access, started]) == ["session 1: DidStartRunning comes too late in its start"])
        #expect(found([ended]) == ["session 1: InterruptionEnded promises a start that does not come"])
        #expect(found([ended, applied, started], holdsStarts: false) == [])
    }

    // MARK: Configurations

    @Test("ConfigurationApplied names the client only where the client asked, once for each batch, or was granted")
    func configurations() {
        let applied = SessionEvent.configurationApplied(asked: Configuration(), inForce: Configuration(), by: .client)
        let unasked = "session 1: ConfigurationApplied by a client that asked for nothing"
        let batch = Configuration([.frameRate: .number(15)])
        let order = Effect.configure(Self.camera, GrantID(1), Self.session, batch)
        let answer = Event.recorderConfigured(Self.camera, GrantID(1), asked: batch, inForce: batch)
        var life = Life()
        life.step(.timePassed, [applied])
        #expect(life.found == [unasked])
        life.found = []
        life.start([applied, .didStartRunning(grant: GrantID(1))])
        life.step(.configure(Self.session, batch), orders: [order])
        life.step(answer, [applied])
        #expect(life.found == [])
        life.step(answer, [applied])
        #expect(life.found == [unasked])
        // The holder of a shared camera left: this one's configuration is ordered without its asking again.
        life.found = []
        life.step(.disconnected(ClientID(2)), orders: [order])
        life.step(answer, [applied])
        #expect(life.found == [])
    }

    // MARK: Refusals and recordings

    @Test("A refused request does nothing else, but for what was due before it")
    func refusals() {
        let refusal = Effect.refused(Refusal(.notRunning, "No.", rule: "r"))
        let holder = Effect.announce(.holderChanged(Self.camera, nil))
        var life = Life()
        life.step(.stopRunning(Self.session), orders: [refusal])
        life.step(.stopRunning(Self.session), orders: [holder, refusal], wasDue: true)
        #expect(life.found == [])
        life.step(.stopRunning(Self.session), orders: [refusal, holder])
        #expect(life.found == ["a refused request did something: 1 effects"])
    }

    @Test("A notice names only its own session's recording")
    func recordings() {
        var life = Life.recording()
        life.step(
            .sleep(true),
            [
                .wasInterrupted(
                    id: 1, causes: CauseSet([.systemSleep]), interrupter: nil, cutting: 2, rule: "r"),
                .didStopRunning,
            ])
        #expect(life.found == ["session 1: WasInterrupted names another recording"])
        life.found = []
        life.step(Self.fileEnd, [Self.finished])
        life.step(Self.fileEnd, [Self.finished])
        #expect(life.found == ["session 1: RecordingFinished for a recording that is finished or never began"])
    }
}
