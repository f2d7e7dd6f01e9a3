import Arbiter
import ArbiterProtocol
import ArgumentParser
import Explain
import Glibc
import Scenario
import Workbench

struct TimelineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "Draw who had the camera, from a scenario, a trace or logs; in the terminal, or as SVG.",
        usage: "camclient timeline [options] <file> | --from <log> ...",
        discussion: """
            The file is a scenario, or a trace of camarbd --trace or camclient trace record; a trace is replayed, and must \
            come out as it was written. Logs are the lines of `watch --json`, `run --json` and \
            `shell --json`; several are put in order by their moments. For a live picture: camclient watch --timeline.
            Apps come first, then cameras, each with its recordings and its deadlines: a lease, and the time within which \
            a recorder confirms a cut. Each cause of an interruption has a colour, a letter and, in SVG, a hatching; \
            a legend explains them. Words that do not fit into the picture stand beneath it.
            Examples:
              camclient timeline the-caller-hangs-up-first.scenario
              camclient timeline --width 60 --color never the-caller-hangs-up-first.scenario
              camclient timeline out/demo.trace --svg demo.svg
              camclient timeline --from visit.jsonl --svg visit.svg
              camclient timeline --from photos.jsonl --from call.jsonl --from shell.jsonl
            """)

    @Argument(help: .value("file", "A scenario, or a trace.")) var scenario: String?
    @Option(name: .long, help: .value("log", "A log; - is standard input. Repeatable.")) var from: [String] = []
    @Option(name: .long, help: .value("file", "Draw into this file instead of the terminal; - is standard output."))
    var svg: String?
    @Option(help: .value("text", "The drawing's title.")) var title: String?
    @Option(help: .value("columns", "Columns of the terminal drawing, from 20 to 400.")) var width: Int?
    @OptionGroup var scenarios: ScenarioOptions
    @OptionGroup var traces: TraceOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (scenario == nil) != from.isEmpty else {
            throw ValidationError(
                "Give a scenario or a trace, or logs with --from. For a live picture: camclient watch --timeline")
        }
        let widths = Timeline.terminalWidthMin...Timeline.terminalWidthMax
        if let width, !widths.contains(width) {
            throw ValidationError("--width is \(width); it takes \(widths.lowerBound) to \(widths.upperBound).")
        }
    }

    func run() async throws {
        let traced = try scenario.flatMap(readTrace)
        let staged = try traced == nil ? scenario.map(readScenario) : nil
        let entries = try traced ?? staged?.entries ?? readLogs()
        guard !entries.isEmpty else { throw Failure(.answerIsNo, "There is nothing to draw: no event is in it.") }
        if output.json { return output.list(entries.map(\.json), []) }
        let picture = Timeline(entries)
        guard let svg else {
            return Output.lines(picture.terminalLines(width: width ?? Output.width, style: output.style))
        }
        let text = picture.svg(title: title ?? staged?.title ?? "Who had the camera")
        if svg == "-" { return Output.line(text) }
        // A scenario is made up; logs and traces show a machine's users.
        try writeText(text, to: svg, for: staged == nil ? .owner : .everybody)
    }

    private func readScenario(_ path: String) throws -> (title: String, entries: [LogEntry]) {
        guard access(path, R_OK) == 0 else { throw Failure.file(path, "cannot be read", errno) }
        let scenario = try Scenario.load(path: path, policies: scenarios.policies)
        var stage = Stage(Arbiter(policy: scenario.world.policy))
        // `test` checks the scenario; the picture shows its events.
        stage.checksEverything = false
        _ = scenario.run(on: &stage)
        var story = StepStory(from: Arbiter(policy: scenario.world.policy), names: scenario.names)
        for step in stage.steps { story.note(step.event, step.effects, at: step.moment) }
        return (scenario.title, story.entries)
    }

    private func readTrace(_ path: String) throws -> [LogEntry]? {
        guard TraceReader.isTrace(path: path) else { return nil }
        var story = StepStory(from: Arbiter(policy: .firstCome))
        for part in try traces.read(path) {
            let difference = try part.checked { () throws(Arbiter.BrokenSnapshot) in
                story.begin(part.header, try part.header.arbiter(), at: part.header.snapshot?.now)
                return try Replay.run(part) { story.note($0) }.difference
            }
            if let difference {
                throw Failure(
                    .answerIsNo,
                    "\(path):\(difference.line): this step's outcome differs from what was written, and a picture would "
                        + "be of something else. camclient trace replay shows both.")
            }
            if case .lost(let count) = part.end { story.lose(count) }
        }
        return story.entries
    }

    private func readLogs() throws(Failure) -> [LogEntry] {
        var entries: [LogEntry] = []
        for path in from {
            let lines = try readText(path).split(separator: "\n", omittingEmptySubsequences: false)
            for (index, line) in lines.enumerated() where line.contains(where: { !$0.isWhitespace }) {
                do {
                    if let entry = try LogEntry(json: JSONReader.read(line)) { entries.append(entry) }
                } catch let problem as JSONReader.Problem {
                    throw Failure(.usage, "\(path):\(index + 1):\(problem.column): \(problem.message)")
                } catch {
                    let message = (error as? BrokerError)?.message ?? "\(error)"
                    throw Failure(.usage, "\(path):\(index + 1): \(message)")
                }
            }
        }
        // Stable, so that a log's own order stays where moments are equal.
        return entries.enumerated().sorted { ($0.element.moment, $0.offset) < ($1.element.moment, $1.offset) }
            .map(\.element)
    }
}
