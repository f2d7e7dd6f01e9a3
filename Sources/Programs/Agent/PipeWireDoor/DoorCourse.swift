package import ArbiterProtocol
import Camarb

/// A consumer's wish: a format, and a round, where each pause begins another.
package struct DoorWish: Hashable, Sendable {
    package var format: DoorFormat
    package var round: Int

    package init(format: DoorFormat, round: Int) {
        self.format = format
        self.round = round
    }
}

/// The state of a consumer's session: its wish, whether it runs and may preview, and its stream.
package struct DoorCourse {
    /// The wish that the session was started for; `nil`: it does not ask to run.
    package private(set) var asked: DoorWish?
    /// The last try got no stream; the next one is due later.
    package var isLate = false
    private var session = SessionView()
    /// Stopped for good. Only a consumer that pauses and goes on starts it again.
    private var isStopped = false
    private var count = 0
    private var stream: Int?
    private var slate = DoorSlate.waiting

    package init() {}

    package var wantsStream: Bool { asked != nil && session.may(.preview) && stream == nil && !isLate }

    package mutating func opened() -> Int {
        count += 1
        stream = count
        return count
    }

    package mutating func streamEnded(_ number: Int) -> Bool {
        guard stream == number else { return false }
        stream = nil
        isLate = true
        return true
    }

    package func isToStart(for wish: DoorWish) -> Bool { asked == nil || (isStopped && wish.round != asked?.round) }

    /// - Returns: the slate to show: a consumer that paused and went on unnoticed still shows that it waits.
    package mutating func goesOn(with wish: DoorWish) -> DoorSlate? {
        let (isStarted, isNewRound) = (isToStart(for: wish), asked?.round != wish.round)
        if isNewRound {
            isStopped = false
            // The pause ended it.
            stream = nil
        }
        asked = wish
        if isStarted { (session, slate) = (SessionView(), .waiting) }
        return isNewRound && !isStarted && !session.may(.preview) ? slate : nil
    }

    package mutating func stopped() {
        asked = nil
        session = SessionView()
        (isStopped, stream) = (false, nil)
    }

    /// - Returns: the slate from now on; `nil`: no change, or a picture that comes at once.
    package mutating func take(_ event: SessionEvent) -> DoorSlate? {
        session.take(event)
        if !session.may(.preview) { stream = nil }
        switch event {
        case .didStartRunning: (stream, isLate) = (nil, false)
        case .sessionStopped: isStopped = true
        default: break
        }
        let before = slate
        slate = DoorSlate(session)
        // Where it resumes the next picture comes as soon as its stream is open: until then the reason of the wait
        // stays.
        return slate == before || session.isStarting ? nil : slate
    }
}

/// The slate in the camera's place. The drawing, and the sentences for causes, are the C library's.
package struct DoorSlate: Hashable, Sendable {
    /// The numbers of `enum camarb_slate_kind`.
    package enum Kind: Int32, Hashable, Sendable { case waiting, interrupted, switchedOff, noAccess, noBroker }

    package var kind: Kind
    /// A cause or a terminal stop by its name on the wire, or a sentence.
    package var reason = ""
    package var interrupter = ""

    package static let waiting = DoorSlate(kind: .waiting)

    package init(_ session: SessionView) {
        if let interruption = session.interruption {
            let reason = interruption.reason
            self.init(
                kind: reason == .videoDeviceBlockedByPrivacy ? .switchedOff : .interrupted,
                reason: reason?.wireName ?? "", interrupter: interruption.interrupter?.description ?? "")
        } else if let stop = session.stop {
            self.init(kind: .noAccess, reason: stop.reason.rawValue)
        } else if session.isRunning, !session.may(.preview) {
            self.init(kind: .interrupted, reason: session.access.causes.reason?.wireName ?? "")
        } else {
            self = .waiting
        }
    }

    package init(kind: Kind, reason: String = "", interrupter: String = "") {
        (self.kind, self.reason, self.interrupter) = (kind, reason, interrupter)
    }

    package init(_ error: BrokerError) {
        self = error.isOfTheConnection ? DoorSlate(kind: .noBroker) : DoorSlate(kind: .noAccess, reason: error.message)
    }
}
