package import Arbiter
package import ArbiterProtocol

extension Status.SessionStatus {
    /// What a session would have been told to be where it is, had it all come about at once: for pictures that begin in
    /// the middle. Which number its interruption has nobody knows before the next notice; here it has 0.
    package var eventsThatLeadToIt: [SessionEvent] {
        switch state {
        case .stopped, .starting: return []
        case .interrupted:
            return [
                .wasInterrupted(
                    id: 0, causes: causes, interrupter: waitsFor.map { .app($0.name) }, cutting: nil, rule: rule ?? "")
            ]
        case .running:
            var events: [SessionEvent] = [.didStartRunning(grant: GrantID(0))]
            if access != .all { events.append(.accessChanged(access, causes: causes, rule: rule ?? "")) }
            if let recording { events.append(.recordingStarted(recording)) }
            return events
        }
    }
}
