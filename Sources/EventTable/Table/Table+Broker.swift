import Arbiter
import ArbiterProtocol

extension EventDescription.Table {
    /// The broker itself, and time.
    mutating func addBroker() {
        (origin, concern) = (.broker, .users)
        add(.policyLoaded, .own("policy-reload"), concerning: .everybody, marked: [.noted], Event.policyLoaded, .policy)
        {
            if case .policyLoaded(let policy) = $0 { policy } else { nil }
        }
        add(.reserved, .line("reserve"), Event.reserved, .camera, .app, .survivor) {
            if case .reserved(let camera, let app, let survivor) = $0 { (camera, app, survivor) } else { nil }
        }
        // Nobody brings it, and nobody says it: a line's time does.
        origin = .clock
        let make: @Sendable () -> Event = { .timePassed }
        add(.timePassed, .unsaid, concerning: .whoeverIsTold, marked: [.routine], make) {
            if case .timePassed = $0 { () } else { nil }
        }
    }
}
