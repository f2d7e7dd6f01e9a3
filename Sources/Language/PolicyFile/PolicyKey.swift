import Arbiter
public import ArbiterProtocol

/// A key of the policy language, with the table that it stands in.
public struct PolicyKey: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// As in its header, without brackets; `""` for the top of the file.
    public let table: String
    public let name: String

    public init(_ table: String, _ name: String) { (self.table, self.name) = (table, name) }

    /// Such as `contention.tie`, or `sources`.
    public var description: String { table.isEmpty ? name : "\(table).\(name)" }

    /// - Parameter words: as in `description`.
    public init(spoken words: some StringProtocol) {
        let parts = words.split(separator: ".", maxSplits: 1)
        self.init(parts.count == 2 ? String(parts[0]) : "", String(parts.last ?? ""))
    }

    public static func < (a: PolicyKey, b: PolicyKey) -> Bool { (a.table, a.name) < (b.table, b.name) }
}

extension PolicyKey {
    /// `nil` for an attribute, or an unknown key.
    package var walk: WalkedAs? {
        PolicyTable.named(table)?.keys.first { $0.name == name }?.walk
            ?? (table == "rank" ? Fact.all.first { $0.name == name }?.walk : nil)
    }
}

extension PolicyFile {
    /// Every key that the reader takes, in the order of the tables.
    public static let language: [PolicyKey] = ([.top] + PolicyTable.all).flatMap { table in
        table.names.filter { !table.name.isEmpty || PolicyTable.named($0) == nil }.map { PolicyKey(table.name, $0) }
    }

    /// Their names, each once: `docs/policy.md` shows each.
    package static var keys: [String] { language.map(\.name).eachOnce }
}

extension Policy {
    private typealias SaidLine = (key: PolicyKey, line: String)

    private static func lines(_ sections: [PolicySection]) -> [SaidLine] {
        sections.flatMap { section in
            section.pairs.map { (PolicyKey(section.table.name, $0.key), section.table.header + $0.line) }
        }
    }

    /// The keys of the policy that can decide something: without names, statements and defaults.
    public var decidingKeys: Set<PolicyKey> { Set(Self.lines(hashedSections).map(\.key)) }

    /// All keys of the policy, without defaults.
    public var saidKeys: Set<PolicyKey> { Set(Self.lines(PolicySection.all(of: self).map(\.said)).map(\.key)) }

    /// The keys by which two policies differ in their decisions. Where all lines are the same in another order, the
    /// keys of the tables that are in another place.
    public func keysThatDiffer(from other: Policy) -> Set<PolicyKey> {
        let (own, others) = (Self.lines(hashedSections), Self.lines(other.hashedSections))
        func more(_ lines: [SaidLine], than others: [SaidLine]) -> [PolicyKey] {
            var rest = others.map(\.line)
            return lines.filter { said in
                guard let place = rest.firstIndex(of: said.line) else { return true }
                rest.remove(at: place)
                return false
            }.map(\.key)
        }
        let found = Set(more(own, than: others) + more(others, than: own))
        return found.isEmpty ? Set(zip(own, others).filter { $0.line != $1.line }.map(\.0.key)) : found
    }
}
