import Arbiter
import ArbiterProtocol
import PolicyFile

/// A policy as a person would write it for a scenario: what is as it is without being written is left out.
enum ShortPolicyText {
    static func lines(_ policy: Policy) -> [String] {
        let usual = Policy(name: "", ranks: policy.rankRules.isEmpty ? Policy(name: "").ranks : [""])
        var lines = differing(PolicyWriter.pairs(policy), PolicyWriter.pairs(usual))
        let rights = differing(PolicyWriter.pairs(policy.rights), PolicyWriter.pairs(Rights()))
        lines += rights.isEmpty ? [] : ["[access]"] + rights
        for attribute in policy.attributes {
            let usual = Attribute(name: attribute.name, values: attribute.values)
            let hidden = usual == attribute ? ["default"] : []
            lines += ["[[attribute]]"] + PolicyWriter.pairs(attribute).filter { !hidden.contains($0.key) }.map(\.text)
        }
        for mode in policy.modes {
            let usual = PolicyWriter.pairs(Mode(name: mode.name)).dropFirst()
            lines += ["[[mode]]"] + PolicyWriter.pairs(mode).filter { !usual.contains($0) }.map(\.text)
        }
        for rule in policy.causeRules {
            let hidden = rule.access == .none ? ["access"] : []
            lines += ["[[cause]]"] + PolicyWriter.pairs(rule).filter { !hidden.contains($0.key) }.map(\.text)
        }
        for rule in policy.rankRules {
            lines += ["[[rank]]"] + PolicyWriter.pairs(rule, ranks: policy.ranks).map(\.text)
        }
        let pressure = differing(PolicyWriter.pairs(policy.pressure), PolicyWriter.pairs(PressureSettings.usual))
        lines += pressure.isEmpty ? [] : ["[pressure]"] + pressure
        let contention = differing(PolicyWriter.pairs(policy.contention), PolicyWriter.pairs(Contention()))
        lines += contention.isEmpty ? [] : ["[contention]"] + contention
        for (header, unit) in [("[shell]", policy.shellUnit), ("[agent]", policy.agentUnit)] {
            if let unit { lines += [header] + PolicyWriter.pairs(speakingUnit: unit).map(\.text) }
        }
        for camera in policy.cameras { lines += ["[[camera]]"] + PolicyWriter.pairs(camera).map(\.text) }
        for statement in policy.statements {
            let header = statement.isNever ? "[[never]]" : "[[always]]"
            lines += [header] + PolicyWriter.pairs(statement).map(\.text)
        }
        return lines
    }

    private static func differing(_ pairs: [PolicyWriter.Pair], _ usual: [PolicyWriter.Pair]) -> [String] {
        pairs.filter { !usual.contains($0) }.map(\.text)
    }
}

extension PolicyWriter.Pair {
    fileprivate var text: String { "\(key) = \(value)" }
}
