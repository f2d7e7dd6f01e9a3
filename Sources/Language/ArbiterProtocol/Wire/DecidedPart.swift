/// One part of a decision for subscribers: the event, or a notice or refusal that it led to.
public enum DecidedPart: Hashable, Sendable {
    /// An event by its name in traces, such as `startRunning`, with its fields by their keys (`docs/trace.md`).
    /// - `about`: the journal's name of its session, or else of its client; `nil` where it has neither.
    /// - `note`: its words in a picture of a camera's holders; `nil` where it has none.
    case event(String, about: String?, note: String?, WireDictionary)
    /// `app`: the journal's name of the session.
    case notice(app: String, SessionID, SessionSignal)
    case refused(BrokerError, rule: String)
    /// An effect that only a newer broker has, with its fields.
    case other(String, WireDictionary)

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

/// The keys of the dictionaries of `Decided`, beside those of events and effects, which have other names.
package enum DecidedKey {
    package static let event = "event"
    package static let effect = "effect"
    /// The journal's name of the session that it is about, or else of the client.
    package static let name = "name"
    /// An event's words in a picture of a camera's holders.
    package static let note = "note"

    package static let all = [event, effect, name, note]

    package static let notify = "notify"
    package static let refused = "refused"
}

extension SessionSignal {
    /// `nil` for a signal that only a newer broker has.
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
