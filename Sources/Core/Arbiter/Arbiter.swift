public import Vocabulary

/// The decision core: who may use which camera now, told as orders.
///
/// It is a value. `step` takes one fact and returns what has to be done about it, in order; nothing else decides anything. It
/// has no clock, does no I/O, and never lets a hash order reach an effect, so the same trace of events gives the same effects,
/// byte for byte. To know what *would* happen, copy it and step the copy.
///
///     fact ──▶ deadlines that are due ──▶ the fact itself ──▶ settle ──▶ effects
///                                                            │
///                      look: what rules read of a session ───┤
///                      seating: who has which camera ────────┤
///                      tenancy: cameras cut and opened ──────┤
///                      tell: what each client hears ─────────┘
///
/// A fact only changes the state and names the cameras it concerns; `settle` then looks at those, and at nothing else: a
/// thousand idle clients cost no time.
///
/// What it never does: wait, guess, or trust a client's word about itself beyond narrowing its rights.
///
/// Threading: a value; one owner steps it.
public struct Arbiter: Sendable {
    package var state: State
    package var current: DecisionID = 0
    /// When `step` wants to be called at the latest, with `timePassed` if nothing else happens. Nil: never.
    public package(set) var deadline: Moment?
    /// What the step under way gathers; between two steps it is empty.
    var notes = StepNotes()
    /// Memory of the last step, used again by the next one; it says nothing about the state.
    private var memory: StepMemory

    public init(policy: Policy) { self.init(CompiledPolicy(policy)) }

    private init(_ policy: CompiledPolicy) {
        state = State(policy: policy)
        memory = StepMemory(policy)
    }

    package init(state: State, decision: DecisionID) {
        self.state = state
        current = decision
        memory = StepMemory(state.policy)
        deadline = earliestDeadline()
    }

    /// Takes one fact, and returns what has to be done, in order, before the next event is given.
    ///
    /// A refusal is an effect too, and then nothing changed. Sessions, clients and grants that are
    /// not known any more are no mistake: their news was on its way when they ended.
    /// - Parameter now: never earlier than in the last step.
    public mutating func step(_ event: Event, at now: Moment) -> [Effect] {
        // Swapped, and not copied: that would count the references of all its arrays.
        var memory = StepMemory(for: self)
        swap(&memory, &self.memory)
        step(event, at: now, in: &memory)
        swap(&memory, &self.memory)
        return self.memory.effects
    }

    /// The same, in memory that the caller keeps: for callers that step millions of copies.
    package mutating func step(_ event: Event, at now: Moment, in memory: inout StepMemory) {
        memory.notes.begin()
        take(event, at: now, &memory)
    }

    /// The same, with what was decided about each session: for `explain` and for measuring which rules are reached.
    package mutating func observedStep(_ event: Event, at now: Moment) -> (effects: [Effect], verdicts: [Verdict]) {
        var memory = StepMemory(for: self)
        memory.notes.occasion.isObserved = true
        take(event, at: now, &memory)
        return (memory.effects, memory.notes.verdicts)
    }

    private mutating func take(_ event: Event, at now: Moment, _ memory: inout StepMemory) {
        precondition(now >= state.now, "the clock went back from \(state.now.nanoseconds) to \(now.nanoseconds) ns")
        state.now = now
        swap(&notes, &memory.notes)
        decide(event, &memory.seating)
        if notes.hasCut { nameFollowers() }
        swap(&notes, &memory.notes)
        deadline = earliestDeadline()
    }

    private mutating func decide(_ event: Event, _ seating: inout Seating) {
        if let continued = decision(continuedBy: event) {
            current = continued
        } else {
            state.ledger.decision += 1
            current = state.ledger.decision
        }
        if let deadline, deadline <= state.now {
            meetDeadlines()
            settle(&seating)
        }
        guard mayRefuseNewcomer(event) else {
            handle(event)
            return settle(&seating)
        }
        // Refused means that nothing changed, by construction: what would have happened is thrown away.
        let (before, effects, hasCut, verdicts) = (state, notes.effects, notes.hasCut, notes.verdicts)
        handle(event)
        settle(&seating)
        guard let refusal = notes.newcomerRefused else { return }
        state = before
        notes.effects = effects + [.refused(refusal.refusal)]
        notes.hasCut = hasCut
        notes.verdicts = verdicts + refusal.verdicts
    }

    private func mayRefuseNewcomer(_ event: Event) -> Bool {
        if case .startRunning = event { state.policy.contention.newcomer == .refuse } else { false }
    }

    /// The decision that a recorder's news belongs to; nil: it begins one of its own. A handover is one decision from
    /// its cut to the winner's first frame and the loser's finished file.
    private func decision(continuedBy event: Event) -> DecisionID? {
        switch event {
        case .recorderCut(let camera, let grant), .recorderStreaming(let camera, let grant, _):
            current(camera, grant).map { state.cameras[$0].handover }
        case .recordingFinished(let recording, _, _, _, _, _, _):
            state.ledger.recordings.first { $0.id == recording }?.endedBy
        default: nil
        }
    }

