public import ArbiterProtocol

extension Timeline {
    /// A time that ran on a camera, and what was to happen when it was over.
    public struct Deadline: Hashable, Sendable {
        public enum Kind: String, Hashable, Sendable, CaseIterable {
            /// The holder's time: at its end the session is stopped.
            case lease
            /// A stream was ordered cut: a recorder that has not confirmed it by then is killed.
            case confirmation
        }
        public var kind: Kind
        public var begin: Moment
        /// When it no longer stood: it was due, or what it waited for had come.
        public var end: Moment
        /// As it was in the end: a policy may make it shorter, sleep longer.
        public var due: Moment

        public var isMet: Bool { end < due }

        /// `lease, due 3min, over at 3min`; times count from the picture's beginning.
        func words(since begin: Moment, until pictureEnd: Moment) -> String {
            let due = "due \((due - begin).shortText)"
            switch kind {
            case .lease:
                if !isMet { return "\(due), ran out" }
                return end < pictureEnd ? "\(due), over at \((end - begin).shortText)" : "\(due), still running"
            case .confirmation:
                if !isMet { return "\(due), not confirmed: the recorder was killed" }
                return end < pictureEnd ? "\(due), confirmed at \((end - begin).shortText)" : "\(due), still waiting"
            }
        }
    }
}
