package import ArbiterProtocol

/// A line of a log that `run --json`, `shell --json` and `watch --json` write, and `timeline --from` reads.
///
///     {"moment":12345,"app":"photos","sequence":1,"decision":7,"event":"DidStartRunning","grant":3}
///     {"moment":12345,"fact":"note","text":"place photos fullscreen focused"}
///
/// `moment` is nanoseconds of CLOCK_MONOTONIC; an event's other members have the names of `org.camarb.Session1`.
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
            for (name, argument) in zip(names, arguments) { members.append(.init(key: name, value: argument.json)) }
            return .object(members)
        case .fact(let moment, let fact):
            let json = JSON.object(["moment": .integer(moment.nanoseconds)])
            switch fact {
            case .appeared(let lane): return json.adding(["fact": .string("appeared"), "app": .string(lane)])
            case .left(let lane): return json.adding(["fact": .string("left"), "app": .string(lane)])
            case .holder(let camera, let holder):
                return json.adding([
                    "fact": .string("holder"), "camera": .string(camera), "holder": .optional(holder),
                ])
            case .note(let text): return json.adding(["fact": .string("note"), "text": .string(text)])
            }
        }
    }

    /// Nil for lines that say something else, such as a command's outcome.
    /// - Throws: for a line that should be an event and is none.
    package init?(json: JSON) throws(BrokerError) {
        guard let nanoseconds = json["moment"]?.integer else { return nil }
        let moment = Moment(nanoseconds: nanoseconds)
        if let fact = json["fact"]?.string {
            switch fact {
            case "appeared": self = .fact(moment, .appeared(lane: json["app"]?.string ?? ""))
            case "left": self = .fact(moment, .left(lane: json["app"]?.string ?? ""))
            case "holder":
                self = .fact(moment, .holder(camera: json["camera"]?.string ?? "", json["holder"]?.string))
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

extension LiveTimeline {
    package mutating func note(_ entry: LogEntry) -> [String] {
        switch entry {
        case .event(let moment, let app, let signal): note(signal.event, lane: app, at: moment)
        case .fact(let moment, let fact): note(fact, at: moment)
        }
    }
}

extension WireValue {
    package var json: JSON {
        switch self {
        case .boolean(let flag): .bool(flag)
        case .int32, .uint32, .int64: .integer(int64 ?? 0)
        case .uint64(let number): .count(number)
        case .double(let number): .number(number)
        case .string(let text), .objectPath(let text): .string(text)
        case .fileDescriptor(let number): .integer(Int64(number))
        case .array(_, let values): .array(values.map(\.json))
        case .dictionary(let dictionary): dictionary.json
        }
    }

    /// A value of D-Bus type `type`, as far as session events have such types.
    package init?(json: JSON, type: String) {
        switch (type, json) {
        case ("b", .bool(let flag)): self = .boolean(flag)
        case ("s", .string(let text)): self = .string(text)
        case ("t", .integer(let number)):
            guard let number = UInt64(exactly: number) else { return nil }
            self = .uint64(number)
        case ("u", .integer(let number)):
            guard let number = UInt32(exactly: number) else { return nil }
            self = .uint32(number)
        case ("x", .integer(let number)): self = .int64(number)
        case ("d", _):
            guard let number = json.number else { return nil }
            self = .double(number)
        case ("as", .array(let values)):
            let strings = values.compactMap(\.string)
            guard strings.count == values.count else { return nil }
            self = .strings(strings)
        case ("a{sv}", .object(let members)):
            var dictionary = WireDictionary()
            for member in members {
                switch member.value {
                case .bool(let flag): dictionary[member.key] = .boolean(flag)
                case .integer(let number): dictionary[member.key] = .int64(number)
                case .number(let number): dictionary[member.key] = .double(number)
                case .string(let text): dictionary[member.key] = .string(text)
                case .null, .array, .object: return nil
                }
            }
            self = .dictionary(dictionary)
        default: return nil
        }
    }
}

extension WireDictionary {
    package var json: JSON { .object(entries.map { JSON.Member(key: $0.key, value: $0.value.json) }) }
}
