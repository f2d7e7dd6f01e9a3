import Arbiter
import EventTable
import JSONText

/// Events as members of a line: `"event":"startRunning","session":3`. `docs/trace.md` has the table, and `EventTable` makes it.
extension Event {
    init(_ fields: inout TraceFields) throws(LineFault) {
        let kind: EventKind = try fields.word("event")
        self = try EventDescription.of(kind).read(&fields)
    }
}

extension LineMembers {
    mutating func add(_ event: Event) {
        add("event", .string(event.kind.rawValue))
        add(event.described.values(of: event))
    }
}

extension Effect {
    /// `{"effect":"cut","camera":"back","grant":3,"why":"interrupted"}`
    var traceJSON: JSON {
        var line = LineMembers([("effect", .string(kind.rawValue))])
        line.add(values)
        return .object(line.members)
    }
}
