import ArbiterProtocol

/// When a session that is to show pictures opens a stream. A value: what it says is done by `PictureFeed`.
///
///     none ──runs, and pictures are wanted──▶ opening ──▶ open ──its end──▶ late ──a moment──▶ opening
///                                                └─refused for now─▶ late      (while it runs)
///                                                └─a fault──▶ broken, until it runs anew
///
/// A grant that ends leads to `none` from anywhere.
struct PictureCourse {
    private enum Stage: Hashable { case none, opening, open, late, broken }

    enum Duty: Hashable {
        case nothing
        /// Call `OpenStream`, and say `opened` or `refused` with this number.
        case open(run: UInt64)
        /// The stream, if there is one, is over.
        case drop
        /// The same, and another is to be opened.
        case replace(run: UInt64)

        var drops: Bool {
            switch self {
            case .drop, .replace: true
            case .nothing, .open: false
            }
        }
    }

    private var isWanted = false
    private var session = SessionView()
    private var stage = Stage.none
    private(set) var grant = GrantID(0)
    /// Counts beginnings, so that what was asked for one is not taken for another's.
    private var run: UInt64 = 0

    mutating func want() -> Duty {
        isWanted = true
        return next()
    }

    mutating func take(_ event: SessionEvent) -> Duty {
        let had = session.access.access.contains(.preview)
        session.take(event)
        grant = session.grant ?? grant
        switch event {
        case .didStartRunning, .didStopRunning, .sessionStopped: return begin()
        case .accessChanged: return had == session.access.access.contains(.preview) ? .nothing : begin()
        default: return .nothing
        }
    }

    /// Whatever there was is of a time that is over.
    private mutating func begin() -> Duty {
        run += 1
        stage = .none
        if case .open(let run) = next() { return .replace(run: run) }
        return .drop
    }

    private mutating func next() -> Duty {
        guard isWanted, session.may(.preview), stage == .none else { return .nothing }
        stage = .opening
        return .open(run: run)
    }

    /// - Returns: whether the stream is used; else it is closed.
    mutating func opened(run: UInt64) -> Bool {
        guard run == self.run, stage == .opening else { return false }
        stage = .open
        return true
    }

    /// `OpenStream` was refused.
    /// - Returns: whether it is asked again when a moment has passed; else this is a fault.
    mutating func refused(run: UInt64, _ kind: BrokerError.Kind) -> Bool? {
        guard run == self.run, stage == .opening else { return nil }
        stage = Self.passing.contains(kind) ? .late : .broken
        return stage == .late
    }

    /// What a change that is on its way is refused for; an event says what has become of it.
    private static let passing: Set<BrokerError.Kind> = [
        .notRunning, .interrupted, .insideConfiguration, .staleGrant, .unknownSession, .limitExceeded, .outOfResources,
        .disconnected, .noReply,
    ]

    /// A stream of this number is over by itself.
    mutating func streamEnded(run: UInt64, isBroken: Bool) -> Bool {
        guard run == self.run, stage == .open else { return false }
        stage = isBroken ? .broken : .late
        return true
    }

    mutating func isDue(run: UInt64) -> Duty {
        guard run == self.run, stage == .late else { return .nothing }
        stage = .none
        return next()
    }
}
