import ArbiterProtocol
import ArgumentParser
import Glibc
import PolicyFile
import Scenario
import TomlFile
import Workbench

struct PolicyTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Run scenarios, and show which rules of their policies they reach.",
        discussion: """
            A rule counts when a scenario makes it fire, and once more when a scenario sees it not match; an order key \
            when it decides, and when two bids are equal in it; a fact of a rule when the answer depends on it; the keys \
            of a rank and the choices of [contention] when they decide something. Combinations that the rules make \
            impossible are listed with the reason, and do not count, nor do policies inside a scenario.
            --suggest searches the worlds of `camclient policy verify` for the smallest scenarios that reach the rest, and \
            prints them; --save writes them into a folder.
            Exit status 1 when a scenario differs from its file, or the coverage is below --min-coverage; \
            6 when a bound cut --suggest off.
            Examples:
              camclient policy test Tests/scenarios/policies
              camclient policy test mine --policy my-kiosk.toml --suggest
              camclient policy test mine --policy my-kiosk.toml --suggest --save more
              camclient policy test mine --policy my-kiosk.toml --min-coverage 100
            """)

    @Argument(help: .value("dir", "Scenario files, or folders of them."), completion: .file(extensions: ["scenario"]))
    var files: [String]
    @OptionGroup var scenarios: ScenarioOptions
    @Option(help: .value("file", "A policy for every scenario, in the place of its own; only it is reported."))
    var policy: String?
    @OptionGroup var policyFiles: PolicyFileOptions
    @Option(help: .value("percent", "Fail below this coverage of any policy, from 0 to 100."))
    var minCoverage: Double?
    @Flag(help: "Write the outcome into files that differ; the exit status is still 1.") var rewrite = false
    @Flag(help: "Search for scenarios that reach the rest, and print them.") var suggest = false
    @Option(help: .value("folder", "Write the suggested scenarios into files of this folder.")) var save: String?
    @OptionGroup(title: "Search for scenarios (--suggest)") var search: SearchOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if save != nil, !suggest { throw ValidationError("--save needs --suggest, whose scenarios it writes.") }
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
        var batch = ScenarioBatch(
            try scenarioFiles(files), policies: scenarios.policies, output: output, rewrite: rewrite,
            dropIns: policyFiles.policyDir)
        batch.run { scenario in
            guard let replacement else { return tally.run(scenario) }
            return tally.run(scenario.under(replacement.policy), files: [replacement])
        }
        // Without a readable scenario there is no coverage.
        if batch.isUnreadable { return try batch.finish() }
        if !output.json, batch.unreadable > 0 {
            Output.line("what follows leaves out the scenarios that could not be read")
        }
        var (isEnough, isWhole) = (true, true)
        for entry in tally.policies {
            if let minCoverage, (entry.coverage.total.percent ?? 0) < minCoverage { isEnough = false }
            try show(entry)
            if suggest, try !self.suggest(for: entry) { isWhole = false }
        }
        if !output.json, replacement == nil, tally.scenariosWithoutFile > 0 {
            Output.line("\(tally.scenariosWithoutFile.counted("scenario")) without a policy file, counted for none")
        }
        try batch.finish()
        guard isEnough else {
            throw Failure(.answerIsNo, output.json ? "" : "The coverage is below \(minCoverage ?? 0) %.")
        }
        if !isWhole { throw Failure(.cutOff) }
    }

    private func suggest(for entry: CoverageTally.Entry) throws -> Bool {
        guard !entry.coverage.gaps.isEmpty else { return true }
        let found = try SuggestedScenarios(entry.path, entry.coverage, search)
        output.show(found.json, found.lines(isPrinting: save == nil))
        if let save { try found.save(in: save) }
        return found.report.cutOffBy == nil
    }

    private func show(_ entry: CoverageTally.Entry) throws(Failure) {
        let origins = try loadPolicy(entry.path, policyFiles.policyDir).origins
        output.show(
            entry.json(origins), entry.report(place: { origins[$0].map { "\($0.file):\($0.line)" } }))
    }
}

