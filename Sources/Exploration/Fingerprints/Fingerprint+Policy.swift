import Arbiter
import ArbiterProtocol

extension Policy {
    /// All that tells two policies apart.
    func write(into writer: inout FingerprintWriter) {
        writer.combine(name)
        writer.combine(summary)
        writer.ordered(sources) { $0.combine($1.rawValue) }
        for unit in [shellUnit, agentUnit] { writer.combine(unit) { $0.combine($1) } }
        rights.write(into: &writer)
        writer.ordered(attributes) { writer, attribute in
            writer.combine(attribute.name)
            writer.ordered(attribute.values) { $0.combine($1) }
            writer.combine(attribute.defaultValue)
        }
        writer.ordered(modes) { writer, mode in
            writer.combine(mode.name)
            writer.ordered(mode.at) { $0.combine($1.written) }
            writer.ordered(mode.setBy) { $0.combine($1.rawValue) }
        }
        writer.ordered(causeRules) { writer, rule in
            writer.combine(rule.name)
            writer.ordered(rule.when) { $1.write(into: &$0) }
            writer.combine(UInt64(rule.cause.rawValue) << 8 | UInt64(rule.access.rawValue))
        }
        writer.ordered(ranks) { $0.combine($1) }
        writer.ordered(rankRules) { writer, rule in
            writer.combine(rule.name)
            writer.ordered(rule.when) { $1.write(into: &$0) }
            writer.combine(rule.rank)
            writer.combine(rule.isImmediate)
            writer.combine(rule.deny)
            writer.combine(rule.grace)
            writer.combine(rule.minHold)
            writer.combine(rule.lease) { $0.combine($1) }
        }
        contention.write(into: &writer)
        writer.ordered(cameras) { writer, rule in
            writer.combine(rule.camera.name)
            writer.ordered(rule.conflicts) { $0.combine($1.name) }
            writer.combine(rule.cost.other)
            writer.ordered(rule.cost.formats) { writer, format in
                writer.combine(format.key)
                writer.combine(format.cost)
            }
        }
        writer.combine(pressureSettle)
        writer.ordered(statements) { writer, statement in
            writer.combine(statement.name)
            statement.write(into: &writer)
        }
    }
}

extension Rights {
    fileprivate func write(into writer: inout FingerprintWriter) {
        writer.combine(seat)
        for accounts in [users, groups] {
            writer.ordered(accounts) { writer, account in
                writer.combine(account.name) { $0.combine($1) }
                writer.combine(account.number) { $0.combine(UInt64($1)) }
            }
        }
        writer.ordered(services) { $0.combine($1) }
        writer.combine(identity.rawValue)
    }
}

extension FactTest {
    fileprivate func write(into writer: inout FingerprintWriter) {
        let (key, value) = written
        // An attribute may be called like a fact.
        if case .attribute = self { writer.combine(true) } else { writer.combine(false) }
        writer.combine(key)
        writer.combine(value)
    }
}

extension Contention {
    fileprivate func write(into writer: inout FingerprintWriter) {
        writer.ordered(order) { writer, key in
            if case .attribute = key { writer.combine(true) } else { writer.combine(false) }
            writer.combine(key.name)
        }
        for choice in [
            tie.rawValue, sameApp.rawValue, newcomer.rawValue, loser.rawValue, sharing.rawValue, shareWith.rawValue,
            reDecide.rawValue,
            ownConflict.rawValue, givesWay.rawValue,
        ] {
            writer.combine(choice)
        }
        writer.combine(coolDown)
        writer.combine(budget) { $0.combine($1) }
        writer.combine(strongestMayExceed)
        writer.combine(backfill)
    }
}

extension Statement {
    fileprivate func write(into writer: inout FingerprintWriter) {
        func facts(_ tests: [FactTest]) { writer.ordered(tests) { $1.write(into: &$0) } }
        switch assertion {
        case .never(let players):
            writer.ordered(players) { writer, player in
                writer.combine(player.part.rawValue)
                writer.ordered(player.when) { $1.write(into: &$0) }
            }
        case .always, .within, .warned, .atMost, .fair:
            // No statement without players is one about never.
            writer.combine(0)
            for when in roles { facts(when) }
            for part in parts { writer.combine(part.rawValue) }
            for time in durations { writer.combine(time) }
        }
        // A demand with one time is told from another by nothing else.
        writer.combine(kind)
        writer.combine(isAcrossCameras)
        writer.combine(by != nil)
        facts(by ?? [])
        writer.ordered(unless) { writer, excuse in
            writer.ordered(excuse.when) { $1.write(into: &$0) }
            writer.combine(excuse.by != nil)
            writer.ordered(excuse.by ?? []) { $1.write(into: &$0) }
        }
    }

    private var kind: Int {
        switch assertion {
        case .never: 0
        case .always: 1
        case .within: 2
        case .warned: 3
        case .atMost: 4
        case .fair: 5
        }
    }
}
