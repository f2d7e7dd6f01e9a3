/// One part of a policy, by the words its file has for it: what a place, or a comment, is about.
public struct PolicyPart: Hashable, Sendable {
    /// What it stands in, in a word, for programs: the table whose key it is, "" at the top; or, for what has a name of its
    /// own, `rule`, `attribute`, `mode`, `camera` or `statement`.
    public let table: String
    /// The key, the rule's name, or the id.
    public let name: String

    /// Nil for a word of a later version.
    public init?(table: String, name: String) {
        guard table.isEmpty || PolicyTable.all.contains(where: { $0.part == table }) else { return nil }
        self.init(of: table, name)
    }

    init(of table: String, _ name: String) { (self.table, self.name) = (table, name) }

    /// A key at the top of the file.
    public static func top(_ key: String) -> PolicyPart { PolicyPart(of: "", key) }
    public static func access(_ key: String) -> PolicyPart { PolicyPart(of: "access", key) }
    public static func contention(_ key: String) -> PolicyPart { PolicyPart(of: "contention", key) }
    /// A rule of either kind. No two rules share a name.
    public static func rule(_ name: String) -> PolicyPart { PolicyPart(of: "rule", name) }
    public static func statement(_ name: String) -> PolicyPart { PolicyPart(of: "statement", name) }
    public static func camera(_ id: String) -> PolicyPart { PolicyPart(of: "camera", id) }
}
