public import Vocabulary

/// The decision core: who may use which camera now, told as orders.
///
/// It is a value. `step` takes one fact and returns what has to be done about it, in order; nothing
/// else decides anything. It has no clock, does no I/O, and never lets a hash order reach an effect,
/// so the same trace of events gives the same effects, byte for byte. To know what *would* happen,
/// copy it and step the copy; to walk a small world whole, keep a set of `key`s.
///
///     fact ──▶ deadlines that are due ──▶ the fact itself ──▶ settle ──▶ effects
///                                                            │
///                          allocate: who holds which camera ─┤
///                          present: what each client is told ┘
///
/// A fact only changes the state and names the cameras and sessions it concerns; `settle` then looks
/// at those, and at nothing else: a thousand idle clients cost no time.
///
/// What it never does: wait, guess, or trust a client's word about itself beyond narrowing its rights.
///
/// Threading: a value; one owner steps it.
public struct Arbiter: Sendable {
    var state: State
    var ledger = Ledger()
    private var current: DecisionID = 0

    public init(policy: Policy) {
        state = State(policy: policy)
    }

    init(state: State, ledger: Ledger, decision: DecisionID) {
        self.state = state
        self.ledger = ledger
        current = decision
    }

    /// Takes one fact, and returns what has to be done, in order, before the next event is given.
    ///
    /// A refusal is an effect too, and then nothing changed. Sessions, clients and grants that are
    /// not known any more are no mistake: their news was on its way when they ended.
    /// - Parameter now: never earlier than in the last step.
    public mutating func step(_ event: Event, at now: Moment) -> [Effect] {
        precondition(now >= state.now, "the clock went back from \(state.now.nanoseconds) to \(now.nanoseconds) ns")
        state.now = now
        if let continued = ledger.handover(continuedBy: event) {
            current = continued
        } else {
            ledger.decision += 1
            current = ledger.decision
        }
        var turn = Turn(event: event, verdicts: Verdicts(areKept: ledger.decisions.isKept))
        if let deadline, deadline <= now {
            meetDeadlines(&turn)
            settle(&turn)
        }
        take(event, &turn)
        settle(&turn)
        if !turn.verdicts.list.isEmpty {
            ledger.decisions.append(
                DecisionRecord(id: current, at: now, event: event, policy: state.policy, verdicts: turn.verdicts.list))
        }
        return turn.effects
    }

    /// The id under which the last step's notices are sent, and `explain` knows it. A handover is one
    /// decision from its cut to the winner's first frame and the loser's finished file, so what the
    /// recorder reports about it comes under the id of the step that began it.
    public var lastDecision: DecisionID { current }

    public var policy: Policy { state.policy }

    /// What exploration remembers of a state: everything that decides, seen from now, and nothing that only counts.
    public struct Key: Hashable, Sendable {
        let state: State
    }

    public var key: Key { Key(state: state.canonical()) }

    /// Drops the record of past decisions and keeps none from here on: the many copies of an exploration stay small,
    /// and `explain` has nothing to say.
    public mutating func forgetDecisions() { ledger.decisions = DecisionRing(isKept: false) }
}

extension Arbiter: Hashable {
    public static func == (a: Arbiter, b: Arbiter) -> Bool { a.key == b.key }
    public func hash(into hasher: inout Hasher) { hasher.combine(key) }
}

/// The bounds of the core, and why they are what they are.
public enum Bound {
    /// How long a recorder may take to confirm a cut: several frames at the slowest usual rate (5 fps
    /// in dim light is 200 ms a frame), and short enough that nobody takes the wait for a failure.
    public static let cut = Duration.milliseconds(500)
    /// How long a killed recorder may take to be gone before its camera counts as broken.
    public static let kill = Duration.seconds(2)
    /// Faults of one camera within `faultWindow` that end the session instead of restarting it (semantics.md §3).
    public static let faultsMax = 5
    public static let faultWindow = Duration.seconds(60)
    /// First backoff after a fault; it doubles with each fault in the window: 0.25, 0.5, 1, 2 s.
    public static let firstBackoff = Duration.milliseconds(250)
    /// How long facts stay as they were when the last presence source is gone (semantics.md §9, row 16).
    public static let sourceFreeze = Duration.seconds(5)
    /// How long a camera waits for its holder after the broker restarted (row 19).
    public static let reservation = Duration.seconds(2)
    /// Nested `beginConfiguration`: deeper is a client that lost count.
    public static let batchDepthMax = 16
    /// Apps that a trusted source may give attributes at a time: as many as a shell may place, and a few hundred kilobytes.
    public static let attributedAppsMax = 1024
}

/// What one step gathers while it runs.
struct Turn {
    let event: Event
    var effects: [Effect] = []
    var verdicts: Verdicts
    /// Cameras to decide again.
    var cameras = SortedSet<CameraID>()
    /// Sessions whose causes may have changed while their camera's decision stays.
    var sessions = SortedSet<SessionID>()
    /// The session whose `startRunning` this step is: the only one that can be refused.
    var starter: SessionID?
    /// The session that asks for control of a camera it watches: decided as if it started.
    var asker: SessionID?

    init(event: Event, verdicts: Verdicts) {
        self.event = event
        self.verdicts = verdicts
    }

    mutating func refuse(_ kind: BrokerError.Kind, _ message: String, rule: String) {
        effects.append(.refused(Refusal(kind, message, rule: rule)))
    }
}

/// What one step decided, for `explain`. Where nobody will ask, a verdict is not even put together.
struct Verdicts {
    let areKept: Bool
    private(set) var list: [Verdict] = []

    init(areKept: Bool) { self.areKept = areKept }

    mutating func append(_ verdict: @autoclosure () -> Verdict) {
        if areKept { list.append(verdict()) }
    }
}
