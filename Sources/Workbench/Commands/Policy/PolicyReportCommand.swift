import Arbiter
import ArbiterProtocol
import ArgumentParser
import Explain
import PolicyFile
import Scenario
import TomlFile
import Workbench

struct PolicyReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write a page about a policy: its text, coverage and promises, and scenarios with reasons.",
        usage: "camclient policy report [options] <file> --html <file>",
        discussion: """
            The page is one file without network: the policy's text with its coverage, its statements with their verdicts, \
            timelines of scenarios and traces with the reason of each span, the situations of two apps and one camera, and \
            with --against the shortest difference from another policy.
            Exit status 0: everything holds. 1: something is broken, or a problem. 6: cut off by a bound. The page is \
            written in each of these cases, and has the verdict.
            Examples:
              camclient policy report kiosk.toml --html kiosk.html
              camclient policy report kiosk.toml --scenarios mine --html kiosk.html
              camclient policy report new.toml --against kiosk.toml --html new.html
            """)

    @Argument(help: .value("file", "The policy file."), completion: .file(extensions: ["toml"])) var file: String
    @Option(help: .value("file", "Write the page into this file; - is standard output.")) var html: String
    @Option(help: .value("file", "A trace to draw under the policy. Repeatable.")) var trace: [String] = []
    @Option(help: .value("file", "Another policy to compare with.")) var against: String?
    @Option(help: .value("dir", "Scenarios, or folders of them, run with this policy in the place of theirs."))
    var scenarios: [String] = []
    @OptionGroup var scenarioOptions: ScenarioOptions
    @OptionGroup var policyFiles: PolicyFileOptions
    @OptionGroup var world: WorldOptions
    @Option(help: .value("time", "Time for each search, such as 20s or 2min."))
    var maxTime = TimeArgument(duration: .seconds(20))

    func run() async throws {
        let loaded = try policyFiles.load(file)
        var report = PolicyReport(
            file: file, policy: loaded, texts: try loaded.files.map { PolicyText(name: $0, text: try readText($0)) },
            program: "camclient \(Release.version)")
        report.problems = policyFiles.check(file)?.problems ?? []
        try runScenarios(&report)
        let other = try against.map { try PolicyFileOptions.load($0, dropIns: nil).policy }
        report.traces = try trace.map { try picture(of: $0, [loaded.policy, other].compactMap(\.self)) }
        report.graph = StateGraph(loaded.policy, while: patience())
        report.walked = try verify(loaded.policy)
        if let against, let other { report.comparison = try compare(loaded.policy, against, other) }
        Output.endProgress()
        let page = report.page(nonce: Self.nonce())
        if html == "-" {
            Output.text(page)
        } else {
            try writeTextAtOnce(page, to: html, for: trace.isEmpty ? .everybody : .owner)
            let verdict =
                report.isBroken
                ? "something is broken, or a problem"
                : report.isCutOff ? "NOT COMPLETE, cut off by a bound" : "everything holds"
            Output.line("\(file): \(verdict); the page is \(html)")
        }
        if report.isBroken { throw Failure(.answerIsNo) }
        if report.isCutOff { throw Failure(.cutOff) }
    }

    /// The end of another command's outcome: how the same is shown as a page.
    static func advice(_ file: String, against: String? = nil, dropIns: String? = nil, _ world: WorldOptions) -> String
    {
        var words = ["camclient policy report", file]
        for (option, value) in [("--against", against), ("--policy-dir", dropIns)] {
            if let value { words += [option, value] }
        }
        return "as a page: \((words + world.words).joined(separator: " ")) --html page.html"
    }

    private static func nonce() -> String {
        var random = SystemRandomNumberGenerator()
        return String(random.next() as UInt64, radix: 36) + String(random.next() as UInt64, radix: 36)
    }

    private func patience() -> @Sendable () -> Bool {
        let deadline = Moment.now + maxTime.duration
        return { Moment.now < deadline }
    }

    private func limiter(_ what: String) -> SearchLimiter {
        let (shown, mayGoOn) = (Progress(), patience())
        return { progress in
            shown.show("world \(progress.world) of \(progress.worlds), \(progress.states) states", of: what)
            return mayGoOn() ? nil : .time
        }
    }

    private func runScenarios(_ report: inout PolicyReport) throws {
        guard !scenarios.isEmpty else { return }
        let policy = report.policy.policy
        var reach = ScenarioReach(policy)
        for path in try scenarioFiles(scenarios) {
            let scenario = try Scenario.load(path: path, policies: scenarioOptions.policies)
            reach.run(scenario)
            if report.scenarios.count < PolicyReport.scenariosMax {
                report.scenarios.append(ToldScenario(scenario.under(policy), while: patience()))
            } else {
                report.scenariosLeftOut += 1
            }
        }
        report.reach = reach
    }

    private func verify(_ policy: Policy) throws -> PolicyReport.Walked {
        let place = place(of: file)
        let walk = try at(file) { () throws(ScenarioError) in
            try PolicyWalk(policy, clients: world.clients, cameras: world.cameras, scope: .policy)
        }
        let begin = Moment.now
        let found = walk.run(policyLine: place.name, policies: place.folder, limiter: limiter("verify"))
        var walked = PolicyReport.Walked(walk, found, took: Moment.now - begin)
        walked.counterexample = found.finding.flatMap { story($0.scenario, under: policy, in: place.folder) }
        return walked
    }

    private func story(_ text: String, under policy: Policy, in folder: String, title: String? = nil) -> ToldScenario? {
        guard let scenario = try? Scenario.parse(text, file: "the scenario", policies: folder) else { return nil }
        return ToldScenario(scenario.under(policy), title: title, while: patience())
    }

    private func compare(_ policy: Policy, _ path: String, _ other: Policy) throws -> PolicyReport.Comparison {
        let difference = try at(path) { () throws(ScenarioError) in
            try PolicyDifference(policy, other, clients: world.clients, cameras: world.cameras, scope: .policy)
        }
        let found = difference.isSame ? .nothingToWalk() : difference.run(limiter: limiter("diff"))
        let witness = found.witness.map { (["policy built-in"] + $0.inputs).joined(separator: "\n") }
        let pair = [policy, other].compactMap { policy in
            witness.flatMap { story($0, under: policy, in: ".", title: "The shortest difference") }
        }
        return PolicyReport.Comparison(file: path, report: found, pair: pair, neverVaried: difference.neverVaried)
    }

    private func picture(of path: String, _ policies: [Policy]) throws -> PolicyReport.TracePicture {
        guard let part = try TraceReader.read(path: path, mayBeCut: true).first else {
            throw Failure(.usage, "\(path): there is no part of a trace in it.")
        }
        let pictures = try part.checked { () throws(Arbiter.BrokenSnapshot) in
            try policies.map { policy throws(Arbiter.BrokenSnapshot) in
                try ToldScenario(part, under: policy, while: patience())
            }
        }
        return (path, pictures, ToldScenario.remarks(part))
    }
}
