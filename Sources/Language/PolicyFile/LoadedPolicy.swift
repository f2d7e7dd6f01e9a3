import Arbiter
public import ArbiterProtocol
import TomlFile

/// A policy, and where each part of it was written.
public struct LoadedPolicy: Sendable {
    public var policy: Policy
    /// In the order in which they count: a later one stands on those before it.
    public var files: [String]
    /// The place of each part in the files; missing parts have their defaults.
    public var origins: [PolicyPart: Origin]

    /// In the order of the files, not of a hash.
    public var sortedOrigins: [(part: PolicyPart, origin: Origin)] {
        origins.map { (part: $0.key, origin: $0.value) }.sorted { a, b in
            let (first, second) = (files.firstIndex(of: a.origin.file) ?? 0, files.firstIndex(of: b.origin.file) ?? 0)
            // Several parts on one line: an array of inline tables.
            return (first, a.origin.line, a.part.table, a.part.name) < (
                second, b.origin.line, b.part.table, b.part.name
            )
        }
    }

    public struct Origin: Hashable, Sendable {
        public var file: String
        /// From 1.
        public var line: Int

        public init(file: String, line: Int) { (self.file, self.line) = (file, line) }
    }

    init(_ policy: Policy, _ root: TomlTable, _ problems: ProblemList, files: [String]) {
        self.policy = policy
        self.files = files
        origins = [:]
        for (part, place) in root.parts { origins[part] = Origin(file: problems.file(of: place), line: place.line) }
    }
}

extension TomlTable {
    /// The parts of a policy in it, with their beginnings.
    var parts: [(part: PolicyPart, place: Place)] {
        entries.flatMap { entry -> [(PolicyPart, Place)] in
            let known = PolicyTable.all.first { $0.name == entry.key }
            switch (known?.identity, entry.node.value) {
            case (nil, .table(let table)) where known != nil:
                return table.entries.map { (PolicyPart(of: entry.key, $0.key), $0.keyPlace) }
            case (let identity?, .array(let nodes)):
                return nodes.compactMap { node in
                    guard let known, case .table(let table) = node.value, let name = node.text(of: identity) else {
                        return nil
                    }
                    return (PolicyPart(of: known.part, name), table.place)
                }
            default: return [(.top(entry.key), entry.keyPlace)]
            }
        }
    }
}
