public import Arbiter
public import ArbiterProtocol
public import Explain

/// An arbiter on a virtual clock, with simulated recorders around it and every check on.
///
/// The runner, the plan and the simulation all act on one: an action is performed, recorders answer, deadlines fire at
/// their exact time, and after every step the invariants are checked.
public struct Stage: Sendable {
    public private(set) var arbiter: Arbiter
    public private(set) var now: Moment
    /// One for each camera that was ever there, in the order of their first appearance.
    public private(set) var recorders: [SimulatedRecorder] = []
    /// `nil` where the life of the arbiter did not begin with this stage.
    public private(set) var checker: ContractMonitor? = ContractMonitor()
    public private(set) var violations: [Violation] = []
    /// Since the last `takeSteps`.
    public private(set) var steps: [Step] = []
    /// Whether `arbiter.violations()`, which looks at everything, is asked after each step.
    public var checksEverything = true
    /// `nil` where no explanation is needed.
    public var history: History?
    /// The stage performs no more steps.
    public var stepsMax = Int.max
    /// Called before each step; once it returns false, the stage performs no more steps.
    public var mayGoOn: (@Sendable () -> Bool)?
    /// `mayGoOn` returned false.
    public private(set) var wasStopped = false
    /// `nil` where no coverage is counted.
    var coverage: CoverageRecorder?
    private var stepsTaken = 0
    /// It went round in circles; acting on would only go on with that.
    private var gaveUp = false
    private var usual = RecorderBehaviour.works
    private var warnings: [SessionID: InterruptionID] = [:]

    public struct Step: Sendable {
        public var moment: Moment
        public var event: Event
        public var effects: [Effect]
        /// The decision's number in `History`.
        public var decision: DecisionID
        package var verdicts: [Verdict] = []
    }

    public struct Violation: Hashable, Sendable, CustomStringConvertible {
        public var moment: Moment
        public var message: String
        public var description: String { "at \(TimeText.write(moment)): \(message)" }
    }

    public init(_ arbiter: Arbiter, at now: Moment = .zero) { (self.arbiter, self.now) = (arbiter, now) }

    /// A copy of a running broker's, which is checked by itself.
    init(planning arbiter: Arbiter, at now: Moment, while mayGoOn: @escaping @Sendable () -> Bool) {
        self.init(arbiter, at: now)
        checksEverything = false
        adopt()
        stepsMax = Scenario.planStepsMax
        self.mayGoOn = mayGoOn
    }

    /// Goes on until no decision waits for its time: a grace is a minute at most, and a min-hold an hour.
    mutating func settle() {
        let end = now + .seconds(3600 + 60)
        while arbiter.overview().cameras.contains(where: { $0.next != nil }), let next = nextMoment, next <= end,
            steps.count < Scenario.planStepsMax, !wasStopped
        {
            _ = advance(to: next)
        }
    }

    public mutating func takeSteps() -> [Step] {
        defer { steps = [] }
        return steps
    }

    /// Gives an arbiter in the middle of its life its recorders.
    package mutating func adopt() {
        for camera in arbiter.overview().cameras { recorders[recorder(camera.id)].capabilities = camera.capabilities }
        checker = nil
    }

    // MARK: Acting

    /// Performs an action now, and all answers of recorders that are due.
    public mutating func perform(_ action: Action) {
        if gaveUp { return }
        switch action {
        case .event(let event): feed(event)
        case .ready(let session, let id): feed(.ready(session, id ?? warnings[session] ?? 0))
        case .behave(let camera, let behaviour):
            if camera == nil { usual = behaviour }
            for index in recorders.indices where camera == nil || recorders[index].camera == camera {
                recorders[index].behaviour = behaviour
            }
            if let camera, !recorders.contains(where: { $0.camera == camera }) {
                let index = recorder(camera)
                recorders[index].behaviour = behaviour
            }
        case .answer(.recorderGone(let camera), _) where !recorders[recorder(camera)].behaviour.isManual:
            recorders[recorder(camera)].crash(at: now)
        case .answer(let event, let grant): feed(whole(event, grant))
        }
        drain()
    }

    /// Lets time pass to `target`; recorders answer and deadlines fire on the way, each at its own time.
    /// - Returns: the moments of steps.
    public mutating func advance(to target: Moment) -> [Moment] {
        var moments: [Moment] = []
        // A deadline that fires and stands again at the same moment would never end.
        let firingsMax = 1000
        var firings = 0
        while !gaveUp, let next = nextMoment, next <= target {
            if next > now || moments.isEmpty {
                firings = 0
                now = max(now, next)
                if moments.last != now { moments.append(now) }
            }
            firings += 1
            if firings > firingsMax {
                violate("the deadline \(TimeText.write(next)) stands however often it fires")
                break
            }
            if recorders.contains(where: { $0.nextAnswer.map { $0 <= now } ?? false }) {
                drain()
            } else {
                feed(.timePassed)
                if let deadline = arbiter.deadline, deadline <= now {
                    violate("time passed, and the deadline \(TimeText.write(deadline)) still stands")
                    break
                }
                drain()
            }
        }
        now = max(now, target)
        return moments
    }

