/// What a policy promises about itself: a sentence that `camclient policy verify` holds it to, in every state that
/// a small world can reach. No decision ever reads one.
///
/// A statement speaks of sessions by the part they play on one camera, and by the facts that rules read. One of these
/// sessions is its subject: `unless` and `by` are about that one.
public struct Statement: Hashable, Sendable {
    public var name: String
    public var assertion: Assertion
    /// Whatever of these holds for the subject excuses it.
    public var unless: [Excuse]
    /// It counts only while the subject waits behind an app with these facts; nil: whomever it waits behind, if anybody.
    public var by: [FactTest]?
    /// The parts of a `never` may be on different cameras that exclude each other.
    public var isAcrossCameras: Bool

    public enum Assertion: Hashable, Sendable {
        /// At no moment does a session play this part with these facts. Several parts: not all of them at once, each
        /// played by another app on the same camera. Never empty; in the order of `Part`, each at most once.
        case never([Player])
        /// Once nothing is under way on the cameras, every session that asks to run with these facts plays this part; or
        /// another session of its app does, on the same camera. What the machine itself forbids (unplugged, asleep, the privacy
        /// switch, an inactive login session) excuses it, and so does a client that has lowered itself.
        case always(when: [FactTest], is: Part)
        /// Such a session, or another one of its app on the same camera, plays this part at the latest so long after
        /// it began to want it. The same excuses.
        case within(when: [FactTest], is: Part, Duration)
        /// A session with these facts that loses its camera to another app's bid, or to its lease, was told so long before.
        /// One that said it is ready has given up the rest.
        case warned(when: [FactTest], Duration)
        /// All sessions of an app with these facts together hold cameras for so long at most in any time as long as `in`.
        case atMost(when: [FactTest], Duration, in: Duration)
        /// Every session that goes on asking to run with these facts plays this part again and again.
        case fair(when: [FactTest], is: Part)
    }

    /// A part, and what is known about its app. No fact: any app.
    public struct Player: Hashable, Sendable {
        public var part: Part
        public var when: [FactTest]

        public init(_ part: Part, when: [FactTest] = []) {
            self.part = part
            self.when = when
        }
    }

    /// What excuses a subject: facts of its own, and of the app that it waits behind; all of them together.
    public struct Excuse: Hashable, Sendable {
        public var when: [FactTest]
        /// Nil: whether it waits, and behind whom, makes no difference.
        public var by: [FactTest]?

        public init(when: [FactTest] = [], by: [FactTest]? = nil) {
            self.when = when
            self.by = by
        }
    }

    /// What a session is on its camera, at one moment.
    public enum Part: String, Hashable, Sendable, CaseIterable {
        /// It has the camera, whatever access it has; from the grant to the cut.
        case holder
        /// It was told that it runs.
        case running
        /// It runs, and its access is not the whole.
        case restricted
        case recording
        /// It watches beside the holder, where the policy shares cameras.
        case sharer
        /// It asks to run, and another app's bid keeps the camera from it. A session that has won, and only waits for
        /// a grace, a min-hold or a cut that is under way, no longer counts as waiting; one whose client has lowered
        /// itself waits by its own will.
        case waiting
        /// It was told that it is interrupted, for whatever cause.
        case interrupted

        /// Somebody may be in its way.
        public var isKeptOut: Bool { self == .waiting || self == .interrupted }
    }

    public init(
        name: String, _ assertion: Assertion, unless: [Excuse] = [], by: [FactTest]? = nil,
        isAcrossCameras: Bool = false
    ) {
        (self.name, self.assertion, self.unless) = (name, assertion, unless)
        (self.by, self.isAcrossCameras) = (by, isAcrossCameras)
    }

    /// Which of the players of a `never` is its subject: the one that waits or is interrupted, as only that one is kept
    /// out by anybody; where none is, the first.
    public var subject: Int {
        guard case .never(let players) = assertion else { return 0 }
        return players.firstIndex { $0.part.isKeptOut } ?? 0
    }

    /// It asks what was and for how long, not only what is.
    public var isTimed: Bool {
        switch assertion {
        case .never, .always, .fair: false
        case .within, .warned, .atMost: true
        }
    }

    /// It is about what goes on, and not about each moment: only whole courses of events can break it, never one state.
    public var isFair: Bool { if case .fair = assertion { true } else { false } }

    /// It asks whom its subject waits behind.
    public var asksWhoIsInTheWay: Bool { by != nil || unless.contains { $0.by != nil } }

    /// What it says of those that it is about, for each: facts that all hold for one session.
    public var roles: [[FactTest]] {
        switch assertion {
        case .never(let players): players.map(\.when)
        case .always(let when, _), .within(let when, _, _), .warned(let when, _), .atMost(let when, _, _),
            .fair(let when, _):
            [when]
        }
    }

    /// The facts that it asks for together, each time of one session.
    public var conjunctions: [[FactTest]] {
        roles + unless.flatMap { [$0.when] + ($0.by.map { [$0] } ?? []) } + (by.map { [$0] } ?? [])
    }

    /// Every fact that it reads.
    public var testsRead: [FactTest] { conjunctions.flatMap { $0 } }

    /// Every part that it speaks of.
    public var parts: [Part] {
        switch assertion {
        case .never(let players): players.map(\.part)
        case .always(_, let part), .within(_, let part, _), .fair(_, let part): [part]
        case .warned, .atMost: [.holder]
        }
    }

    /// The times that it names.
    public var durations: [Duration] {
        switch assertion {
        case .never, .always, .fair: []
        case .within(_, _, let time), .warned(_, let time): [time]
        case .atMost(_, let time, let window): [time, window]
        }
    }

    /// It stands in a `[[never]]` table; the others in `[[always]]`.
    public var isNever: Bool { if case .never = assertion { true } else { false } }
}
