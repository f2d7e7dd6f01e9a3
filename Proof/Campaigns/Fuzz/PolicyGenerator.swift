import Arbiter
package import ArbiterProtocol
package import PolicyFile
import Workbench

/// Random policies over the whole language of policy files, by a seed. Each is written and read back; a policy that the reader refuses is
/// made anew. Rules that never match or that others hide are kept.
package struct PolicyGenerator: Sendable {
    var random: SeededRandom
    private let shares: Bool
    /// Of the current draft.
    var modeNames: [String] = []

    /// A policy that reads back as another one.
    package struct Altered: Error { package let text: String }

    package init(_ random: SeededRandom, shares: Bool = true) {
        self.random = random
        self.shares = shares
    }

    package mutating func policy() throws(Altered) -> Policy {
        while true {
            let policy = draft()
            if try Self.isAccepted(policy) { return policy }
        }
    }

    /// The same policy with one change, as an administrator's reload mostly is.
    mutating func variant(of policy: Policy) throws(Altered) -> Policy {
        while true {
            let other = draft()
            var variant = policy
            switch random.below(9) {
            case 0: variant.sources = other.sources
            case 1: if !variant.causeRules.isEmpty { variant.causeRules.removeLast() }
            case 2: if !variant.rankRules.isEmpty { variant.rankRules.removeFirst() }
            case 3: variant.causeRules = other.causeRules.filter { !$0.readsDeclared }
            case 4: variant.cameras = other.cameras
            case 5: variant.rankRules = random.shuffled(variant.rankRules)
            case 6:
                variant.contention.sharing = other.contention.sharing
                variant.contention.serve = other.contention.serve
                variant.contention.sharers = other.contention.sharers
            case 7: variant.rights = rights()
            default:
                let order = variant.contention.order
                variant.contention = other.contention
                variant.contention.order = order
            }
            if try Self.isAccepted(variant) { return variant }
        }
    }

    /// - Throws: where it reads back as another one.
    private static func isAccepted(_ policy: Policy) throws(Altered) -> Bool {
        let text = PolicyWriter.text(policy)
        guard let read = try? PolicyFile.parse(text, file: "fuzz") else { return false }
        guard read == policy else { throw Altered(text: text) }
        return true
    }

    private mutating func draft() -> Policy {
        var policy = Policy(name: "fuzz")
        vary(PolicyKeys.top, &policy)
        if random.chance(30) { policy.rights = rights() }
        if random.chance(40) { policy.attributes = attributes() }
        if random.chance(25) { policy.modes = modes() }
        modeNames = policy.modes.map(\.name)
        policy.ranks = Array(FuzzNames.ranks.prefix(1 + random.below(FuzzNames.ranks.count)))
        policy.causeRules = causeRules(policy.attributes)
        policy.rankRules = rankRules(policy)
        policy.contention = contention(policy.attributes)
        policy.cameras = cameras()
        // Statements decide nothing: only reading them is tried.
        if random.chance(5) { policy.statements = statements(policy.attributes) }
        // The core does not see these.
        vary(PolicyKeys.shell + PolicyKeys.agent, &policy)
        if random.chance(5) { vary(PolicyKeys.pressure, &policy.pressure) }
        return policy
    }

    private mutating func vary<Owner>(_ keys: [Key<Owner>], _ owner: inout Owner) {
        for key in keys { key.vary(&owner, &random) }
    }

    private mutating func rights() -> Rights {
        func account(_ number: UInt32) -> Rights.Account { Rights.Account(number: number) }
        var rights = Rights()
        vary(PolicyKeys.access, &rights)
        if random.chance(40) { rights.users = random.some([1000, 1001]).map(account) }
        // A name that no machine knows.
        if random.chance(10) { rights.users.append(Rights.Account(name: "mallory", number: nil)) }
        if random.chance(50) { rights.groups = random.some(FuzzNames.groups).map(account) }
        if random.chance(50) { rights.services = random.some(FuzzNames.apps) }
        return rights
    }

    private mutating func modes() -> [Mode] {
        random.some(FuzzNames.modes).map { name in
            var mode = Mode(name: name)
            vary(PolicyKeys.mode, &mode)
            return mode
        }
    }

    private mutating func attributes() -> [Attribute] {
        random.some(Array(FuzzNames.attributes.indices)).map { index in
            let (name, values) = FuzzNames.attributes[index]
            // A policy may lack a value that a case uses.
            let kept = random.chance(70) ? values : random.some(values)
            return Attribute(name: name, values: kept, default: random.chance(50) ? random.pick(kept) : nil)
        }
    }

    private mutating func contention(_ attributes: [Attribute]) -> Contention {
        var contention = Contention()
        let keys = Contention.OrderKey.builtIn + attributes.map { .attribute($0.name) }
        if random.chance(85) { contention.order = Array(random.some(keys).prefix(1 + random.below(4))) }
        vary(PolicyKeys.contention, &contention)
        if !shares { contention.sharing = .none }
        return contention
    }

    private mutating func cameras() -> [CameraRule] {
        guard random.chance(75) else { return [] }
        return random.some(FuzzNames.cameras).map { name in
            let others = FuzzNames.cameras.filter { $0 != name }
            return CameraRule(
                camera: CameraID(name),
                conflicts: random.chance(60) ? random.some(others).map { CameraID($0) } : [], cost: cost())
        }
    }

    private static let costs = [0, 1, 50, 75, 100, 200]

    /// One number, or numbers by formats.
    private mutating func cost() -> CameraCost {
        guard random.chance(35) else { return CameraCost(random.pick(Self.costs)) }
        let formats = random.some(FuzzNames.formats).map { format in
            CameraCost.Format(
                width: format.width, height: format.height, frameRate: Double(format.frameRate),
                pixelFormat: random.chance(40) ? format.pixelFormat : nil, cost: random.pick(Self.costs))
        }
        return CameraCost(formats: formats, other: random.chance(60) ? random.pick(Self.costs) : nil)
    }
}

