import ArgumentParser
import Glibc
import Trace

/// A scenario of a trace.
struct TraceConvert: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "convert",
        abstract: "Make a scenario of a trace: the same inputs, and what sessions were told.",
        discussion: """
            The trace begins with its broker's start: a scenario cannot begin in the middle. Recorders answer as they \
            did; deadlines fire by themselves. What the scenario shows is what happens in it, and it is made sure that \
            the sessions are told the same as in the trace. Exit status 1, and a sentence, where they are not; the \
            scenario is written all the same.
            Examples:
              camclient trace convert out/demo.trace -o demo.scenario
              camclient test demo.scenario
            """)

    @Argument(help: ArgumentHelp("A trace; - is standard input.", valueName: "file"))
    var file: String
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Write the scenario here; without it, to standard output.", valueName: "scenario"))
    var target: String?
    @Flag(help: "Leave out a last line that is cut short, as a broker that was killed may leave it.")
    var cut = false

    func run() async throws {
        let parts = try readParts(file, mayBeCut: cut)
        guard parts.count == 1, let part = parts.first else {
            throw Failure(.usage, "\(file): steps are missing in between, and a scenario has no gaps.")
        }
        let scenario: TraceScenario
        do throws(TraceError) {
            scenario = try TraceScenario(
                part, title: "What \(part.header.program) was told and decided: \(part.steps.count) steps.")
        } catch { throw Failure(error) }
        if let target { try writeText(scenario.text, to: target) } else { Output.text(scenario.text) }
        if let deviation = scenario.deviation {
            throw Failure(
                .answerIsNo, "\(file): the scenario is not told the same as the trace. \(deviation).")
        }
    }
}
