/// A part of a policy, by the words of its file, for places and comments.
public struct PolicyPart: Hashable, Sendable {
    /// The table of a key, `""` at the top; or, for a part with a name of its own, `rule`, `attribute`, `mode`,
    /// `camera` or `statement`.
    public let table: String
    /// The key, the rule's name, or the id.
    public let name: String

    /// `nil` for a word of a later version.
    public init?(table: String, name: String) {
        guard table.isEmpty || PolicyTable.all.contains(where: { $0.part == table }) else { return nil }
        self.init(of: table, name)
    }

    init(of table: String, _ name: String) { (self.table, self.name) = (table, name) }

    public static func top(_ key: String) -> PolicyPart { PolicyPart(of: "", key) }
    public static func access(_ key: String) -> PolicyPart { PolicyPart(of: "access", key) }
    public static func contention(_ key: String) -> PolicyPart { PolicyPart(of: "contention", key) }
    /// No two rules of either kind share a name.
    public static func rule(_ name: String) -> PolicyPart { PolicyPart(of: "rule", name) }
    public static func statement(_ name: String) -> PolicyPart { PolicyPart(of: "statement", name) }
    public static func camera(_ id: String) -> PolicyPart { PolicyPart(of: "camera", id) }
}
