/// What a policy promises about itself: a sentence that `camclient policy verify` holds it to, in every state that
/// a small world can reach. No decision ever reads one.
///
/// A statement speaks of sessions by the part they play on one camera, and by the facts that rules read.
public struct Statement: Hashable, Sendable {
    public var name: String
    public var assertion: Assertion
    /// Of an `always`, which says `running` then: it need not be so at every moment, but whoever goes on asking runs again
    /// and again. Only whole courses of events can break that, never one state.
    public var isFair = false

    public enum Assertion: Hashable, Sendable {
        /// At no moment does a session play this part with these facts. Several parts: not all of them at once, each
        /// played by another app on the same camera. Never empty; in the order of `Part`, each at most once.
        case never([Player])
        /// Once nothing is under way on the cameras, every session that asks to run with these facts plays this part;
        /// or another session of its app does, on the same camera. What the machine itself forbids (unplugged,
        /// asleep, the privacy switch, an inactive login session) excuses it, and so does a client that has lowered
        /// itself.
        case always(when: [FactTest], is: Part)
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
    }

    public init(name: String, _ assertion: Assertion, isFair: Bool = false) {
        self.name = name
        self.assertion = assertion
        self.isFair = isFair
    }

    /// Every fact that it reads.
    public var testsRead: [FactTest] {
        switch assertion {
        case .never(let players): players.flatMap(\.when)
        case .always(let when, _): when
        }
    }

    /// Every part that it speaks of.
    public var parts: [Part] {
        switch assertion {
        case .never(let players): players.map(\.part)
        case .always(_, let part): [part]
        }
    }
}
