import Arbiter
import ArbiterProtocol

/// Which values of its attributes a small world needs.
extension PolicyReads {
    /// Each declared attribute that is read, with every value that can change an outcome among so many apps. The value
    /// that holds for an app which was told nothing is nil: such an app is told to be forgotten.
    ///
    /// Where only rules read it: those that they name, and one that none of them names, or the attribute would never
    /// change. Where the order compares it, too: of each run of values that no rule names as many as there are apps, so
    /// that each app may have one of its own.
    func attributes(among apps: Int) -> [(name: String, values: [String?])] {
        var found: [(name: String, values: [String?])] = []
        for name in unique(policies.flatMap(\.attributes).map(\.name)) {
            let named = tests.compactMap { test in
                if case .attribute(name, let value) = test { value } else { nil }
            }
            let isOrdered = order.contains(.attribute(name))
            guard isOrdered || !named.isEmpty else { continue }
            var values: [String?] = []
            let declared = policies.flatMap(\.attributes).filter { $0.name == name }
            let isOneDefault = unique(declared.map(\.defaultValue)).count == 1
            for attribute in declared {
                let chosen = Self.values(of: attribute, named, ownValues: isOrdered ? apps : nil)
                values += chosen.map { isOneDefault && $0 == attribute.defaultValue ? nil : $0 }
            }
            if !isOneDefault { values.append(nil) }
            found.append((name, unique(values)))
        }
        return found
    }

    /// - Parameter ownValues: how many apps are to have values of their own; nil: the order does not compare them.
    private static func values(of attribute: Attribute, _ named: [String], ownValues: Int?) -> [String] {
        guard let ownValues else {
            let other = named.contains(attribute.defaultValue) ? attribute.values.first { !named.contains($0) } : nil
            return attribute.values.filter { named.contains($0) || $0 == attribute.defaultValue || $0 == other }
        }
        var chosen: [String] = []
        for run in attribute.values.split(whereSeparator: named.contains) {
            // The ends, and the default where it is one of them; the others from the strongest on.
            var wanted = unique([
                run.first, run.last, run.contains(attribute.defaultValue) ? attribute.defaultValue : nil,
            ])
            .compactMap { $0 }
            wanted += run.filter { !wanted.contains($0) }.prefix(max(0, ownValues - wanted.count))
            chosen += wanted
        }
        return attribute.values.filter { named.contains($0) || chosen.contains($0) }
    }
}
