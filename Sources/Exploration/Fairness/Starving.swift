import Arbiter
import ArbiterProtocol

/// Which sessions ask to run at one moment, and do not, although a fair statement speaks of them: a bit for each.
///
/// Whoever runs again and again has its bit cleared again and again. So a bit that stays set around a loop is a session
/// that asks all along, and never runs.
struct Starving {
    let statement: Statement
    private let when: Condition
    private let part: Statement.Part
    private let scope: StatementScope
    /// The sessions of the world, each with the bit of its place.
    private let sessions: [SessionID]

    /// A bit for each; a world has a session for each of its four clients, and a second one for some.
    typealias Bits = UInt8

    /// Nil: the statement is about each moment, and not about what goes on.
    init?(_ statement: Statement, in beginning: Arbiter) {
        guard case .fair(let when, let part) = statement.assertion else { return nil }
        self.statement = statement
        self.part = part
        scope = StatementScope(statement, beginning.state.policy.names)
        self.when = beginning.state.policy.names.condition(when)
        sessions = beginning.state.sessionSlots.slots.prefix(Bits.bitWidth).map { beginning.state.id($0) }
    }

    var bits: Range<Int> { sessions.indices }

    func session(_ bit: Int) -> SessionID { sessions[bit] }

    /// A session is excused while it does not ask, while the machine forbids it, where its client gave its rank away, while
    /// another session of its app runs on the same camera, and by what the statement excuses.
    func bits(in arbiter: Arbiter) -> Bits {
        let moment = StatementMoment(arbiter.state)
        var bits: Bits = 0
        for place in moment.places(when) where isStarving(place, moment, arbiter.state) {
            let session = arbiter.state.id(moment.asking[place].slot)
            if let bit = sessions.firstIndex(of: session) { bits |= 1 << Bits(bit) }
        }
        return bits
    }

    private func isStarving(_ place: Int, _ moment: StatementMoment, _ state: borrowing State) -> Bool {
        moment.isEntitled(place, state) && moment.isMeant(place, scope, state) && !moment.isKept(place, part, state)
    }
}
