import Arbiter
import ArbiterProtocol
import ArgumentParser
import Exploration
import JSONText
import Machine
import PolicyFile
import Scenario
import Timeline
import TomlFile

/// Where two policies behave differently.
struct PolicyDiff: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff",
        abstract: "Find the shortest scenario on which two policies behave differently, and all kinds of differences.",
        discussion: """
            Two policies that say the same, names and orders that are nothing apart, are said to: nothing is walked then.
            Else both live through the same events, in small worlds made of what either of them can see; recorders answer
            at once. A difference is what clients are told, and which app holds which camera; names of rules are none.
            Exit status 0: no difference. 1: a difference. 6: cut off by a bound, and no difference so far.
            Examples:
              camclient policy diff policies/ios9.toml policies/ipados16.toml
              camclient policy diff kiosk.toml kiosk-new.toml --clients 2 --depth 8
            """)

    @Argument(help: ArgumentHelp("The first policy file.", valueName: "file"), completion: .file(extensions: ["toml"]))
    var first: String
    @Argument(help: ArgumentHelp("The second.", valueName: "file"), completion: .file(extensions: ["toml"]))
    var second: String
    @Option(
        help: ArgumentHelp(
            "Steps from the beginning, at most; without it as far as the bounds reach.", valueName: "number"))
    var depth: Int?
    @Flag(help: "Also what no policy sees: the machine's own events, configurations, clients that vanish.")
    var everything = false
    @OptionGroup var search: SearchOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if let depth, depth < 1 { throw ValidationError("--depth \(depth) is below 1.") }
    }

    func run() async throws {
        let policies = try [first, second].map { file in
            do throws(FileProblems) {
                return try PolicyFile.load(path: file, accounts: MachineAccounts())
            } catch {
                throw Failure(.usage, error.description)
            }
        }
        let difference: PolicyDifference
        do throws(ScenarioError) {
            difference = try PolicyDifference(
                policies[0], policies[1], clients: search.clients, cameras: search.cameras, pairsOnly: search.pairs,
                scope: everything ? .everything : .policy)
        } catch {
            throw Failure(.usage, error.description)
        }
        let begin = Moment.now
        let report =
            difference.isSame
            ? .nothingToWalk
            : difference.run(
                SearchBounds(statesMax: search.maxStates, depthMax: depth ?? .max),
                limiter: search.limiter("\(first) and \(second)", since: begin))
        let took = Moment.now - begin
        if Output.isErrorTerminal, took > .seconds(2) { Output.progress("") }
        // Two files may hold policies of one name.
        let names =
            policies[0].name == policies[1].name ? [first, second] : policies.map(\.name)
        if output.json {
            Output.line(json(report, names, took, difference.neverVaried))
        } else if report.isSame {
            Output.line(
                "no difference: names apart, the rules of both answer the same for all facts, and all else is equal; "
                    + "nothing had to be walked")
        } else {
            show(report, names, took)
            if report.witness == nil {
                Output.line("  never varied: \(difference.neverVaried.joined(separator: ", "))")
            }
        }
        if report.witness != nil { throw Failure(.answerIsNo, "") }
        if report.cutOffBy != nil { throw Failure(.cutOff, "") }
    }

    private func size(_ report: PolicyDifference.Report) -> String {
        let steps = report.isExhausted ? "any number of steps" : "\(report.depth) steps"
        return "of \(VerifyVerdict.casts(report.casts, of: report.castsInAll)), "
            + "up to \(search.clients) clients × \(search.cameras) cameras, \(steps)"
    }

    private func show(_ report: PolicyDifference.Report, _ names: [String], _ took: Duration) {
        let figures =
            "\(report.states.grouped) states and \(report.transitions.grouped) transitions of \(report.worlds) worlds "
            + "in \(took.shortText)"
        guard let witness = report.witness else {
            if let cut = report.cutOffBy {
                return Output.line(
                    "NOT COMPLETE, cut off \(cut.sentence): no difference so far in any world \(size(report)); \(figures)"
                )
            }
            return Output.line("no difference in any world \(size(report)); \(figures)")
        }
        Output.line(
            "# \(names[0]) and \(names[1]) differ after \(witness.length) step\(witness.length == 1 ? "" : "s"):")
        Output.line("")
        for line in witness.inputs { Output.line(line) }
        for (name, outcome) in zip(names, witness.outcomes) {
            Output.line("  \(name):")
            for line in outcome.isEmpty ? ["nobody is told anything"] : outcome { Output.line("       \(line)") }
        }
        Output.line("")
        let reach =
            report.cutOffBy.map { "until it was cut off \($0.sentence)" }
            ?? "within \(report.depth) step\(report.depth == 1 ? "" : "s")"
        Output.line("# Kinds of differences \(reach) (\(figures)):")
        for kind in report.kinds {
            Output.line("#   \(Self.sentence(kind, names))")
        }
    }

    private static func sentence(_ kind: PolicyDifference.Kind, _ names: [String]) -> String {
        "\(names[0]) \(kind.outcomes[0]) where \(names[1]) \(kind.outcomes[1]): "
            + "\(kind.situations.grouped) situation\(kind.situations == 1 ? "" : "s"), first after \(kind.shortest) steps"
    }

    private func json(
        _ report: PolicyDifference.Report, _ names: [String], _ took: Duration, _ neverVaried: [String]
    ) -> String {
        JSON.object([
            "first": .string(first), "second": .string(second), "clients": .integer(Int64(search.clients)),
            "cameras": .integer(Int64(search.cameras)), "same": .bool(report.isSame),
            "everything": .bool(everything), "casts": .integer(Int64(report.casts)),
            "castsInAll": .integer(Int64(report.castsInAll)), "neverVaried": .strings(neverVaried),
            "worlds": .integer(Int64(report.worlds)),
            "states": .integer(Int64(report.states)), "transitions": .integer(Int64(report.transitions)),
            "steps": .integer(Int64(report.depth)), "exhausted": .bool(report.isExhausted),
            "cutOffBy": report.cutOffBy.map { .string($0.rawValue) } ?? .null,
            "seconds": .number(Double(took.wholeNanoseconds / 1_000_000) / 1000),
            "difference": report.witness.map { witness in
                .object([
                    "length": .integer(Int64(witness.length)), "inputs": .strings(witness.inputs),
                    "outcomes": .array(witness.outcomes.map { .strings($0) }),
                ])
            } ?? .null,
            "kinds": .array(
                report.kinds.map { kind in
                    .object([
                        "outcomes": .strings(kind.outcomes), "situations": .integer(Int64(kind.situations)),
                        "shortest": .integer(Int64(kind.shortest)), "sentence": .string(Self.sentence(kind, names)),
                    ])
                }),
        ]).text
    }
}
