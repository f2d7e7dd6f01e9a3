/// A policy's promise about itself: a sentence that `camclient policy verify` checks in every state that a small world
/// can reach. No decision ever reads one.
///
/// A statement speaks of sessions by the part they play on one camera, and by the facts that rules read. One of these
/// sessions is its subject: `unless` and `by` are about the subject.
public struct Statement: Hashable, Sendable {
    public var name: String
    public var assertion: Assertion
    /// Any of these that holds for the subject excuses it.
    public var unless: [Excuse]
    /// The statement counts only while the subject waits for an app with these facts; `nil`: whether it waits or not.
    public var by: [FactTest]?
    /// The parts of a `never` may be on different cameras that exclude each other.
    public var isAcrossCameras: Bool

    public enum Assertion: Hashable, Sendable {
        /// At no moment does a session play this part with these facts. Several parts: not all of them at once, each
        /// played by another app on the same camera. Never empty; in the order of `Part`, each at most once.
        case never([Player])
        /// Once nothing is under way on the cameras, every session that asks to run with these facts plays this part;
        /// or another session of its app does, on the same camera. Causes of the machine itself (unplugged, asleep, the
        /// privacy switch, an inactive login session) excuse it, and so does a client that has lowered itself.
        case always(when: [FactTest], is: Part)
        /// Such a session, or another one of its app on the same camera, plays this part at the latest this long after
        /// it began to want it. The same excuses.
        case within(when: [FactTest], is: Part, Duration)
        /// A session with these facts that loses its camera to another app's bid, or to its lease, was warned this long
        /// before. A session that answered that it is ready has given up the rest.
        case warned(when: [FactTest], Duration)
        /// All sessions of an app with these facts together hold cameras for at most this long in any time as long as
        /// `in`.
        case atMost(when: [FactTest], Duration, in: Duration)
        /// Every session that goes on asking to run with these facts plays this part again and again.
        case fair(when: [FactTest], is: Part)
    }

    /// A part with the facts of its app. No fact: any app.
    public struct Player: Hashable, Sendable {
        public var part: Part
        public var when: [FactTest]

        public init(_ part: Part, when: [FactTest] = []) {
            self.part = part
            self.when = when
        }
    }

    /// An excuse of a subject: facts of its own, and of the app that it waits for; all of them together.
    public struct Excuse: Hashable, Sendable {
        public var when: [FactTest]
        /// `nil`: whether it waits, and for whom, makes no difference.
        public var by: [FactTest]?

        public init(when: [FactTest] = [], by: [FactTest]? = nil) {
            self.when = when
            self.by = by
        }
    }

    /// A session's part on its camera, at one moment.
    public enum Part: String, Hashable, Sendable, CaseIterable {
        /// The session has the camera, whatever access it has; from the grant to the cut.
        case holder
        /// After its notice that it runs.
        case running
        /// The session runs, and its access is not the whole.
        case restricted
        case recording
        /// The session watches beside the holder, where the policy shares cameras.
        case sharer
        /// The session asks to run, and another app's bid keeps the camera from it. A session that has won, and only
        /// waits for a grace, a min-hold or a cut under way, no longer counts as waiting; a session whose client has
        /// lowered itself waits by its own will.
        case waiting
        /// After its notice of an interruption, for whatever cause.
        case interrupted

        /// Another session may be in its way.
        public var isKeptOut: Bool { self == .waiting || self == .interrupted }
    }

    public init(
        name: String, _ assertion: Assertion, unless: [Excuse] = [], by: [FactTest]? = nil,
        isAcrossCameras: Bool = false
    ) {
        (self.name, self.assertion, self.unless) = (name, assertion, unless)
        (self.by, self.isAcrossCameras) = (by, isAcrossCameras)
    }

    /// The subject among the players of a `never`: the player that waits or is interrupted, as only that one is kept
    /// out by anybody; where none is, the first.
    public var subject: Int {
        guard case .never(let players) = assertion else { return 0 }
        return players.firstIndex { $0.part.isKeptOut } ?? 0
    }

    /// The statement needs a history, not only a state.
    public var isTimed: Bool {
        switch assertion {
        case .never, .always, .fair: false
        case .within, .warned, .atMost: true
        }
    }

    /// The statement is about whole courses of events, and not about each moment: one state never breaks it.
    public var isFair: Bool { if case .fair = assertion { true } else { false } }

    /// The statement reads for whom its subject waits.
    public var asksWhoIsInTheWay: Bool { by != nil || unless.contains { $0.by != nil } }

    /// The facts of each of its sessions, which all hold for one session.
    public var roles: [[FactTest]] {
        switch assertion {
        case .never(let players): players.map(\.when)
        case .always(let when, _), .within(let when, _, _), .warned(let when, _), .atMost(let when, _, _),
            .fair(let when, _):
            [when]
        }
    }

    /// The facts that it reads together, each time of one session.
    public var conjunctions: [[FactTest]] {
        roles + unless.flatMap { [$0.when] + ($0.by.map { [$0] } ?? []) } + (by.map { [$0] } ?? [])
    }

    public var testsRead: [FactTest] { conjunctions.flatMap { $0 } }

    public var parts: [Part] {
        switch assertion {
        case .never(let players): players.map(\.part)
        case .always(_, let part), .within(_, let part, _), .fair(_, let part): [part]
        case .warned, .atMost: [.holder]
        }
    }

    public var durations: [Duration] {
        switch assertion {
        case .never, .always, .fair: []
        case .within(_, _, let time), .warned(_, let time): [time]
        case .atMost(_, let time, let window): [time, window]
        }
    }

    /// The statement stands in a `[[never]]` table; the others in `[[always]]`.
    public var isNever: Bool { if case .never = assertion { true } else { false } }
}
