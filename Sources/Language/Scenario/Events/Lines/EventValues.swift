import Arbiter
package import ArbiterProtocol

/// The values of an event or an effect. A trace has all of them, and `null` where there is none; a dictionary on the
/// wire has only the existing values that a subscriber may have.
package struct EventValues: Sendable {
    package enum Reach: Sendable {
        case everybody
        /// It is long, or secret: only a replay needs it.
        case trace
        /// The short form of a value that only traces have in full.
        case subscribers
    }

    package struct Entry: Sendable {
        package var key: String
        package var value: WireValue?
        package var reach: Reach
    }

    package private(set) var entries: [Entry] = []

    package init(capacity count: Int = 8) { entries.reserveCapacity(count) }

    package mutating func add(_ key: String, _ value: WireValue?, for reach: Reach = .everybody) {
        entries.append(Entry(key: key, value: value, reach: reach))
    }

    package var members: [JSON.Member] {
        var members: [JSON.Member] = []
        members.reserveCapacity(entries.count)
        for entry in entries where entry.reach != .subscribers {
            members.append(JSON.Member(key: entry.key, value: entry.value?.exactJSON ?? .null))
        }
        return members
    }

    package func write(to wire: inout WireDictionary) {
        for entry in entries where entry.reach != .trace {
            if let value = entry.value { wire.append(entry.key, value) }
        }
    }
}

extension WireValue {
    /// An id beyond JSON's numbers is text, since a trace must replay exactly.
    fileprivate var exactJSON: JSON { if case .uint64(let number) = self { .exact(number) } else { json } }
}

/// Events as members of a line: `"event":"startRunning","session":3` (`docs/trace.md`).
extension Event {
    init(_ fields: inout TraceFields) throws(LineFault) {
        let kind: EventKind = try fields.word("event")
        self = try EventDescription.of(kind).read(&fields)
    }
}

extension [JSON.Member] {
    mutating func add(_ key: String, _ value: JSON) { append(JSON.Member(key: key, value: value)) }
}
