import Arbiter
import ArbiterProtocol

extension PolicyGenerator {
    mutating func causeRules(_ attributes: [Attribute]) -> [CauseRule] {
        // Without any, sessions run more often, and then they meet.
        let count = random.chance(40) ? 0 : 1 + random.below(4)
        return (0..<count).map { index in
            CauseRule(
                name: "c\(index)", when: facts(attributes, emptyPercent: 3), cause: random.pick(CauseRule.causes),
                access: access())
        }
    }

    /// Any subset; none and all more often, since they are what most rules say.
    private mutating func access() -> Access {
        if random.chance(25) { return .none }
        if random.chance(15) { return .all }
        return Access.rights.reduce(.none) { random.chance(50) ? $0.union($1.right) : $0 }
    }

    mutating func rankRules(_ policy: Policy) -> [RankRule] {
        var rules: [RankRule] = []
        for index in 0..<random.below(5) {
            rules.append(rankRule("k\(index)", facts(policy.attributes, emptyPercent: 5), policy.ranks))
        }
        // Otherwise an app that matches no rule has neither grace nor lease.
        if random.chance(60) { rules.append(rankRule("rest", [], policy.ranks)) }
        return rules
    }

    private mutating func rankRule(_ name: String, _ when: [FactTest], _ ranks: [String]) -> RankRule {
        if random.chance(when.isEmpty ? 1 : 12) {
            // What the reader makes of a rule without a rank.
            return RankRule(name: name, when: when, rank: ranks.count - 1, deny: true)
        }
        var rule = RankRule(name: name, when: when, rank: random.below(ranks.count))
        rule.isImmediate = random.chance(12)
        if random.chance(40) { rule.grace = random.pick(Self.graces) }
        if random.chance(25) { rule.minHold = random.pick(Self.minHolds) }
        if random.chance(18) { rule.lease = random.pick(Self.leases) }
        return rule
    }

    private static let graces: [Duration] = [.milliseconds(500), .seconds(1), .seconds(2), .seconds(5), .seconds(60)]
    private static let minHolds: [Duration] = [.milliseconds(500), .seconds(2), .seconds(10), .seconds(120)]
    private static let leases: [Duration] = [.seconds(1), .seconds(3), .seconds(10), .seconds(20), .seconds(180)]

    // MARK: Facts

    /// One to three facts, each asked once, as a file has them.
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
        if !modeNames.isEmpty, random.chance(15) {
            return .mode(random.chance(20) ? nil : random.pick(modeNames))
        }
        if let attribute = attributes.isEmpty ? nil : random.pick(attributes), random.chance(20) {
            return .attribute(attribute.name, random.pick(attribute.values))
        }
        switch random.below(18) {
        case 0: return .app(random.pick(FuzzNames.apps))
        case 1: return .claimedApp(random.pick(FuzzNames.apps))
        case 2: return .user(random.pick(FuzzNames.users))
        case 3: return .loginSession(random.pick(Facts.LoginState.allCases))
        case 4: return .foreground(random.chance(50))
        case 5: return .layout(random.pick(Presence.Layout.allCases))
        case 6: return .focused(random.chance(50))
        case 7: return .foregroundApps(random.pick(Facts.ForegroundApps.allCases))
        case 8: return .client(random.pick(ClientKind.allCases))
        case 9: return .multitasking(random.chance(50))
        case 10: return .camera(CameraID(random.pick(FuzzNames.cameras)))
        case 11: return .position(random.pick(CameraPosition.allCases))
        case 12: return .usesAudio(random.chance(50))
        case 13: return .microphoneTaken(random.chance(50))
        case 14: return .pressure(atLeast: random.pick(SystemPressure.allCases))
        case 15: return .recording(random.chance(50))
        case 16: return .bidIsNew(random.chance(50))
        default: return .operatorChosen(random.chance(50))
        }
    }

    // MARK: Statements

    /// Those about never before those about always, and parts in their order, as reading has them.
    mutating func statements(_ attributes: [Attribute]) -> [Statement] {
        var statements: [Statement] = []
        for index in 0..<random.below(3) {
            let players = Statement.Part.allCases.filter { _ in random.chance(40) }
                .map { Statement.Player($0, when: facts(attributes, emptyPercent: 30)) }
            if !players.isEmpty { statements.append(Statement(name: "n\(index)", .never(players))) }
        }
        for index in 0..<random.below(3) {
            let when = facts(attributes, emptyPercent: 30)
            let part = random.pick(Statement.Part.allCases)
            statements.append(Statement(name: "w\(index)", .always(when: when, is: part)))
        }
        // From numbers of their own, so that the policies behind this one stay as they are.
        var other = self
        return other.narrowed(statements, attributes)
    }

    /// The same with everything that narrows a statement, and statements about time behind them.
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
        let time = random.pick(Self.leases)
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