extension CauseRule {
    /// Whether it reads declarations that another policy lacks.
    fileprivate var readsDeclared: Bool {
        when.contains { test in
            switch test {
            case .attribute, .mode: true
            default: false
            }
        }
    }
}

extension PolicyGenerator {
    mutating func causeRules(_ attributes: [Attribute]) -> [CauseRule] {
        // Without cause rules sessions meet more often.
        let count = random.chance(40) ? 0 : 1 + random.below(4)
        return (0..<count).map { index in
            var rule = CauseRule.unsaid
            (rule.name, rule.when) = ("c\(index)", facts(attributes, emptyPercent: 3))
            vary(PolicyKeys.cause, &rule)
            return rule
        }
    }

    mutating func rankRules(_ policy: Policy) -> [RankRule] {
        var rules: [RankRule] = []
        for index in 0..<random.below(5) {
            rules.append(rankRule("k\(index)", facts(policy.attributes, emptyPercent: 5), policy.ranks))
        }
        // An app without a rule has neither grace nor lease.
        if random.chance(60) { rules.append(rankRule("rest", [], policy.ranks)) }
        return rules
    }

    private mutating func rankRule(_ name: String, _ when: [FactTest], _ ranks: [String]) -> RankRule {
        if random.chance(when.isEmpty ? 1 : 12) {
            // As the reader reads a rule without a rank.
            return RankRule(name: name, when: when, rank: ranks.count - 1, deny: true)
        }
        var rule = RankRule(name: name, when: when, rank: random.below(ranks.count))
        vary(PolicyKeys.rank, &rule)
        return rule
    }

    /// One to three facts, each once.
    mutating func facts(_ attributes: [Attribute], emptyPercent: Int) -> [FactTest] {
        if random.chance(emptyPercent) { return [] }
        var facts: [FactTest] = []
        for _ in 0..<random.pick([1, 1, 2, 2, 3]) {
            let fact = fact(attributes)
            if !facts.contains(where: { $0.written.key == fact.written.key }) { facts.append(fact) }
        }
        return facts
    }

    private mutating func fact(_ attributes: [Attribute]) -> FactTest {
        if !modeNames.isEmpty, random.chance(15) { return .mode(random.chance(20) ? nil : random.pick(modeNames)) }
        if let attribute = attributes.isEmpty ? nil : random.pick(attributes), random.chance(20) {
            return .attribute(attribute.name, random.pick(attribute.values))
        }
        let fact = random.pick(Fact.all.filter { $0.name != "mode" })
        switch fact.name {
        case "app": return .app(random.pick(FuzzNames.apps))
        case "claimed-app": return .claimedApp(random.pick(FuzzNames.apps))
        case "user": return .user(random.pick(FuzzNames.users))
        case "camera": return .camera(CameraID(random.pick(FuzzNames.cameras)))
        default: return random.pick(fact.tests)
        }
    }

    /// In the order of a file.
    mutating func statements(_ attributes: [Attribute]) -> [Statement] {
        var statements: [Statement] = []
        for index in 0..<random.below(3) {
            let players = Statement.Part.allCases.filter { _ in random.chance(40) }.map {
                Statement.Player($0, when: facts(attributes, emptyPercent: 30))
            }
            if !players.isEmpty { statements.append(Statement(name: "n\(index)", .never(players))) }
        }
        for index in 0..<random.below(3) {
            let when = facts(attributes, emptyPercent: 30)
            let part = random.pick(Statement.Part.allCases)
            statements.append(Statement(name: "w\(index)", .always(when: when, is: part)))
        }
        // Random numbers of their own, so that later policies stay the same.
        var other = self
        return other.narrowed(statements, attributes)
    }

    /// With everything that narrows a statement, and with statements about time.
    private mutating func narrowed(_ statements: [Statement], _ attributes: [Attribute]) -> [Statement] {
        var statements = statements
        for index in statements.indices {
            if random.chance(30) { statements[index].unless = [excuse(attributes, byPercent: 0)] }
            switch statements[index].assertion {
            case .never(let players):
                statements[index].isAcrossCameras = players.count > 1 && random.chance(50)
                guard players.contains(where: \.part.isKeptOut) else { continue }
            case .always(_, let part): guard part.isKeptOut else { continue }
            case .within, .warned, .atMost, .fair: continue
            }
            if random.chance(40) { statements[index].by = facts(attributes, emptyPercent: 30) }
            if random.chance(40) { statements[index].unless.append(excuse(attributes, byPercent: 70)) }
        }
        let when = facts(attributes, emptyPercent: 30)
        let time = random.pick([Duration.seconds(1), .seconds(3), .seconds(10), .seconds(20), .seconds(180)])
        let timed: [Statement.Assertion] = [
            .within(when: when, is: random.pick(Statement.Part.allCases), time), .warned(when: when, time),
            .atMost(when: when, time, in: time * 3), .fair(when: when, is: .running),
        ]
        let by = random.chance(40) ? facts(attributes, emptyPercent: 30) : nil
        return statements
            + timed.enumerated().map { Statement(name: "t\($0.offset)", $0.element, by: $0.offset == 0 ? by : nil) }
    }

    private mutating func excuse(_ attributes: [Attribute], byPercent: Int) -> Statement.Excuse {
        Statement.Excuse(
            when: facts(attributes, emptyPercent: 10),
            by: random.chance(byPercent) ? facts(attributes, emptyPercent: 30) : nil)
    }
}
