import Arbiter
import ArbiterProtocol
import ArgumentParser
import Glibc
import PolicyFile
import Scenario
import TomlFile
import Workbench

struct PolicyTest: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "test", abstract: "Run scenarios, and list which rules of their policies they reach.",
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

    @Argument(help: .value("dir", "Scenario files, or folders of them."), completion: .file(extensions: ["scenario"]))
    var files: [String]
    @Option(help: .value("folder", "The folder that `policy FILE` in a scenario is relative to."))
    var policies = "policies"
    @Option(
        help: .value(
            "file", "This policy at the beginning of every scenario, in the place of its own; only it is reported."))
    var policy: String?
    @OptionGroup var policyFiles: PolicyFileOptions
    @Option(help: .value("percent", "Fail below so many percent, from 0 to 100, of any policy."))
    var minCoverage: Double?
    @Flag(help: "Write what happens into files that differ; the exit status is 1 all the same.") var rewrite = false
    @Flag(help: "Look for scenarios that reach what is missing, and print them.") var suggest = false
    @Option(help: .value("folder", "Write what --suggest finds into files of this folder.")) var save: String?
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

/// Scenarios that `policy test --suggest` found for what the tested ones leave out, printed or written into a folder.
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
        let (gaps, place) = (search, SearchOptions.place(path))
        report = try at(path) { () throws(ScenarioError) in
            try gaps.run(
                SearchBounds(statesMax: options.maxStates), policyLine: place.name, policies: place.folder,
                limiter: options.limiter(path, since: Moment.now))
        }
        Output.endProgress()
    }

    func lines(isPrinting: Bool) -> [String] {
        let left =
            report.left.isEmpty
            ? []
            : ["  nothing is suggested for what was \(why):"]
                + report.left.map { "    \($0.claim(in: coverage.policy))" }
        return left + (isPrinting ? report.suggestions.flatMap { ["", $0.scenario.withoutLastNewline] } : [])
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

    var why: String {
        let size = "up to \(search.clients.counted("client")) × \(search.cameras.counted("camera"))"
        if let cut = report.cutOffBy {
            return "not reached so far: the search was cut off \(cut.sentence), after \(report.states.grouped) "
                + "states of worlds of \(size)"
        }
        return "not reached in any world of \(VerifyVerdict.casts(report.casts, of: report.castsInAll)), \(size), "
            + "nor by what the machine does in smaller ones; walked whole in \(report.states.grouped) states"
    }

    private static func name(_ sentence: String) -> String {
        let words = sentence.lowercased().split { !($0.isASCII && ($0.isLetter || $0.isNumber)) }
        // File systems take names of 255 bytes; a number and the suffix come behind this.
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
