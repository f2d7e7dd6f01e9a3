package import ArbiterProtocol
package import Camarb

/// What a consumer wants: a format, and in which round, where each pause begins another.
package struct DoorWish: Hashable, Sendable {
    package var format: DoorFormat
    package var round: Int

    package init(format: DoorFormat, round: Int) {
        self.format = format
        self.round = round
    }
}

/// Where a consumer's session is: what it was asked for, whether it runs and may be looked at, and its stream.
package struct DoorCourse {
    /// What the session was started for; nil: it does not ask to run.
    package private(set) var asked: DoorWish?
    /// There was no stream to be had a moment ago; the next try is due later.
    package var isLate = false
    private var isRunning = false
    private var hasPreview = true
    /// Stopped for good. Only a consumer that pauses and goes on starts it again.
    private var isStopped = false
    private var count = 0
    private var stream: Int?
    /// What the session's events called for last.
    private var slate = DoorSlate.waiting

    package init() {}

    /// Somebody takes pictures, there are some to be had, and none come.
    package var wantsStream: Bool { asked != nil && isRunning && hasPreview && stream == nil && !isLate }

    /// A stream is the consumer's.
    /// - Returns: its number.
    package mutating func opened() -> Int {
        count += 1
        stream = count
        return count
    }

    /// - Returns: false: it is not the one that the consumer has now.
    package mutating func streamEnded(_ number: Int) -> Bool {
        guard stream == number else { return false }
        stream = nil
        isLate = true
        return true
    }

    package func isToStart(for wish: DoorWish) -> Bool { asked == nil || (isStopped && wish.round != asked?.round) }

    /// The session is as it is wished.
    /// - Returns: what is to be shown; a consumer that paused and went on unnoticed still shows that it waits, also where it runs
    ///   and may not be looked at.
    package mutating func goesOn(with wish: DoorWish) -> DoorSlate? {
        let (isStarted, isNewRound) = (isToStart(for: wish), asked?.round != wish.round)
        if isNewRound {
            isStopped = false
            // It went with the pause.
            stream = nil
        }
        asked = wish
        if isStarted { slate = .waiting }
        return isNewRound && !isStarted && !(isRunning && hasPreview) ? slate : nil
    }

    package mutating func stopped() {
        asked = nil
        (isRunning, isStopped, stream) = (false, false, nil)
    }

    /// - Returns: what is to be shown from now on.
    package mutating func take(_ event: ClientEvent) -> [DoorSlate] {
        var shown: [DoorSlate] = []
        switch event {
        case .didStartRunning:
            // What is less than everything is told behind it.
            (isRunning, hasPreview, stream, isLate) = (true, true, nil, false)
        case .didStopRunning, .wasInterrupted: (isRunning, stream) = (false, nil)
        case .interruptionEnded: slate = .waiting
        case .sessionStopped: (isRunning, isStopped, stream) = (false, true, nil)
        case .accessChanged(let change):
            let had = hasPreview
            hasPreview = change.access.contains(.preview)
            if !hasPreview { stream = nil } else if !had { shown.append(.waiting) }
        default: break
        }
        if let slate = DoorSlate(event) { shown.append(slate) }
        if let last = shown.last { slate = last }
        return shown
    }
}

/// What a consumer is shown in the camera's place. The drawing, and the sentences for causes, are the C library's.
package struct DoorSlate: Hashable, Sendable {
    /// The numbers of `enum camarb_slate_kind`.
    package enum Kind: Int32, Hashable, Sendable { case waiting, interrupted, switchedOff, noAccess, noBroker }

    package var kind: Kind
    /// A cause or a terminal stop by its name on the wire, or a sentence.
    package var reason = ""
    package var interrupter = ""

    package static let waiting = DoorSlate(kind: .waiting)

    /// What an event of the session calls for; nil: nothing else than before.
    package init?(_ event: ClientEvent) {
        switch event {
        case .wasInterrupted(let interruption), .interruptionChanged(let interruption):
            let reason = interruption.reason
            self.init(
                kind: reason == .videoDeviceBlockedByPrivacy ? .switchedOff : .interrupted,
                reason: reason?.wireName ?? "", interrupter: interruption.interrupter?.description ?? "")
        case .accessChanged(let change) where !change.access.contains(.preview):
            self.init(kind: .interrupted, reason: change.causes.reason?.wireName ?? "")
        // Where it resumes the next picture is there, and comes as soon as its stream is open: until then it sees why it waited.
        case .interruptionEnded(let end) where !end.willResume: self = .waiting
        case .sessionStopped(let stop): self.init(kind: .noAccess, reason: stop.reason.rawValue)
        case .ended(let error): self.init(error)
        default: return nil
        }
    }

    package init(kind: Kind, reason: String = "", interrupter: String = "") {
        (self.kind, self.reason, self.interrupter) = (kind, reason, interrupter)
    }

    package init(_ error: BrokerError) {
        self = error.isOfTheConnection ? DoorSlate(kind: .noBroker) : DoorSlate(kind: .noAccess, reason: error.message)
    }
}
