import Arbiter
package import Vocabulary

package struct PolicyTable: Sendable {
    /// As in its header, without brackets; `""` for the top of the file.
    package let name: String
    package var keys: [KeyText] { Self.keys[name] ?? [] }
    /// A broker reads the names of a few tables, and starts without the texts of all.
    private let makeKeys: @Sendable () -> [KeyText]
    private static let keys = Dictionary(uniqueKeysWithValues: ([top] + all).map { ($0.name, $0.makeKeys()) })
    /// The key that tells several such tables apart; `nil` where there is one, merged key by key.
    package let identity: String?
    /// Tables of a later file stand before the earlier ones: the first that matches answers.
    let isOrdered: Bool
    /// The name of its parts: one word for rules of both kinds, and for both kinds of statements.
    let part: String
    package let title: String

    /// A key for documents and walks.
    package struct KeyText: Sendable {
        package let name: String
        package let walk: WalkedAs
        package let takes: String
        package let meaning: String
        package let missing: String
    }

    private init<Owner>(
        _ name: String, _ keys: @autoclosure @escaping @Sendable () -> [Key<Owner>], usual: Owner,
        identity: String? = nil, isOrdered: Bool = false, part: String? = nil, title: String
    ) {
        let texts: @Sendable () -> [KeyText] = {
            keys().map { key in
                let value = key.shown(usual, Policy(name: "")).map { "`\($0.filter { $0 != "\"" })`" }
                return KeyText(
                    name: key.name, walk: key.walk, takes: key.takes, meaning: key.meaning,
                    missing: key.missing ?? value ?? "none")
            }
        }
        self.init(name, texts(), identity: identity, isOrdered: isOrdered, part: part, title: title)
    }

    private init(
        _ name: String, _ keys: @autoclosure @escaping @Sendable () -> [KeyText], identity: String?,
        isOrdered: Bool = false, part: String?, title: String
    ) {
        (self.name, makeKeys, self.identity, self.isOrdered) = (name, keys, identity, isOrdered)
        (self.part, self.title) = (part ?? name, title)
    }

    package static let top = {
        let read = PolicyTable("", PolicyKeys.top, usual: Policy(name: ""), title: "at the top")
        // Includes are read before all other keys.
        return PolicyTable("", [PolicyKeys.include] + read.makeKeys(), identity: nil, part: nil, title: read.title)
    }()

    /// Beside the top, in the order in which they are written.
    package static let all: [PolicyTable] = [
        PolicyTable("access", PolicyKeys.access, usual: Rights(), title: "access: who may use cameras at all"),
        PolicyTable(
            "attribute", PolicyKeys.attribute, usual: Attribute(name: "", values: [""]), identity: "name",
            title: "attributes"),
        PolicyTable(
            "mode", PolicyKeys.mode, usual: Mode(name: ""), identity: "name",
            title: "modes of the whole machine: the first whose calendar holds, unless one was set by hand"),
        PolicyTable(
            "cause", PolicyKeys.cause, usual: CauseRule.unsaid, identity: "name", isOrdered: true, part: "rule",
            title: "cause rules: for each cause the first that matches answers"),
        PolicyTable(
            "rank", PolicyKeys.rank, usual: RankRule(name: "", rank: 0), identity: "name", isOrdered: true,
            part: "rule", title: "rank rules: the first that matches answers"),
        PolicyTable(
            "pressure", PolicyKeys.pressure, usual: .usual,
            title: "pressure: from where on the machine's own figures count as which"),
        PolicyTable("contention", PolicyKeys.contention, usual: Contention(), title: "contention"),
        PolicyTable("shell", PolicyKeys.shell, usual: Policy(name: ""), title: unit("shell")),
        PolicyTable("agent", PolicyKeys.agent, usual: Policy(name: ""), title: unit("agent")),
        PolicyTable(
            "camera", PolicyKeys.camera, usual: CameraRule(camera: CameraID("")), identity: "id", title: "cameras"),
        PolicyTable("never", PolicyKeys.never, identity: "name", part: "statement", title: statements),
        PolicyTable("always", PolicyKeys.always, identity: "name", part: "statement", title: statements),
    ]

    private static let statements = "statements: what the rules are for"
    private static func unit(_ role: String) -> String {
        "the unit that is believed to be the user's \(role), before any other"
    }

    static func named(_ name: String) -> PolicyTable? { name.isEmpty ? top : all.first { $0.name == name } }

    package var header: String { name.isEmpty ? "" : identity == nil ? "[\(name)]" : "[[\(name)]]" }

    /// The keys that a reader takes, attributes apart.
    var names: [String] {
        let own = makeKeys().map(\.name)
        return switch name {
        case "": own + Self.all.map(\.name)
        case "rank": own + Fact.names
        default: own
        }
    }
}

extension CauseRule {
    /// A rule without any keys.
    package static let unsaid = CauseRule(name: "", when: [], cause: .videoDeviceNotAvailableInBackground)
}
