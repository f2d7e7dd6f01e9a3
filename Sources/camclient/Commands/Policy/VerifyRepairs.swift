import Arbiter
import Exploration
import Machine
import PolicyFile
import TomlFile

/// What `policy verify` does besides the walks: what would repair what is broken.
extension PolicyWalk {
    /// Looks for one change that repairs what was found, and writes it behind the scenario.
    func lookForRepairs(
        _ report: inout Report, file: String, dropIns: String?, policies: String, _ limiter: @escaping SearchLimiter
    ) {
        guard var finding = report.finding else { return }
        let found = RepairSearch(self, finding, policies: policies).run(limiter)
        finding.note(found, Self.origins(file, dropIns))
        report.finding = finding
    }

    /// Where the places of a policy are written, as `kiosk.toml:23`.
    static func origins(_ file: String, _ dropIns: String?) -> (PolicyChange.Place) -> String? {
        var places: [PolicyPart: LoadedPolicy.Origin] = [:]
        do throws(FileProblems) {
            places = try PolicyFile.load(path: file, dropIns: dropIns, accounts: MachineAccounts()).origins
        } catch {
            // It was read a moment ago; now its lines are not known.
        }
        return { place in
            let part: PolicyPart =
                switch place {
                case .rule(let name): .rule(name)
                case .contention(let key): .contention(key)
                }
            return places[part].map { "\(SearchOptions.place($0.file).name):\($0.line)" }
        }
    }
}
