/// One part of a decision, as subscribers have it: what happened, or what somebody was told of it.
public enum DecidedPart: Hashable, Sendable {
    /// What happened: its name in traces, such as `startRunning`, and its fields by their keys (`docs/trace.md`).
    /// - `about`: what the journal calls the session that it is about, or else the client; nil: neither.
    /// - `note`: what a picture of a camera's holders says of it; nil: nothing.
    case event(String, about: String?, note: String?, WireDictionary)
    /// A session was told. `app`: what the journal calls the session.
    case notice(app: String, SessionID, SessionSignal)
    /// The request was refused.
    case refused(BrokerError, rule: String)
    /// A newer broker tells of more: the name of the effect, and its fields.
    case other(String, WireDictionary)

    /// Reads one dictionary of `Decided`.
    /// - Throws: `.invalidArguments` with what is wrong.
    package init(_ wire: WireDictionary, of decision: DecisionID) throws(BrokerError) {
        let fields = WireFields("Decided", wire)
        if fields.has(DecidedKey.event) {
            self = .event(
                try fields.read(DecidedKey.event), about: wire[DecidedKey.name]?.string,
                note: wire[DecidedKey.note]?.string, wire.without([DecidedKey.event, DecidedKey.name, DecidedKey.note]))
            return
        }
        let effect: String = try fields.read(DecidedKey.effect)
        switch effect {
        case DecidedKey.notify:
            if let signal = try SessionSignal(decided: wire, decision) {
                self = .notice(app: try fields.read(DecidedKey.name), try fields.read("session"), signal)
                return
            }
        case DecidedKey.refused:
            if let kind = BrokerError.Kind(rawValue: try fields.read("error")) {
                self = .refused(BrokerError(kind, try fields.read("message")), rule: try fields.read("rule"))
                return
            }
        default: break
        }
        self = .other(effect, wire.without([DecidedKey.effect]))
    }
}

/// The keys of the dictionaries of `Decided`, beside the fields of events and effects, none of which is called so.
package enum DecidedKey {
    package static let event = "event"
    package static let effect = "effect"
    /// What the journal calls the session that it is about, or else the client.
    package static let name = "name"
    /// What a picture of a camera's holders says of an event.
    package static let note = "note"

    package static let all = [event, effect, name, note]

    /// The effect that tells a session something, and the one that refuses a request.
    package static let notify = "notify"
    package static let refused = "refused"
}

extension SessionSignal {
    /// As `Decided` has it: the signal's arguments by their names. Nil for a signal that a newer broker may send.
    fileprivate init?(decided wire: WireDictionary, _ decision: DecisionID) throws(BrokerError) {
        let fields = WireFields("Decided", wire)
        let member: String = try fields.read("notice")
        guard let signal = Interface.session.signal(member) else { return nil }
        var arguments: [WireValue] = [.uint64(try fields.read("sequence")), .uint64(decision)]
        for argument in signal.carries.dropFirst(arguments.count) {
            guard let value = wire[argument.name] else {
                throw BrokerError(.invalidArguments, "Decided: “\(argument.name)” of \(member) is missing.")
            }
            arguments.append(value)
        }
        try self.init(
            signal: WireSignal(path: "", interface: InterfaceName.session, member: member, arguments: arguments))
    }
}

extension WireDictionary {
    fileprivate func without(_ keys: [String]) -> WireDictionary {
        var rest = self
        for key in keys { rest[key] = nil }
        return rest
    }
}