    /// The id of the last step's notices: what a recorder reports about a handover comes under that of its beginning.
    public var lastDecision: DecisionID { current }
    public var policy: Policy { state.policy.source }
}

/// What one step gathers while it runs.
struct StepNotes {
    var occasion = Seating.Occasion()
    var effects: [Effect] = []
    /// What the step comes to tell holders of their warnings, in the order of the places.
    var warnings: [Warning] = []
    /// Cameras whose holder left in this step and which are not cut yet: their next holder may follow in this step.
    var passing: [Slot<Camera>] = []
    /// Users whose apps may win or lose otherwise than before.
    var priorities: [UInt32] = []
    var prioritiesOfEverybody = false
    var verdicts: [Verdict] = []
    /// Cameras to decide again.
    private(set) var cameras = CameraSet()
    /// Some holder's stream is cut.
    var hasCut = false
    /// The session that reclaims a grant in this step: it holds the camera, and its recorder core is told when nothing keeps
    /// it from running.
    var reclaimer: Slot<Session>?
    var newcomerRefused: (refusal: Refusal, verdicts: [Verdict])?
    /// An app that was looked at waits for its user's word.
    var meetsUndecided = false

    /// A holder that may have to hear that it is warned, or is no longer.
    struct Warning: BitwiseCopyable {
        let session: Slot<Session>
        let camera: Slot<Camera>
        /// Where in `effects` it hears so.
        let place: Int
    }

    var isObserved: Bool { occasion.isObserved }

    /// Begins again, in the memory that it has.
    mutating func begin() {
        occasion = Seating.Occasion(isObserved: isObserved)
        if !effects.isEmpty { effects.removeAll(keepingCapacity: true) }
        if !warnings.isEmpty { warnings.removeAll(keepingCapacity: true) }
        if !passing.isEmpty { passing.removeAll(keepingCapacity: true) }
        if !priorities.isEmpty { priorities.removeAll(keepingCapacity: true) }
        cameras = CameraSet()
        (hasCut, prioritiesOfEverybody, meetsUndecided) = (false, false, false)
        (reclaimer, newcomerRefused) = (nil, nil)
    }

    mutating func touch(_ camera: Slot<Camera>) { cameras.insert(camera) }
    mutating func touch(_ others: CameraSet) { cameras.formUnion(others) }

    mutating func takeCameras() -> CameraSet {
        defer { cameras = CameraSet() }
        return cameras
    }
}

/// What one decision meant for one session, for `explain` and for measuring which rules are reached.
package struct Verdict: Sendable {
    package enum Outcome: Hashable, Sendable {
        case granted, refused
        case interrupted(CauseSet)
        case restricted(Access)
        /// It holds its camera, and was told that it has to make way after so long.
        case warned(Duration)
        case stopped(StopReason)
    }

    package var session: SessionID
    package var outcome: Outcome
    package var rule: Rule
    /// The rule's text under the policy of the decision.
    package var text: String
    /// What was read about the session; nil: nothing.
    package var facts: Facts?
    /// By what it may use the camera, where the decision looked at that or at the seat's user; and the seat.
    package var right: RightReason?
    package var seat: SeatID?
    /// The app whose bid it met; nil: none, or one that is gone.
    package var against: AppID?
    /// The cameras of all bids that it would have to beat, or that would have won instead.
    package var opponents: [CameraID] = []
}

/// Memory for steps, kept between them so that a step allocates next to nothing; and the last step's effects.
package struct StepMemory {
    var notes = StepNotes()
    var seating: Seating

    package init(for arbiter: Arbiter) { self.init(arbiter.state.policy) }
    init(_ policy: CompiledPolicy) { seating = Seating(policy) }

    package var effects: [Effect] { @inline(__always) _read { yield notes.effects } }
}

/// Some of the cameras: bits for the first rows of their table, which are nearly always all there are.
struct CameraSet: Hashable, Sendable {
    private var bits: UInt64 = 0
    private var others: [Int32] = []

    var isEmpty: Bool { bits == 0 && others.isEmpty }

    func contains(_ camera: Slot<Camera>) -> Bool {
        camera.index < 64 ? bits >> UInt64(camera.index) & 1 == 1 : others.contains(camera.index)
    }

    mutating func formUnion(_ other: CameraSet) {
        bits |= other.bits
        for camera in other.others where !others.contains(camera) { others.append(camera) }
    }

    mutating func insert(_ camera: Slot<Camera>) {
        if camera.index < 64 {
            bits |= 1 << UInt64(camera.index)
        } else if !others.contains(camera.index) {
            others.append(camera.index)
        }
    }
}
