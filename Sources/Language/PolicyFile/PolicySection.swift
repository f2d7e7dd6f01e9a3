import Arbiter
import TomlFile
public import Vocabulary

public struct PolicySection: Sendable {
    package let table: PolicyTable
    /// Tells one of several tables apart; `nil` where there is one.
    public let name: String?
    public private(set) var pairs: [PolicyWriter.Pair]
    let statement: Statement?

    /// In the order in which they are written.
    public static func all(of policy: Policy) -> [PolicySection] {
        let usual = Policy(name: "")
        func section<Owner>(
            _ name: String, _ keys: [Key<Owner>], _ owner: Owner, usual: Owner, named identity: String? = nil
        ) -> PolicySection {
            let pairs = keys.compactMap { key in
                key.written(owner, policy).map {
                    PolicyWriter.Pair(key.name, $0, isUsual: key.isSame(owner, usual))
                }
            }
            return PolicySection(name, named: identity, pairs)
        }
        var all = [section("", PolicyKeys.top, policy, usual: usual)]
        all.append(section("access", PolicyKeys.access, policy.rights, usual: Rights()))
        all += policy.attributes.map {
            let usual = Attribute(name: "", values: $0.values)
            return section("attribute", PolicyKeys.attribute, $0, usual: usual, named: $0.name)
        }
        all += policy.modes.map { section("mode", PolicyKeys.mode, $0, usual: Mode(name: ""), named: $0.name) }
        all += policy.causeRules.map { rule in
            var section = section("cause", PolicyKeys.cause, rule, usual: .unsaid, named: rule.name)
            // In its long form it takes the rest of the table, so it is last.
            let place = section.pairs.firstIndex { $0.key == "when" } ?? 0
            section.pairs.append(section.pairs.remove(at: place))
            section.pairs[section.pairs.count - 1].facts = rule.when
            return section
        }
        all += policy.rankRules.map { rule in
            var section = section(
                "rank", PolicyKeys.rank, rule, usual: RankRule(name: "", rank: -1), named: rule.name)
            if rule.deny { section.pairs.removeAll { !RankRule.keysOfDenials.contains($0.key) } }
            section.pairs.insert(contentsOf: rule.when.map { PolicyWriter.Pair($0) }, at: 1)
            return section
        }
        all.append(section("pressure", PolicyKeys.pressure, policy.pressure, usual: .usual))
        all.append(section("contention", PolicyKeys.contention, policy.contention, usual: Contention()))
        for (name, keys) in [("shell", PolicyKeys.shell), ("agent", PolicyKeys.agent)] {
            all += [section(name, keys, policy, usual: usual)].filter { !$0.pairs.isEmpty }
        }
        all += policy.cameras.map { camera in
            section(
                "camera", PolicyKeys.camera, camera, usual: CameraRule(camera: CameraID("")), named: camera.camera.name)
        }
        return all
            + policy.statements.map { statement in
                let name = statement.isNever ? "never" : "always"
                return PolicySection(name, named: statement.name, PolicyWriter.pairs(statement), statement)
            }
    }

    private init(
        _ table: String, named name: String?, _ pairs: [PolicyWriter.Pair], _ statement: Statement? = nil
    ) {
        self.table = PolicyTable.named(table) ?? .top
        (self.name, self.pairs, self.statement) = (name, pairs, statement)
    }

    /// Without defaults, where there is one such table.
    package var said: PolicySection {
        var said = self
        if name == nil { said.pairs.removeAll(where: \.isUsual) }
        return said
    }

    public var header: String { table.header }
    /// Over it where a policy is shown.
    public var title: String { table.title }

    /// The part of a comment or place of the table; `nil` where each of its keys is a part.
    public var part: PolicyPart? { name.map { PolicyPart(of: table.part, $0) } }
    public func part(of pair: PolicyWriter.Pair) -> PolicyPart { part ?? PolicyPart(of: table.name, pair.key) }
}