    /// The moment of the next answer or deadline.
    public var nextMoment: Moment? {
        let answers = recorders.compactMap(\.nextAnswer)
        return (answers + (arbiter.deadline.map { [$0] } ?? [])).min()
    }

    private mutating func drain() {
        // Two recorders that answer each other's orders for ever would be the arbiter's fault.
        let answersMax = 1000
        for _ in 0..<answersMax {
            let due = recorders.indices.filter { recorders[$0].nextAnswer.map { $0 <= now } ?? false }
            guard let index = due.min(by: { (recorders[$0].nextAnswer ?? now) < (recorders[$1].nextAnswer ?? now) })
            else { return }
            if let event = recorders[index].takeAnswer(by: now) { feed(event) }
        }
        violate("orders and answers do not come to an end")
        gaveUp = true
    }

    // MARK: A step

    private mutating func feed(_ event: Event) {
        stepsTaken += 1
        if mayGoOn?() == false { wasStopped = true }
        guard stepsTaken <= stepsMax, !wasStopped else {
            gaveUp = true
            return
        }
        if case .cameraAppeared(let camera, let capabilities, _) = event {
            recorders[recorder(camera)].capabilities = capabilities
        }
        if case .reserved(let camera, _, let survivor?) = event {
            recorders[recorder(camera)].survive(survivor, at: now)
        }
        let due = arbiter.deadline
        let effects = decide(event)
        for effect in effects {
            for index in recorders.indices { recorders[index].take(effect, at: now) }
            if case .notify(_, let session, _, .willBeInterrupted(let told)) = effect { warnings[session] = told.id }
        }
        let wasDue = due.map { $0 <= now } ?? false
        let after = arbiter
        let wrong = checker?.check(event, effects, at: now, wasDue: wasDue) { session, moment in
            after.holdTerms(of: session, moment)
        }
        for message in wrong ?? [] { violate(message) }
        if let deadline = arbiter.deadline, deadline < now {
            violate("the deadline \(TimeText.write(deadline)) is in the past")
        }
        if checksEverything { for message in arbiter.violations() { violate(message) } }
    }

    private mutating func decide(_ event: Event) -> [Effect] {
        history?.note(event, at: now, before: arbiter)
        coverage?.expect(event, at: now, arbiter)
        let isObserved = coverage != nil || history != nil
        let (effects, verdicts) = isObserved ? arbiter.observedStep(event, at: now) : (arbiter.step(event, at: now), [])
        steps.append(
            Step(moment: now, event: event, effects: effects, decision: arbiter.lastDecision, verdicts: verdicts))
        coverage?.note(event, effects, verdicts, arbiter)
        return effects
    }

    private mutating func violate(_ message: String) { violations.append(Violation(moment: now, message: message)) }

    private mutating func recorder(_ camera: CameraID) -> Int {
        if let index = recorders.firstIndex(where: { $0.camera == camera }) { return index }
        var recorder = SimulatedRecorder(camera)
        recorder.behaviour = usual
        recorders.append(recorder)
        return recorders.count - 1
    }

    /// A recorder's answer with the parts that its line lacks: the grant that it has, and the batch that was asked.
    private mutating func whole(_ event: Event, _ grant: GrantID?) -> Event {
        switch event {
        case .recorderStreaming(let camera, _, let inForce):
            let index = recorder(camera)
            if !inForce.isEmpty { recorders[index].apply(inForce) }
            return .recorderStreaming(camera, self.grant(grant, of: camera), inForce: recorders[index].inForce)
        case .recorderConfigured(let camera, _, _, let inForce):
            let index = recorder(camera)
            let asked = recorders[index].takeAsked() ?? Configuration()
            recorders[index].take(asked)
            if !inForce.isEmpty { recorders[index].apply(inForce) }
            return .recorderConfigured(
                camera, self.grant(grant, of: camera), asked: asked, inForce: recorders[index].inForce)
        case .recorderRefusedConfiguration(let camera, _, _, let message):
            let asked = recorders[recorder(camera)].takeAsked() ?? Configuration()
            return .recorderRefusedConfiguration(camera, self.grant(grant, of: camera), asked: asked, message: message)
        case .cameraStateChanged(let camera, _, let changed):
            recorders[recorder(camera)].note(changed)
            return .cameraStateChanged(camera, self.grant(grant, of: camera), changed)
        case .recorderGone(let camera):
            recorders[recorder(camera)].forget()
            return event
        case .deviceFailed(let camera, _, let message):
            return .deviceFailed(camera, DeviceFault(message: message), message: message)
        default:
            for case .camera(let camera) in event.subjects {
                _ = recorder(camera)
                return event.described.event(event, of: self.grant(grant, of: camera))
            }
            return event
        }
    }

    private func grant(_ said: GrantID?, of camera: CameraID) -> GrantID {
        said ?? checker?.lastGrant(of: camera) ?? GrantID(0)
    }
}
