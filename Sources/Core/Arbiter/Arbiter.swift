public import Vocabulary

/// The decision core: who may use which camera now, as orders to carry out.
///
/// It is a value. `step` takes one fact and returns the effects, in order; nothing else decides anything. It has no
/// clock, does no I/O, and never lets a hash order reach an effect, so the same trace of events gives the same effects,
/// byte for byte. To find out what *would* happen, copy it and step the copy.
///
///     fact ──▶ deadlines that are due ──▶ the fact itself ──▶ settle ──▶ effects
///                                                            │
///                      look: the facts and rank of a session ┤
///                      seating: who has which camera ────────┤
///                      tenancy: cameras cut and opened ──────┤
///                      tell: each client's notices ──────────┘
///
/// A fact only changes the state and names the cameras it concerns; `settle` then looks at these cameras alone: a
/// thousand idle clients cost no time.
///
/// The core never waits, never guesses, and never trusts a client's claim beyond narrowing its rights.
///
/// Threading: a value; one owner steps it.
public struct Arbiter: Sendable {
    package var state: State
    package var current: DecisionID = 0
    /// The latest moment of the next `step`, with `timePassed` if nothing else happens; `nil`: none is due.
    public package(set) var deadline: Moment?
    /// The working memory of the present step; empty between two steps.
    var notes = StepNotes()
    /// Allocations of the last step, reused by the next one; no part of the state.
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

    /// Takes one fact, and returns its effects, to be carried out in order before the next event.
    ///
    /// A refusal is an effect too, and then nothing changed. An event about a session, client or grant that has ended
    /// is no mistake: it was on its way at the end.
    /// - Parameter now: never earlier than in the last step.
    public mutating func step(_ event: Event, at now: Moment) -> [Effect] {
        // A swap, since a copy would count the references of all arrays.
        var memory = StepMemory(for: self)
        swap(&memory, &self.memory)
        step(event, at: now, in: &memory)
        swap(&memory, &self.memory)
        return self.memory.effects
    }

    /// The same step with the caller's memory, for callers that step millions of copies.
    package mutating func step(_ event: Event, at now: Moment, in memory: inout StepMemory) {
        memory.notes.begin()
        take(event, at: now, &memory)
    }

    /// The same step with each session's verdict, for `explain` and for coverage of rules.
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
        // A refusal changes nothing, by construction: the changed copy is thrown away.
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

    /// The decision that a recorder's report belongs to; `nil`: the report begins a decision. A handover is one
    /// decision from its cut to the winner's first frame and the loser's finished file.
    private func decision(continuedBy event: Event) -> DecisionID? {
        switch event {
        case .recorderCut(let camera, let grant), .recorderStreaming(let camera, let grant, _):
            current(camera, grant).map { state.cameras[$0].handover }
        case .recordingFinished(let recording, _, _, _, _, _, _):
            state.ledger.recordings.first { $0.id == recording }?.endedBy
        default: nil
        }
    }

    /// The id of the last step's notices: a recorder's reports on a handover have the id of its beginning.
    public var lastDecision: DecisionID { current }
    public var policy: Policy { state.policy.source }
}

struct StepNotes {
    var occasion = Seating.Occasion()
    var effects: [Effect] = []
    /// Warnings to send or withdraw at the end of the step, in the order of their places.
    var warnings: [Warning] = []
    /// Cameras without a holder since this step and not cut yet: the next holder may follow within the step.
    var passing: [Slot<Camera>] = []
    /// Users of the apps whose chances changed.
    var priorities: [UInt32] = []
    var prioritiesOfEverybody = false
    var verdicts: [Verdict] = []
    /// Cameras to decide again.
    private(set) var cameras = CameraSet()
    var hasCut = false
    /// The session that reclaims a grant in this step: it holds the camera, and the recorder core receives the new
    /// owner when nothing keeps the session from running.
    var reclaimer: Slot<Session>?
    var newcomerRefused: (refusal: Refusal, verdicts: [Verdict])?
    /// A session that was looked at waits for its user's answer.
    var meetsUndecided = false

    /// A holder whose warning begins or ends.
    struct Warning: BitwiseCopyable {
        let session: Slot<Session>
        let camera: Slot<Camera>
        /// The index in `effects` of the notice.
        let place: Int
    }

    var isObserved: Bool { occasion.isObserved }

    /// Empties the notes and keeps their memory.
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

/// The meaning of one decision for one session, for `explain` and for coverage of rules.
package struct Verdict: Sendable {
    package enum Outcome: Hashable, Sendable {
        case granted, refused
        case interrupted(CauseSet)
        case restricted(Access)
        /// The session holds its camera, and has to make way after this time.
        case warned(Duration)
        case stopped(StopReason)
    }

    package var session: SessionID
    package var outcome: Outcome
    package var rule: Rule
    /// The rule's text under the policy of the decision.
    package var text: String
    /// The facts that rules read about the session; `nil`: none.
    package var facts: Facts?
    /// The reason of its right to the camera, where the decision read it, and the seat.
    package var right: RightReason?
    package var seat: SeatID?
    /// The app of the bid that it met; `nil`: none, or an app that has gone.
    package var against: AppID?
    /// The cameras of all bids that it would have to beat, or that would have won instead.
    package var opponents: [CameraID] = []
}

/// Memory of steps, kept between them so that a step allocates next to nothing, with the last step's effects.
package struct StepMemory {
    var notes = StepNotes()
    var seating: Seating

    package init(for arbiter: Arbiter) { self.init(arbiter.state.policy) }
    init(_ policy: CompiledPolicy) { seating = Seating(policy) }

    package var effects: [Effect] { @inline(__always) _read { yield notes.effects } }
}

/// A set of cameras: bits for the first rows of the table, which are nearly always all cameras.
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
