import Arbiter
import ArbiterProtocol
import ArgumentParser
import Exploration
import JSONText
import PolicyFile
import Scenario
import Timeline

/// Whether a policy keeps what is promised, in every state of small worlds.
struct PolicyVerify: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Walk every state that small worlds can reach under a policy, and look for a broken promise.",
        discussion: """
            The worlds come from the policy: its kinds of clients, its cameras, and every event that it can see;
            recorders answer at once. With --everything they answer whenever they like, cameras are unplugged and
            plugged in again, and clients vanish: best in a smaller world.
            In each state the broker's own promises have to hold (docs/semantics.md, 8), and the [[never]] and
            [[always]] statements of the policy. What breaks one is printed as the shortest scenario, which
            `camclient test` runs.
            Exit status 0: everything was walked, and holds. 1: something is broken. 6: cut off by a bound before
            everything was walked, and nothing is broken so far.
            Examples:
              camclient policy verify policies/kiosk.toml
              camclient policy verify kiosk.toml --clients 2 --cameras 1 --everything
              camclient policy verify kiosk.toml --max-time 10min --max-memory 8G > broken.scenario
            """)

    @Argument(
        help: ArgumentHelp("The policy file; several are verified one after the other.", valueName: "file"),
        completion: .file(extensions: ["toml"]))
    var files: [String]
    @Flag(help: "Also what no policy sees: late recorders, unplugged cameras, clients that vanish.")
    var everything = false
    @OptionGroup var search: SearchOptions
    @OptionGroup var output: OutputOptions

    private var scope: WalkScope { everything ? .everything : .policy }

    func run() async throws {
        var isBroken = false
        var cut: SearchBound?
        // A mistake in any file is said before anything is walked.
        let policies = try files.map { file in
            do throws(PolicyProblems) {
                return try PolicyFile.load(path: file)
            } catch {
                throw Failure(.usage, error.description)
            }
        }
        for (file, policy) in zip(files, policies) {
            let walk: PolicyWalk
            do throws(ScenarioError) {
                walk = try PolicyWalk(
                    policy, clients: search.clients, cameras: search.cameras, scope: scope, allCasts: search.allCasts)
            } catch {
                throw Failure(.usage, "\(file): \(error)")
            }
            let begin = Moment.now
            let place = SearchOptions.place(file)
            let report = walk.run(
                SearchBounds(statesMax: search.maxStates), policyLine: place.name, policies: place.folder,
                watch: search.watch(file, since: begin))
            let took = Moment.now - begin
            if Output.isErrorTerminal, took > .seconds(2) { Output.progress("") }
            show(file, policy.statements.count, report, took)
            isBroken = isBroken || report.finding != nil
            cut = cut ?? report.cutOffBy
        }
        if isBroken { throw Failure(.answerIsNo, "") }
        if cut != nil { throw Failure(.cutOff, "") }
    }

    private func show(_ file: String, _ statements: Int, _ report: PolicyWalk.Report, _ took: Duration) {
        let rate = SearchOptions.rate(report.transitions, took)
        if output.json {
            return Output.line(
                JSON.object([
                    "file": .string(file), "clients": .integer(Int64(search.clients)),
                    "cameras": .integer(Int64(search.cameras)), "worlds": .integer(Int64(report.worlds)),
                    "worldsInAll": .integer(Int64(report.worldsInAll)), "everything": .bool(everything),
                    "states": .integer(Int64(report.states)), "transitions": .integer(Int64(report.transitions)),
                    "depth": .integer(Int64(report.depth)), "statements": .integer(Int64(statements)),
                    "complete": .bool(report.isComplete),
                    "cutOffBy": report.cutOffBy.map { .string($0.rawValue) } ?? .null,
                    "seconds": .number(Double(took.wholeNanoseconds / 1_000_000) / 1000),
                    "transitionsPerSecond": .integer(Int64(rate)),
                    "broken": report.finding.map { finding in
                        .object([
                            "message": .string(finding.message),
                            "statement": finding.statement.map { .string($0) } ?? .null,
                            "length": .integer(Int64(finding.length)), "scenario": .string(finding.scenario),
                        ])
                    } ?? .null,
                ]).text)
        }
        let worlds =
            report.worlds < report.worldsInAll
            ? "\(report.worlds) of \(report.worldsInAll) worlds"
            : "\(report.worlds) world\(report.worlds == 1 ? "" : "s")"
        let figures =
            "walked \(report.states.grouped) states and \(report.transitions.grouped) transitions of \(worlds) "
            + "in \(took.shortText), \(rate.grouped) transitions a second"
        if let finding = report.finding {
            // The scenario alone goes to standard output, so that it can be kept as a file.
            Output.notice("\(file): \(finding.message), after \(finding.length) steps; \(figures)")
            Output.line(finding.scenario.hasSuffix("\n") ? String(finding.scenario.dropLast()) : finding.scenario)
            return
        }
        let size =
            "up to \(search.clients) clients × \(search.cameras) cameras"
            + (everything ? ", whatever the machine does" : "")
        let held =
            statements == 0 ? "the broker's promises hold" : "the broker's promises and \(statements) statements hold"
        if let cut = report.cutOffBy {
            Output.line(
                "\(file): NOT COMPLETE, cut off \(cut.sentence): \(held) as far as it went, \(size); \(figures), "
                    + "to a depth of \(report.depth)")
        } else {
            Output.line("\(file): \(held) in every state, \(size); \(figures)")
        }
    }
}
