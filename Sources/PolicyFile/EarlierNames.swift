import TomlFile

/// Keys that had another name once. Policies of those days still read, and say the same.
enum EarlierNames {
    /// Of rank rules and of facts: each earlier name and the one of today. Nobody can declare an attribute by either.
    static let rules = ["claim": "bid", "override": "immediate"]
}

extension TomlTable {
    /// The table with today's names for its keys. Where a key stands there by both names, the earlier one is a problem.
    func underTodaysNames(_ problems: ProblemList) -> TomlTable {
        var table = self
        for (index, entry) in entries.enumerated() {
            guard let name = EarlierNames.rules[entry.key] else { continue }
            if entries.contains(where: { $0.key == name }) {
                problems.add(
                    "\(Wording.quoted(entry.key)) is the earlier name of \(Wording.quoted(name)), and both are given",
                    at: entry.keyPlace, hint: "leave it out")
            }
            table.entries[index].key = name
        }
        return table
    }
}
