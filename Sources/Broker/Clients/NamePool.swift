/// Names in use, each once: `photos`, `photos-2`, `photos-3`, the smallest number that is free.
///
/// Finding one costs a look for each that has the same word, and never a walk over all names: with thousands of sessions
/// such walks were most of what creating one cost.
package struct NamePool: Sendable {
    private var taken: Set<String> = []

    package init() {}

    /// The name, or where it is taken the name with a number behind it.
    package mutating func take(_ wanted: String) -> String {
        var name = wanted
        var count = 2
        while !taken.insert(name).inserted {
            name = "\(wanted)-\(count)"
            count += 1
        }
        return name
    }

    /// Does nothing for a name that is not taken.
    package mutating func give(back name: String) { taken.remove(name) }
}
