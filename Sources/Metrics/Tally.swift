/// How often each of a bounded number of things happened, such as interruptions of each cause.
///
/// The things are named by policies and cameras, whose names change with every reload: the first `namesMax` have a count of
/// their own, and all further ones share one.
public struct Tally: Hashable, Sendable {
    private var counts: [String: UInt64] = [:]

    /// A policy with a hundred rules is a large one; each name is a line of every answer.
    public static let namesMax = 128
    /// What names beyond the bound are counted as.
    public static let others = "others"

    public init() {}

    public mutating func note(_ name: String, _ times: UInt64 = 1) {
        if counts[name] == nil && counts.count >= Self.namesMax {
            counts[Self.others, default: 0] += times
        } else {
            counts[name, default: 0] += times
        }
    }

    /// By name, so that two texts of the same counts are the same.
    public var sorted: [(name: String, count: UInt64)] {
        counts.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    public subscript(_ name: String) -> UInt64 { counts[name] ?? 0 }

    public mutating func add(_ other: Tally) {
        for (name, count) in other.sorted { note(name, count) }
    }
}
