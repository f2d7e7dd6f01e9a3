import Arbiter
import ArbiterProtocol

extension EventDescription.Table {
    /// What a connection is, and what it says of itself.
    mutating func addClients() {
        (origin, concern) = (.client, .users)
        add(.connected, .own("connect"), Event.connected, .client, .app, .identity) {
            if case .connected(let client, let app, let identity) = $0 { (client, app, identity) } else { nil }
        }
        add(.declared, .line("declare"), Event.declared, .client, .attributes) {
            if case .declared(let client, let attributes) = $0 { (client, attributes) } else { nil }
        }
        add(
            .declaredPresence, .line("declare-presence"), marked: [.noted], Event.declaredPresence, .client, .presence,
            .mark("focused")
        ) {
            if case .declaredPresence(let client, let presence, let focused) = $0 {
                (client, presence, focused)
            } else {
                nil
            }
        }
        add(.loweredPriority, .own("lower"), marked: [.noted], Event.loweredPriority, .client, .word("rank", "a rank"))
        {
            if case .loweredPriority(let client, let rank) = $0 { (client, rank) } else { nil }
        }
        add(
            .loweredAttribute, .own("lower"), marked: [.noted], Event.loweredAttribute, .client,
            .word("attribute", "an attribute"), .word("to", "its value")
        ) {
            if case .loweredAttribute(let client, let attribute, let value) = $0 {
                (client, attribute, value)
            } else {
                nil
            }
        }
        add(.disconnected, .line("disconnect"), Event.disconnected, .client) {
            if case .disconnected(let client) = $0 { client } else { nil }
        }
    }
}
