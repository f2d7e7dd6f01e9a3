import EventTable
import JSONText

/// Members of a line, in the order in which they are added.
struct LineMembers {
    private(set) var members: [JSON.Member]

    init(_ pairs: [(String, JSON)] = []) { members = pairs.map { JSON.Member(key: $0.0, value: $0.1) } }

    mutating func add(_ key: String, _ value: JSON) { members.append(JSON.Member(key: key, value: value)) }
    mutating func add(_ values: EventValues) { members += values.members }
}
