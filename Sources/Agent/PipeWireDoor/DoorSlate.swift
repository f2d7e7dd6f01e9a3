package import ArbiterProtocol
package import Camarb

/// What a consumer is shown in the camera's place. The drawing, and the sentences for causes, are the C library's.
package struct DoorSlate: Hashable, Sendable {
    /// The numbers of `enum camarb_slate_kind`.
    package enum Kind: Int32, Hashable, Sendable {
        case waiting, interrupted, switchedOff, noAccess, noBroker
    }

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
        self.kind = kind
        self.reason = reason
        self.interrupter = interrupter
    }

    package init(_ error: BrokerError) {
        self = error.isOfTheConnection ? DoorSlate(kind: .noBroker) : DoorSlate(kind: .noAccess, reason: error.message)
    }
}