func loadPolicy(_ path: String, _ dropIns: String? = nil) throws(Failure) -> LoadedPolicy {
    do throws(FileProblems) { return try PolicyFile.load(path: path, dropIns: dropIns) } catch {
        throw Failure(error, "the policy cannot be used:\n")
    }
}

extension CoverageTally.Entry {
    fileprivate func json(_ origins: [PolicyPart: LoadedPolicy.Origin]) -> JSONObject {
        let total = coverage.total
        func json(_ gap: PolicyCoverage.Gap) -> JSONObject {
            ["clause": gap.clause.title(in: coverage.policy), "lack": gap.lack.rawValue]
        }
        return [
            "policy": path, "scenarios": scenarios, "reached": total.reached, "all": total.all,
            "percent": total.percent,
            "gaps": coverage.gaps.map { gap in
                let origin = origins[gap.clause.part]
                return json(gap).adding(["file": origin?.file ?? path, "line": origin?.line ?? 0])
            }, "unreachable": coverage.unreachable.map { json($0).adding(["why": $1]) },
        ]
    }
}

struct SuggestedScenarios {
    let path: String
    let coverage: PolicyCoverage
    let search: ScenarioSearch
    let report: ScenarioSearch.Report

    init(_ path: String, _ coverage: PolicyCoverage, _ options: SearchOptions) throws(Failure) {
        self.path = path
        self.coverage = coverage
        search = ScenarioSearch(
            coverage.policy, coverage.gaps, clients: options.world.clients, cameras: options.world.cameras,
            pairsOnly: options.pairs)
        let (gaps, place) = (search, place(of: path))
        report = try at(path) { () throws(ScenarioError) in
            try gaps.run(
                options.bounds, policyLine: place.name, policies: place.folder, limiter: options.limiter(path))
        }
        Output.endProgress()
    }

    func lines(isPrinting: Bool) -> [String] {
        let left = report.left.map { "    \($0.claim(in: coverage.policy))" }
        return (left.isEmpty ? [] : ["  nothing is suggested for what was \(why):"]) + left
            + (isPrinting ? report.suggestions.flatMap { ["", $0.scenario.withoutLastNewline] } : [])
    }

    /// Writes each suggestion into a file whose name is its sentence; a file that is there already stays as it is.
    func save(in folder: String) throws {
        try makeFolder(folder)
        for suggestion in report.suggestions {
            let name = Self.name(suggestion.title)
            var path = "\(folder)/\(name).scenario"
            var number = 2
            while access(path, F_OK) == 0 {
                path = "\(folder)/\(name)-\(number).scenario"
                number += 1
            }
            try Scenario.write(suggestion.scenario, path: path)
            Output.notice("\(path): written")
        }
    }

    private var why: String {
        let size = worldWords(search.clients, search.cameras)
        if let cut = report.cutOffBy {
            return "not reached so far: the search was cut off \(cut.sentence), after \(report.states.grouped) "
                + "states of worlds of \(size)"
        }
        return
            "not reached in any world of \(populationsWords(report.populations, of: report.populationsInAll)), \(size), "
            + "nor by what the machine does in smaller ones; walked whole in \(report.states.grouped) states"
    }

    private static func name(_ sentence: String) -> String {
        let words = sentence.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        // File systems take names of 255 bytes; a number and the suffix follow.
        return String(words.joined(separator: "-").prefix(200))
    }

    var json: JSONObject {
        [
            "policy": path,
            "suggestions": report.suggestions.map { suggestion in
                [
                    "title": suggestion.title, "scenario": suggestion.scenario,
                    "closes": suggestion.closes.map { $0.claim(in: coverage.policy) },
                ] as JSONObject
            }, "left": report.left.map { $0.claim(in: coverage.policy) }, "why": report.left.isEmpty ? nil : why,
            "complete": report.cutOffBy == nil, "states": report.states,
        ]
    }
}
