import Arbiter
import ArbiterProtocol

/// Which sessions ask to run at one moment, and do not, although a fair statement speaks of them: a bit for each.
///
/// Whoever runs again and again has its bit cleared again and again. So a bit that stays set around a loop is a session
/// that asks all along, and never runs.
struct Starving {
    let statement: Statement
    private let when: Condition
    /// The sessions of the world, each with the bit of its place.
    private let sessions: [SessionID]

    /// A bit for each; a world has a session for each of its four clients, and a second one for some.
    typealias Bits = UInt8

    /// Nil: the statement is about each moment, and not about what goes on.
    init?(_ statement: Statement, in beginning: Arbiter) {
        guard statement.isFair, case .always(let when, .running) = statement.assertion else { return nil }
        self.statement = statement
        self.when = beginning.state.policy.names.condition(when)
        sessions = beginning.state.sessionSlots.slots.prefix(Bits.bitWidth).map { beginning.state.id($0) }
    }

    var bits: Range<Int> { sessions.indices }

    func session(_ bit: Int) -> SessionID { sessions[bit] }

    /// A session is excused while it does not ask, while the machine forbids it, where its client gave its rank away, and
    /// while another session of its app runs on the same camera.
    func bits(in arbiter: Arbiter) -> Bits {
        var bits: Bits = 0
        for bit in sessions.indices where isStarving(sessions[bit], in: arbiter.state) { bits |= 1 << Bits(bit) }
        return bits
    }

    private func isStarving(_ id: SessionID, in state: borrowing State) -> Bool {
        guard let slot = state.session(id) else { return false }
        let session = state.sessions.rows[Int(slot.index)]
        guard session.request != nil, !session.shown.isRunning,
            !state.clients.rows[Int(session.client.index)].hasLoweredItself
        else { return false }
        let look = state.look(at: slot)
        guard look.machine.isEmpty, when.holds(for: look.facts) else { return false }
        for other in state.sessionSlots.slots where other != slot {
            let row = state.sessions.rows[Int(other.index)]
            guard row.request != nil, row.shown.isRunning, row.camera == session.camera else { continue }
            if state.clients.rows[Int(row.client.index)].app == look.app { return false }
        }
        return true
    }
}
