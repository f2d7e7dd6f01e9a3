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

    @Argument(help: ArgumentHelp("The policy file.", valueName: "file"), completion: .file(extensions: ["toml"]))
    var file: String
    @Option(help: ArgumentHelp("Write the page into this file; - is standard output.", valueName: "file")) var html:
        String
    @Option(help: ArgumentHelp("A trace to draw under the policy. Repeatable.", valueName: "file")) var trace:
        [String] = []
    @Option(help: ArgumentHelp("Another policy to compare with.", valueName: "file")) var against: String?
    @Option(
        help: ArgumentHelp(
            "Scenarios, or folders of them, run with this policy in the place of theirs.", valueName: "dir"))
    var scenarios: [String] = []
    @Option(help: ArgumentHelp("The folder that `policy FILE` in a scenario is relative to.", valueName: "folder"))
    var policies = "policies"
    @Option(help: ArgumentHelp("Drop-ins to read over the policy.", valueName: "folder")) var policyDir: String?
    @Option(help: ArgumentHelp("Clients in a world: 1 to 4.", valueName: "number")) var clients = 3
    @Option(help: ArgumentHelp("Cameras in a world: 1 to 3.", valueName: "number")) var cameras = 2
    @Option(help: ArgumentHelp("How long each search may take, such as 20s or 2min.", valueName: "time")) var maxTime =
        "20s"

    func validate() throws {
        guard (1...4).contains(clients) else { throw ValidationError("--clients \(clients) is outside 1 to 4.") }
        guard (1...3).contains(cameras) else { throw ValidationError("--cameras \(cameras) is outside 1 to 3.") }
        guard TimeText.parse(maxTime) != nil else {
            throw ValidationError("--max-time \(maxTime) is not a time; a time is written 30s, 500ms or 10min.")
        }
    }

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
        if Output.isErrorTerminal { Output.progress("") }
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
        if report.isBroken { throw Failure(.answerIsNo, "") }
        if report.isCutOff { throw Failure(.cutOff, "") }
    }

    /// 128 bits that nobody who wrote the policy could know.
    private static func nonce() -> String {
        var random = SystemRandomNumberGenerator()
        return String(random.next() as UInt64, radix: 36) + String(random.next() as UInt64, radix: 36)
    }

    /// Yes, until a search has taken its time.
    private func patience() -> @Sendable () -> Bool {
        let deadline = Moment.now + (TimeText.parse(maxTime) ?? .seconds(20))
        return { Moment.now < deadline }
    }

    private func limiter(_ what: String) -> SearchLimiter {
        let begin = Moment.now
        let mayGoOn = patience()
        return { progress in
            if Output.isErrorTerminal, Moment.now - begin > .seconds(2) {
                Output.progress("world \(progress.world) of \(progress.worlds), \(progress.states) states", of: what)
            }
            return mayGoOn() ? nil : .time
        }
    }

    private func runScenarios(_ report: inout PolicyReport) throws {
        guard !scenarios.isEmpty else { return }
        let policy = report.policy.policy
        var reach = ScenarioReach(policy)
        for path in try scenarioFiles(scenarios) {
            let scenario: Scenario
            do throws(ScenarioError) { scenario = try Scenario.load(path: path, policies: policies) } catch {
                throw Failure(error)
            }
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
        let walk: PolicyWalk
        do throws(ScenarioError) {
            walk = try PolicyWalk(policy, clients: clients, cameras: cameras, scope: .policy)
        } catch { throw Failure(.usage, "\(file): \(error)") }
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
        let difference: PolicyDifference
        do throws(ScenarioError) {
            difference = try PolicyDifference(policy, other, clients: clients, cameras: cameras, scope: .policy)
        } catch { throw Failure(.usage, "\(path): \(error)") }
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
        guard let part = try readParts(path, mayBeCut: true).first else {
            throw Failure(.usage, "\(path): there is no part of a trace in it.")
        }
        var policies = [policy]
        if let against { policies.append(try PolicyFileOptions.load(against, dropIns: nil).policy) }
        do {
            return PolicyReport.TracePicture(
                file: path, pictures: try policies.map { try ToldScenario(part, under: $0, while: patience()) },
                remarks: ToldScenario.remarks(part))
        } catch let error as Arbiter.BrokenSnapshot {
            throw Failure(.usage, "\(path):\(part.header.line): the snapshot: \(error.message)")
        }
    }
}
