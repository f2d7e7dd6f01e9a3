package import ArbiterProtocol

/// A line of a log that `run --json`, `shell --json` and `watch --json` write, and `timeline --from` reads.
///
///     {"moment":12345,"app":"photos","sequence":1,"decision":7,"event":"DidStartRunning","grant":3}
///     {"moment":12345,"fact":"note","text":"place photos fullscreen focused"}
///
/// `moment` is nanoseconds of CLOCK_MONOTONIC; an event's other members have the names of `org.camarb.Session1`, and are null where
/// nobody knows them.
package enum LogEntry: Hashable, Sendable {
    case event(Moment, app: String, SessionSignal)
    case fact(Moment, TimelineFact)

    package var moment: Moment {
        switch self {
        case .event(let moment, _, _), .fact(let moment, _): moment
        }
    }

    package var json: JSON {
        switch self {
        case .event(let moment, let app, let signal):
            var members: [JSON.Member] = [
                .init(key: "moment", value: .integer(moment.nanoseconds)), .init(key: "app", value: .string(app)),
                .init(key: "event", value: .string(signal.event.wireName)),
            ]
            let names = Interface.session.signal(signal.event.wireName)?.carries.map(\.name) ?? []
            let arguments = signal.event.wireArguments(sequence: signal.sequence, decision: signal.decision)
            for (name, argument) in zip(names, arguments) {
                members.append(.init(key: name, value: argument.knownJSON))
            }
            return .object(members)
        case .fact(let moment, let fact):
            let json = JSON.object(["moment": .integer(moment.nanoseconds)])
            switch fact {
            case .appeared(let lane): return json.adding(["fact": .string("appeared"), "app": .string(lane)])
            case .left(let lane): return json.adding(["fact": .string("left"), "app": .string(lane)])
            case .holder(let camera, let holder):
                return json.adding(["fact": .string("holder"), "camera": .string(camera), "holder": .optional(holder)])
            case .deadline(let camera, let kind, let due):
                return json.adding([
                    "fact": .string("deadline"), "camera": .string(camera), "kind": .string(kind.rawValue),
                    "due": due.map { .integer($0.nanoseconds) } ?? .null,
                ])
            case .note(let text): return json.adding(["fact": .string("note"), "text": .string(text)])
            }
        }
    }

    package init?(json: JSON) throws(BrokerError) {
        guard let nanoseconds = json["moment"]?.integer else { return nil }
        let moment = Moment(nanoseconds: nanoseconds)
        if let fact = json["fact"]?.string {
            switch fact {
            case "appeared": self = .fact(moment, .appeared(lane: json["app"]?.string ?? ""))
            case "left": self = .fact(moment, .left(lane: json["app"]?.string ?? ""))
            case "holder": self = .fact(moment, .holder(camera: json["camera"]?.string ?? "", json["holder"]?.string))
            case "deadline":
                guard let kind = Timeline.Deadline.Kind(rawValue: json["kind"]?.string ?? "") else {
                    throw BrokerError(
                        .invalidArguments,
                        "“\(json["kind"]?.string ?? "")” is no kind of deadline: those are lease and confirmation.")
                }
                self = .fact(
                    moment,
                    .deadline(
                        camera: json["camera"]?.string ?? "", kind,
                        due: json["due"]?.integer.map { Moment(nanoseconds: $0) }))
            case "note": self = .fact(moment, .note(json["text"]?.string ?? ""))
            default: return nil
            }
            return
        }
        guard let member = json["event"]?.string, let app = json["app"]?.string else { return nil }
        guard let signal = Interface.session.signal(member) else {
            throw BrokerError(.invalidArguments, "“\(member)” is no event of a session.")
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
        let read = try SessionSignal(
            signal: WireSignal(path: "", interface: InterfaceName.session, member: member, arguments: arguments))
        self = .event(moment, app: app, read)
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
    /// The picture goes on a little beyond the last event, so that what it led to shows.
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
    /// What a log and a picture have of it; nil where they have it by its consequences.
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
    /// What a picture shows of an event by its name; nil for what it shows by its consequences.
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
