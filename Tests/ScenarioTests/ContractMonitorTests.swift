import Arbiter
import ArbiterProtocol
import Scenario
import Testing

/// The checker finds what no arbiter should do, in steps that are made up here.
@Suite("What a trace's checker finds")
struct ContractMonitorTests {
    static let (client, session, camera) = (ClientID(1), SessionID(1), CameraID("back"))

    /// A checker that has seen a session begin.
    struct Life {
        var checker: ContractMonitor
        var sequence: UInt64 = 0
        var now = Moment.zero
        /// The promises of the session's rank.
        var terms: HoldTerms?

        init(holdsStarts: Bool = false, terms: HoldTerms? = nil) {
            checker = ContractMonitor(holdsStarts: holdsStarts)
            self.terms = terms
            let found = finds(in: .created(session, client, camera: camera, Configuration(), reestablished: false))
            #expect(found == [])
        }

        /// The violations of one more step.
        mutating func finds(
            _ notices: [SessionEvent] = [], orders: [Effect] = [], in event: Event = .timePassed, wasDue: Bool = false
        ) -> [String] {
            var effects = orders
            for notice in notices {
                sequence += 1
                effects.append(.notify(client, session, sequence: sequence, notice))
            }
            return checker.check(event, effects, at: now, wasDue: wasDue, terms: { [terms] _, _ in terms })
        }

        static func running(terms: HoldTerms? = nil) -> Life {
            var life = Life(terms: terms)
            #expect(life.starts() == [])
            return life
        }

        static func recording() -> Life {
            var life = running()
            life.record()
            return life
        }

        /// Under its first grant.
        mutating func starts(_ notices: [SessionEvent] = [.didStartRunning(GrantID(1))]) -> [String] {
            let open = Effect.open(camera, GrantID(1), session, Configuration())
            let opened = finds(orders: [open], in: .startRunning(session))
            return opened + finds(notices, in: .recorderStreaming(camera, GrantID(1), inForce: Configuration()))
        }

        mutating func record() {
            let order = Effect.startRecording(camera, GrantID(1), session, 1)
            let found = finds([.recordingStarted(1)], orders: [order], in: .startRecording(session))
            #expect(found == [])
        }
    }

    private static let finished = SessionEvent.recordingFinished(
        RecordingFinished(
            recording: 1, why: .sessionEnded, frames: 1, duration: .seconds(1), bytes: 1, nextChance: .afterStart))
    private static let fileEnd = Event.recordingFinished(
        1, why: .sessionEnded, frames: 1, duration: .seconds(1), bytes: 1)
    static let inUse = CauseSet([.videoDeviceInUseByAnotherClient])

    // MARK: Times that a rank promises

    private static func cut(
        for causes: CauseSet = inUse, cutting recording: RecordingID? = nil, rule: String = "rank: call"
    ) -> [SessionEvent] {
        [
            .wasInterrupted(Interruption(id: 1, causes: causes, recording: recording, rule: rule)), .didStopRunning,
        ]
    }

    /// It runs from the beginning on, and some seconds later.
    private func held(for seconds: Int = 0) -> Life {
        var life = Life.running(terms: HoldTerms(grace: .seconds(2), minHold: .seconds(3)))
        life.now = .zero + .seconds(seconds)
        return life
    }

