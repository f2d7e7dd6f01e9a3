import Arbiter
import PolicyFile

extension Policy {
    /// What of its clauses no scenario can reach, each with the reason. Only what follows from the rules alone.
    var coverageProofs: [PolicyCoverage.Gap: String] {
        let reach = RuleReach(self)
        var proofs: [PolicyCoverage.Gap: String] = [:]
        for clause in clauses {
            proofs[.init(clause: clause, lack: .neverFired)] = whyNever(clause, reach)
            if hasOpposite(clause) {
                proofs[.init(clause: clause, lack: .neverUnmatched)] = whyNeverOpposite(clause, reach)
            }
        }
        return proofs
    }

    private func whyNever(_ clause: PolicyClause, _ reach: RuleReach) -> String? {
        switch clause {
        case .causeRule(let name), .rankRule(let name): reach.whyNever(.answering, of: name)
        case .rankChoice(let name, _), .acrossCameras(let name, _): reach.whyNever(.answering, of: name)
        case .fact(let name, _): reach.whyNever(.deciding, of: name)
        case .order(.focused): reach.whyNever([.focused(true)])
        case .order(.foreground): reach.whyNever([.foreground(false)])
        case .access, .order, .choice, .conflicts: nil
        }
    }

    private func whyNeverOpposite(_ clause: PolicyClause, _ reach: RuleReach) -> String? {
        switch clause {
        case .causeRule(let name), .rankRule(let name): reach.whyNever(.missing, of: name)
        case .fact(let name, let test): reach.whyNever(.missingBy(test), of: name)
        case .access, .rankChoice, .acrossCameras, .order, .choice, .conflicts: nil
        }
    }
}
