import Arbiter
import ArbiterProtocol
import ArgumentParser
import PolicyFile
import Scenario
import TomlFile
import Workbench

struct PolicyTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Run scenarios, and say which rules of their policies they reach.",
        discussion: """
            A rule counts when a scenario made it fire, and once more when a scenario saw it not match; an order key \
            counts when it decided, and when two bids were equal in it. Each fact of a rule counts when the rule \
            answered and the answer would have been another without it, and once more when this fact alone kept the \
            rule from that. What a rank gives (grace, min-hold, lease, immediate, deny) and the choices of \
            [contention] count when they decided something; a grace and a min-hold also for an app on another \
            camera. What the rules themselves make impossible is named with the reason, and not counted. Policies \
            written inside a scenario are not counted.
            --suggest looks for the smallest scenarios that reach what is missing, in the worlds that \
            `camclient policy verify` walks, and prints them; --save writes them into a folder.
            Exit status 1 when a scenario does not come out as written, or less is reached than --min-coverage asks; \
            6 when --suggest was cut off by a bound before it had looked everywhere.
            Examples:
              camclient policy test Tests/scenarios/policies
              camclient policy test mine --policy my-kiosk.toml --suggest
              camclient policy test mine --policy my-kiosk.toml --suggest --save more
              camclient policy test mine --policy my-kiosk.toml --min-coverage 100
            """)

    @Argument(
        help: ArgumentHelp("Scenario files, or folders of them.", valueName: "dir"),
        completion: .file(extensions: ["scenario"])) var files: [String]
    @Option(help: ArgumentHelp("The folder that `policy FILE` in a scenario is relative to.", valueName: "folder"))
    var policies = "policies"
    @Option(
        help: ArgumentHelp(
            "This policy at the beginning of every scenario, in the place of its own; only it is reported.",
            valueName: "file")) var policy: String?
    @OptionGroup var policyFiles: PolicyFileOptions
    @Option(help: ArgumentHelp("Fail below so many percent, from 0 to 100, of any policy.", valueName: "percent"))
    var minCoverage: Double?
    @Flag(help: "Write what happens into files that differ; the exit status is 1 all the same.") var rewrite = false
    @Flag(help: "Look for scenarios that reach what is missing, and print them.") var suggest = false
    @Option(help: ArgumentHelp("Write what --suggest finds into files of this folder.", valueName: "folder")) var save:
        String?
    @OptionGroup(title: "Looking for scenarios (--suggest)") var search: SearchOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if save != nil, !suggest { throw ValidationError("--save takes what --suggest finds; say --suggest, too.") }
        if let minCoverage, !(0...100).contains(minCoverage) {
            throw ValidationError("--min-coverage is \(minCoverage); it takes a number from 0 to 100.")
        }
    }

    func run() async throws {
        let replacement = try policy.map { path in
            Scenario.NamedPolicy(path: path, policy: try loadPolicy(path, policyFiles.policyDir).policy)
        }
        var tally = CoverageTally()
        if let replacement { tally.expect(replacement) }
        try policyFiles.requireFolder()
        var batch = ScenarioBatch(try scenarioFiles(files), policies: policies, output: output)
        batch.dropIns = policyFiles.policyDir
        batch.rewrite = rewrite
        batch.run { scenario in
            guard let replacement else { return tally.run(scenario) }
            return tally.run(scenario.under(replacement.policy), files: [replacement])
        }
        // What none of them could reach says nothing about the policy.
        if batch.isUnreadable { return try batch.finish() }
        if !output.json, batch.unreadable > 0 {
            Output.line("what follows leaves out the scenarios that could not be read")
        }
        var isEnough = true
        var isWhole = true
        for entry in tally.policies {
            if let minCoverage, (entry.coverage.total.percent ?? 0) < minCoverage { isEnough = false }
            try show(entry)
            if suggest, try !self.suggest(for: entry) { isWhole = false }
        }
        if !output.json, replacement == nil, tally.scenariosWithoutFile > 0 {
            Output.line("\(tally.scenariosWithoutFile) scenarios have no policy file, and count for none")
        }
        try batch.finish()
        guard isEnough else {
            throw Failure(.answerIsNo, output.json ? "" : "The coverage is below \(minCoverage ?? 0) %.")
        }
        if !isWhole { throw Failure(.cutOff, "") }
    }

    /// - Returns: whether everything was looked at.
    private func suggest(for entry: CoverageTally.Entry) throws -> Bool {
        guard !entry.coverage.gaps.isEmpty else { return true }
        let found = try SuggestedScenarios(entry.path, entry.coverage, search)
        if output.json { Output.line(found.json.text) } else { found.show(isPrinting: save == nil) }
        if let save { try found.save(in: save) }
        return found.report.cutOffBy == nil
    }

    private func show(_ entry: CoverageTally.Entry) throws(Failure) {
        let origins = try loadPolicy(entry.path, policyFiles.policyDir).origins
        func origin(_ part: PolicyPart) -> LoadedPolicy.Origin? { origins[part] }
        guard output.json else {
            for line in entry.report(place: { origin($0).map { "\($0.file):\($0.line)" } }) { Output.line(line) }
            return
        }
        Output.line(entry.json(origin).text)
    }
}

/// Reads a policy, and says everything that is wrong with it.
func loadPolicy(_ path: String, _ dropIns: String? = nil) throws(Failure) -> LoadedPolicy {
    do throws(FileProblems) { return try PolicyFile.load(path: path, dropIns: dropIns) } catch {
        throw Failure(error, "the policy cannot be used:\n")
    }
}

extension CoverageTally.Entry {
    fileprivate func json(_ origin: (PolicyPart) -> LoadedPolicy.Origin?) -> JSON {
        let total = coverage.total
        let gaps = coverage.gaps.map { gap in
            let origin = origin(gap.clause.part)
            return JSON.object([
                "clause": .string(gap.clause.title(in: coverage.policy)), "lack": .string(gap.lack.rawValue),
                "file": .string(origin?.file ?? path), "line": .integer(Int64(origin?.line ?? 0)),
            ])
        }
        return .object([
            "policy": .string(path), "scenarios": .integer(Int64(scenarios)),
            "reached": .integer(Int64(total.reached)), "all": .integer(Int64(total.all)),
            "percent": total.percent.map { .number($0) } ?? .null, "gaps": .array(gaps),
            "unreachable": .array(
                coverage.unreachable.map { gap, why in
                    .object([
                        "clause": .string(gap.clause.title(in: coverage.policy)), "lack": .string(gap.lack.rawValue),
                        "why": .string(why),
                    ])
                }),
        ])
    }
}
