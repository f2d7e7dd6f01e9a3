/// A place in the order of what happened: requests, claims and grants are compared by it.
///
/// Only the order counts, never the number; exploration renumbers ordinals from 1 before it hashes.
struct Ordinal: Hashable, Comparable, Codable {
    var value: UInt64
    static func < (a: Ordinal, b: Ordinal) -> Bool { a.value < b.value }
}
