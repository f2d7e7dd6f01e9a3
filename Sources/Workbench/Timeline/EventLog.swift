package import ArbiterProtocol

/// A line of a log that `run --json`, `shell --json` and `watch --json` write, and `timeline --from` reads.
///
///     {"moment":12345,"app":"photos","sequence":1,"decision":7,"event":"DidStartRunning","grant":3}
///     {"moment":12345,"fact":"note","text":"place photos fullscreen focused"}
///
/// `moment` is nanoseconds of CLOCK_MONOTONIC; an event's other members have the names of `org.camarb.Session1`, and are null
/// where they are unknown.
package enum LogEntry: Hashable, Sendable {
    case event(Moment, app: String, SessionSignal)
    case fact(Moment, TimelineFact)

    package var moment: Moment {
        switch self {
        case .event(let moment, _, _), .fact(let moment, _): moment
        }
    }

    package var json: JSON {
        let head = JSON.object(["moment": .integer(moment.nanoseconds)])
        switch self {
        case .event(_, let app, let signal):
            let members = head.adding(["app": .string(app), "event": .string(signal.event.wireName)]).members ?? []
            let names = Interface.session.signal(signal.event.wireName)?.carries.map(\.name) ?? []
            let arguments = signal.event.wireArguments(sequence: signal.sequence, decision: signal.decision)
            return .object(members + zip(names, arguments).map { .init(key: $0, value: $1.knownJSON) })
        case .fact(_, let fact):
            switch fact {
            case .appeared(let lane): return head.adding(["fact": .string("appeared"), "app": .string(lane)])
            case .left(let lane): return head.adding(["fact": .string("left"), "app": .string(lane)])
            case .holder(let camera, let holder):
                return head.adding(["fact": .string("holder"), "camera": .string(camera), "holder": .optional(holder)])
            case .deadline(let camera, let kind, let due):
                return head.adding([
                    "fact": .string("deadline"), "camera": .string(camera), "kind": .string(kind.rawValue),
                    "due": due.map { .integer($0.nanoseconds) } ?? .null,
                ])
            case .note(let text): return head.adding(["fact": .string("note"), "text": .string(text)])
            }
        }
    }

    package init?(json: JSON) throws(BrokerError) {
        func text(_ key: String) -> String { json[key]?.string ?? "" }
        guard let nanoseconds = json["moment"]?.integer else { return nil }
        let moment = Moment(nanoseconds: nanoseconds)
        switch json["fact"]?.string {
        case "appeared": self = .fact(moment, .appeared(lane: text("app")))
        case "left": self = .fact(moment, .left(lane: text("app")))
        case "holder": self = .fact(moment, .holder(camera: text("camera"), json["holder"]?.string))
        case "deadline":
            guard let kind = Timeline.Deadline.Kind(rawValue: text("kind")) else {
                throw BrokerError(
                    .invalidArguments,
                    "“\(text("kind"))” is not a kind of deadline: those are lease and confirmation.")
            }
            let due = json["due"]?.integer.map { Moment(nanoseconds: $0) }
            self = .fact(moment, .deadline(camera: text("camera"), kind, due: due))
        case "note": self = .fact(moment, .note(text("text")))
        case _?: return nil
        case nil:
            guard let member = json["event"]?.string, let app = json["app"]?.string else { return nil }
            self = .event(moment, app: app, try Self.signal(member, json))
        }
    }

    private static func signal(_ member: String, _ json: JSON) throws(BrokerError) -> SessionSignal {
        guard let signal = Interface.session.signal(member) else {
            throw BrokerError(.invalidArguments, "“\(member)” is not an event of a session.")
        }
        var arguments: [WireValue] = []
        for argument in signal.carries {
            guard let value = json[argument.name].flatMap({ WireValue(json: $0, type: argument.type) }) else {
                throw BrokerError(
                    .invalidArguments,
                    "\(member): “\(argument.name)” is missing, or not of D-Bus type \(argument.type).")
            }
            arguments.append(value)
        }
        return try SessionSignal(
            signal: WireSignal(path: "", interface: InterfaceName.session, member: member, arguments: arguments))
    }
}

extension TimelineBuilder {
    package mutating func note(_ entry: LogEntry) {
        switch entry {
        case .event(let moment, let app, let signal): note(signal.event, lane: app, at: moment)
        case .fact(let moment, let fact): note(fact, at: moment)
        }
    }
}

extension Timeline {
    /// The picture goes on a little beyond the last event, so that its effect shows.
    package init(_ entries: [LogEntry]) {
        var builder = TimelineBuilder()
        for entry in entries { builder.note(entry) }
        let whole = builder.timeline()
        self = builder.timeline(until: whole.end + max(whole.duration / 25, .milliseconds(100)))
    }
}

extension LiveTimeline {
    package mutating func note(_ entry: LogEntry) -> [String] {
        switch entry {
        case .event(let moment, let app, let signal): note(signal.event, lane: app, at: moment)
        case .fact(let moment, let fact): note(fact, at: moment)
        }
    }
}

extension DecidedPart {
    /// Its entry in a log and a picture; nil where they have its consequences.
    package func entry(of decision: DecisionID, at moment: Moment) -> LogEntry? {
        switch self {
        case .event(let event, let about, let note, _):
            TimelineFact(event: event, about: about, note: note).map { .fact(moment, $0) }
        case .notice(let app, _, let signal): .event(moment, app: app, signal)
        case .refused(let error, let rule): .fact(moment, .note("refused \(error.kind.shortName) because \(rule)"))
        case .other: nil
        }
    }
}

extension TimelineFact {
    /// An event's fact, by its name; nil where a picture has its consequences.
    package init?(event: String, about: String?, note: String?) {
        switch (event, about) {
        case ("created", let session?): self = .appeared(lane: session)
        case ("closed", let name?), ("disconnected", let name?): self = .left(lane: name)
        default:
            guard let note else { return nil }
            self = .note(note)
        }
    }
}
