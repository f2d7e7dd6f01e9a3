import Arbiter
import ArbiterProtocol
import ArgumentParser
import Explain
import PolicyFile
import Scenario
import System
import TomlFile
import Workbench

struct PolicyReportCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract:
            "Write one page about a policy: its text, what scenarios reach, what holds, what it leads to and why.",
        usage: "camclient policy report [options] <file> --html <file>",
        discussion: """
            The page is one file without network: the policy's text with its coverage beside each line, its statements \
            with their verdicts and, where one is broken, the shortest way to break it; with --against, the shortest \
            difference from another policy; timelines of scenarios and traces, where each span says why it began; and \
            the situations of two apps and one camera, with what leads from one to another.
            Exit status 0: everything holds. 1: something is broken, or a problem. 6: cut off by a bound. The page is \
            written in each of these cases, and says which it is.
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
    @Option(help: .value("folder", "The folder that `policy FILE` in a scenario is relative to."))
    var policies = "policies"
    @Option(help: .value("folder", "Drop-ins to read over the policy.")) var policyDir: String?
    @OptionGroup var world: WorldOptions
    @Option(help: .value("time", "How long each search may take, such as 20s or 2min.")) var maxTime = "20s"

    func validate() throws { _ = try searchTime(maxTime) }

    func run() async throws {
        let loaded = try PolicyFileOptions.load(file, dropIns: policyDir)
        var report = PolicyReport(
            file: file, policy: loaded, texts: try loaded.files.map { PolicyText(name: $0, text: try readText($0)) },
            program: "camclient \(Release.version)")
        report.problems = PolicyFile.check(path: file, dropIns: policyDir, accounts: MachineAccounts())?.problems ?? []
        try runScenarios(&report)
        report.traces = try trace.map { try picture(of: $0, loaded.policy, against) }
        report.graph = StateGraph(loaded.policy, while: patience())
        report.walked = try verify(loaded.policy)
        if let against { report.comparison = try compare(loaded.policy, against) }
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

    /// 128 bits that nobody who wrote the policy could know.
    private static func nonce() -> String {
        var random = SystemRandomNumberGenerator()
        return String(random.next() as UInt64, radix: 36) + String(random.next() as UInt64, radix: 36)
    }

    private func patience() -> @Sendable () -> Bool {
        let deadline = Moment.now + ((try? searchTime(maxTime)) ?? .seconds(20))
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
            let scenario = try Scenario.load(path: path, policies: policies)
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
        let place = SearchOptions.place(file)
        let walk = try at(file) { () throws(ScenarioError) in
            try PolicyWalk(policy, clients: world.clients, cameras: world.cameras, scope: .policy)
        }
        let begin = Moment.now
        let found = walk.run(policyLine: place.name, policies: place.folder, limiter: limiter("verify"))
        var walked = PolicyReport.Walked(walk, found, took: Moment.now - begin)
        if let finding = found.finding,
            let scenario = try? Scenario.parse(finding.scenario, file: "the counterexample", policies: place.folder)
        {
            walked.counterexample = ToldScenario(scenario.under(policy), while: patience())
        }
        return walked
    }

    private func compare(_ policy: Policy, _ path: String) throws -> PolicyReport.Comparison {
        let other = try PolicyFileOptions.load(path, dropIns: nil).policy
        let difference = try at(path) { () throws(ScenarioError) in
            try PolicyDifference(policy, other, clients: world.clients, cameras: world.cameras, scope: .policy)
        }
        let found = difference.isSame ? .nothingToWalk() : difference.run(limiter: limiter("diff"))
        var pair: [ToldScenario] = []
        if let witness = found.witness,
            let scenario = try? Scenario.parse(
                (["policy built-in"] + witness.inputs).joined(separator: "\n"), file: "the difference", policies: ".")
        {
            pair = [policy, other].map {
                ToldScenario(scenario.under($0), title: "The shortest difference", while: patience())
            }
        }
        return PolicyReport.Comparison(file: path, report: found, pair: pair, neverVaried: difference.neverVaried)
    }

    private func picture(of path: String, _ policy: Policy, _ against: String?) throws -> PolicyReport.TracePicture {
        guard let part = try TraceReader.read(path: path, mayBeCut: true).first else {
            throw Failure(.usage, "\(path): there is no part of a trace in it.")
        }
        var policies = [policy]
        if let against { policies.append(try PolicyFileOptions.load(against, dropIns: nil).policy) }
        let pictures = try part.checked { () throws(Arbiter.BrokenSnapshot) in
            try policies.map { policy throws(Arbiter.BrokenSnapshot) in
                try ToldScenario(part, under: policy, while: patience())
            }
        }
        return (path, pictures, ToldScenario.remarks(part))
    }
}
