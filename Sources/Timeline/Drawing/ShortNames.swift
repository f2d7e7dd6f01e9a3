/// Names for a narrow place: each as it is if it fits, else without the part that all with a point begin with, else its
/// beginning; an ellipsis stands for what is left out, and no two are the same.
struct ShortNames {
    private let long: [String]
    /// Without the part that tells nothing: `…photos` for `org.example.photos`.
    private var told: [String] = []
    private var short: [String] = []

    init(_ names: [String], columns: Int) {
        long = names
        let common = Self.commonBeginning(Set(names.filter { $0.contains(".") }).sorted())
        for (index, name) in names.enumerated() {
            let told = name.hasPrefix(common) && !common.isEmpty ? "…" + name.dropFirst(common.count) : name
            self.told.append(told)
            var candidate = name.columns <= columns ? name : told.fitted(columns)
            // What begins alike and is cut alike is told apart by the number of its lane.
            let known = names.firstIndex(of: name) ?? index
            if candidate != name,
                short.enumerated().contains(where: { $0.element == candidate && long[$0.offset] != name })
                    || (candidate != name && names.contains(candidate))
            {
                candidate = "\(known + 1)\(told.fitted(max(1, columns - "\(known + 1)".count)))".fitted(columns)
            }
            short.append(candidate)
        }
    }

    subscript(index: Int) -> String { short[index] }

    /// The name without what many begin with, if it is one of these names.
    func told(_ name: String) -> String { long.firstIndex(of: name).map { told[$0] } ?? name }

    /// Those that are shorter than the name they stand for, each once.
    var shortened: [(short: String, name: String)] {
        var found: [(short: String, name: String)] = []
        for (short, name) in zip(short, long) where short != name && !found.contains(where: { $0.name == name }) {
            found.append((short, name))
        }
        return found
    }

    /// Up to and with a point, of two names at least.
    private static func commonBeginning(_ names: [String]) -> String {
        guard let first = names.first, let last = names.last, names.count > 1 else { return "" }
        // They are sorted: what the first and the last share, all share.
        let shared = zip(first, last).prefix { $0 == $1 }.map(\.0)
        guard let point = shared.lastIndex(of: ".") else { return "" }
        return String(shared[...point])
    }
}
