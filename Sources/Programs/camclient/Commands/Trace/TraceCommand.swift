import Arbiter
import ArbiterProtocol
import ArgumentParser
import Explain
import Glibc
import PolicyFile
import Scenario

struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Record what a broker decides, replay it, and make scenarios of it.",
        discussion: """
            A trace has every event that reached the broker's core and everything it did about it, a JSON object a \
            line; docs/trace.md has the format. camarbd --trace FILE writes one too. Figures of many machines are a \
            database's: docs/fleet.md.
            Examples:
              camclient trace record visit.trace -d 1min
              camclient trace replay visit.trace
              camclient trace replay visit.trace --policy policies/kiosk.toml
              camclient trace convert visit.trace -o visit.scenario
            """, subcommands: [TraceRecord.self, TraceReplay.self, TraceConvert.self])
}

extension TracePart {
    func checked<Value>(_ body: () throws(Arbiter.BrokenSnapshot) -> Value) throws(Failure) -> Value {
        try at("\(file):\(header.line): the snapshot", body)
    }
}

struct TraceConvert: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert", abstract: "Make a scenario of a trace: the same inputs, and what sessions were told.",
        usage: "camclient trace convert [options] <file>",
        discussion: """
            The trace begins with its broker's start: a scenario cannot begin in the middle. Recorders answer as they \
            did; deadlines fire by themselves. The scenario is run, and its sessions must get the same notices as in the \
            trace. Exit status 1, and a sentence, where they do not; the scenario is written all the same.
            With --policy, the same inputs under another policy, and what they lead to there, as trace replay --policy \
            compares them: recorders are simulated then, and answer at once.
            Examples:
              camclient trace convert out/demo.trace -o demo.scenario
              camclient test demo.scenario
              camclient trace convert out/demo.trace --policy policies/kiosk.toml
            """)

    @Argument(help: .value("file", "A trace; - is standard input.")) var file: String
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: .value("scenario", "Write the scenario here; without it, to standard output.")) var target: String?
    @Option(help: .value("file", "Show what the inputs would have led to under this policy.")) var policy: String?
    @OptionGroup var policyFiles: PolicyFileOptions
    @Flag(help: "Leave out a last line that is cut short, as a broker that was killed may leave it.") var cut = false

    func validate() throws {
        if policy == nil, policyFiles.policyDir != nil {
            throw ValidationError("--policy-dir needs --policy, whose drop-ins are meant.")
        }
    }

    func run() async throws {
        let other = try policy.map { path in try policyFiles.load(path).policy }
        let parts = try TraceReader.read(path: file, mayBeCut: cut)
        guard parts.count == 1, let part = parts.first else {
            throw Failure(.usage, "\(file): steps are missing in between, and a scenario has no gaps.")
        }
        let scenario = try scenario(part, other)
        if let target { try writeText(scenario.text, to: target, for: .owner) } else { Output.text(scenario.text) }
        if let deviation = scenario.deviation {
            throw Failure(.answerIsNo, "\(file): the scenario is not told the same as the trace. \(deviation).")
        }
    }

    private func scenario(_ part: TracePart, _ other: Policy?) throws(TraceError) -> TraceScenario {
        let source = "What \(part.header.program) was told"
        guard let other else {
            return try TraceScenario(part, title: "\(source) and decided: \(part.steps.count) steps.")
        }
        let scenario = try TraceScenario(
            part, title: "\(source), under “\(other.name)” instead of “\(part.header.policy.name)”.", under: other)
        for (what, count) in scenario.leftOut.sorted(by: { $0.key < $1.key }) {
            Output.notice("\(file): not in the scenario: \(count) \(what)")
        }
        return scenario
    }
}