    @Test("Whoever holds a camera keeps it for its min-hold")
    func minHold() {
        var life = held(for: 2)
        #expect(
            life.finds(Self.cut()) == [
                "session 1: WasInterrupted before its min-hold is over, 3s",
                "session 1: WasInterrupted without the warning that its grace gives it",
            ])
    }

    @Test("A grace ends at its deadline, or when its holder is ready")
    func grace() {
        var early = held(for: 3)
        #expect(
            early.finds([
                .willBeInterrupted(
                    InterruptionWarning(
                        id: 1, cause: .videoDeviceInUseByAnotherClient, deadline: .zero + .seconds(5),
                        rule: "rank: call"))
            ]) == [])
        var (ready, late) = (early, early)
        early.now = .zero + .seconds(4)
        #expect(early.finds(Self.cut()) == ["session 1: WasInterrupted before its deadline, 5s"])
        #expect(ready.finds(in: .ready(Self.session, 1)) == [])
        #expect(ready.finds(Self.cut()) == [])
        late.now = .zero + .seconds(5)
        #expect(late.finds(Self.cut()) == [])
    }

    @Test("An eviction keeps to the same times; another policy, another cause and a rank without them have none")
    func otherEnds() {
        var (evicted, reloaded, hidden, plain) = (held(), held(), held(), Life.running())
        #expect(
            evicted.finds([.didStopRunning, .sessionStopped(SessionStop(.evicted, rule: "rank: call"))]).count == 2)
        #expect(reloaded.finds(Self.cut(), in: .policyLoaded(.firstCome)) == [])
        #expect(
            hidden.finds(Self.cut(for: CauseSet([.videoDeviceNotAvailableInBackground]), rule: "cause: hidden")) == [])
        #expect(plain.finds(Self.cut()) == [])
    }

    // MARK: After the end

    @Test("A closed session is told the end of its recording and nothing else, and is forgotten then, told or not")
    func closedWithAFile() {
        var life = Life.recording()
        #expect(life.finds(in: .closed(Self.session)) == [])
        #expect(!life.checker.exists(Self.session) && life.checker.remembers(Self.session))
        #expect(!life.checker.isRunning(Self.session) && life.checker.hasUnfinishedRecording(Self.session))
        var (ramped, untold) = (life, life)
        #expect(
            ramped.finds([.rampFinished(videoZoomFactor: 2)]) == ["session 1 is closed, and gets RampFinished"])
        #expect(untold.finds(in: Self.fileEnd) == [])
        #expect(life.finds([Self.finished], in: Self.fileEnd) == [])
        #expect(!life.checker.remembers(Self.session) && !untold.checker.remembers(Self.session))
        #expect(life.finds([Self.finished]) == ["session 1 is gone, and gets RecordingFinished"])
    }

    @Test("A session without a file is forgotten when it is closed")
    func forgotten() {
        var life = Life.running()
        #expect(life.finds(in: .closed(Self.session)) == [])
        #expect(!life.checker.remembers(Self.session))
    }

    // MARK: Starts, configurations, refusals and recordings

    @Test("A start is one step, in the order of the contract, or it is found where starts are held to it")
    func starts() {
        let applied = SessionEvent.configurationApplied(
            ConfigurationChange(asked: Configuration(), inForce: Configuration(), by: .resumption))
        let ended = SessionEvent.interruptionEnded(
            InterruptionEnd(id: 1, causes: Self.inUse, duration: .zero, willResume: true))
        let started = SessionEvent.didStartRunning(GrantID(1))
        let access = SessionEvent.accessChanged(AccessChange(.all, causes: CauseSet(), rule: "r"))
        func found(_ notices: [SessionEvent], holdsStarts: Bool = true) -> [String] {
            var life = Life(holdsStarts: holdsStarts)
            return life.finds([Self.cut()[0]], in: .startRunning(Self.session)) + life.starts(notices)
        }
        #expect(found([applied, ended, started, access]) == [])
        #expect(
            found([ended, applied, started]) == ["session 1: ConfigurationApplied comes too late in its start"])
        #expect(found([ended, access, started]) == ["session 1: DidStartRunning comes too late in its start"])
        #expect(found([ended]) == ["session 1: InterruptionEnded promises a start that does not come"])
        #expect(found([ended, applied, started], holdsStarts: false) == [])
    }

    @Test("ConfigurationApplied names the client only where the client asked, once for each batch, or was granted")
    func configurations() {
        let applied = SessionEvent.configurationApplied(
            ConfigurationChange(asked: Configuration(), inForce: Configuration(), by: .client))
        let unasked = ["session 1: ConfigurationApplied by a client that asked for nothing"]
        let batch = Configuration([.frameRate: .number(15)])
        let order = Effect.configure(Self.camera, GrantID(1), Self.session, batch)
        let answer = Event.recorderConfigured(Self.camera, GrantID(1), asked: batch, inForce: batch)
        var life = Life()
        #expect(life.finds([applied]) == unasked)
        #expect(life.starts([applied, .didStartRunning(GrantID(1))]) == [])
        #expect(life.finds(orders: [order], in: .configure(Self.session, batch)) == [])
        #expect(life.finds([applied], in: answer) == [])
        #expect(life.finds([applied], in: answer) == unasked)
        // The holder of a shared camera left: this one's configuration is ordered without its asking again.
        #expect(life.finds(orders: [order], in: .disconnected(ClientID(2))) == [])
        #expect(life.finds([applied], in: answer) == [])
    }

    @Test("A refused request does nothing else, but for what was due before it")
    func refusals() {
        let refusal = Effect.refused(Refusal(.notRunning, "No.", rule: "r"))
        let holder = Effect.announce(.holderChanged(Self.camera, nil))
        let asked = Event.stopRunning(Self.session)
        var life = Life()
        #expect(life.finds(orders: [refusal], in: asked) == [])
        #expect(life.finds(orders: [holder, refusal], in: asked, wasDue: true) == [])
        #expect(life.finds(orders: [refusal, holder], in: asked) == ["a refused request did something: 1 effects"])
    }

    @Test("A notice names only its own session's recording")
    func recordings() {
        var life = Life.recording()
        #expect(
            life.finds(Self.cut(for: CauseSet([.systemSleep]), cutting: 2), in: .sleep(true))
                == ["session 1: WasInterrupted names another recording"])
        #expect(life.finds([Self.finished], in: Self.fileEnd) == [])
        #expect(
            life.finds([Self.finished], in: Self.fileEnd)
                == ["session 1: RecordingFinished for a recording that is finished or never began"])
    }
}
