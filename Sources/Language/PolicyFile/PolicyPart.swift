/// One part of a policy, by the words its file has for it: what a place, or a comment, is about.
public enum PolicyPart: Hashable, Sendable {
    /// A key at the top of the file, such as `ranks`.
    case top(String)
    /// A key of `[access]`.
    case access(String)
    /// An `[[attribute]]`, by its name.
    case attribute(String)
    /// A `[[mode]]`, by its name.
    case mode(String)
    /// A key of `[pressure]`.
    case pressure(String)
    /// A key of `[contention]`.
    case contention(String)
    /// A key of `[shell]` or `[agent]`, which is the table.
    case speaker(table: String, key: String)
    /// A rule of either kind. No two rules share a name.
    case rule(String)
    /// A `[[camera]]`, by its id.
    case camera(String)
    /// A `[[never]]` or `[[always]]`, by its name. No two statements share one.
    case statement(String)

    /// What the part stands in, in a word, for programs: "", `access`, `attribute`, `mode`, `pressure`, `contention`, `shell`, `agent`, `rule`,
    /// `camera` or `statement`.
    public var table: String {
        switch self {
        case .top: ""
        case .access: "access"
        case .pressure: "pressure"
        case .contention: "contention"
        case .speaker(let table, _): table
        case .rule: "rule"
        case .attribute: "attribute"
        case .mode: "mode"
        case .camera: "camera"
        case .statement: "statement"
        }
    }

    /// The key, the rule's name, or the id.
    public var name: String {
        switch self {
        case .top(let key), .access(let key), .pressure(let key), .contention(let key), .speaker(_, let key): key
        case .rule(let name), .camera(let name), .attribute(let name), .mode(let name), .statement(let name): name
        }
    }

    /// The part that a table's word and a name stand for; nil for a word of a later version.
    public init?(table: String, name: String) {
        switch table {
        case "": self = .top(name)
        case "pressure": self = .pressure(name)
        case "contention": self = .contention(name)
        case "shell", "agent": self = .speaker(table: table, key: name)
        case "rule": self = .rule(name)
        case "access": self = .access(name)
        case "attribute": self = .attribute(name)
        case "mode": self = .mode(name)
        case "camera": self = .camera(name)
        case "statement": self = .statement(name)
        default: return nil
        }
    }
}
