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
        abstract: "Draw who had the camera: of a scenario, a trace, or of logs; in the terminal, or as SVG.",
        usage: "camclient timeline [options] <file> | --from <log> ...",
        discussion: """
            The file is a scenario, or a trace that camarbd --trace or camclient trace record has written; a trace is \
            replayed, and must come out as it was written. Logs are what `watch --json`, `run --json` and \
            `shell --json` print; several are put in order by their moments. For a live picture: camclient watch --timeline.
            Apps come first, then cameras, each with its recordings and with the times that run on it: a lease, and \
            the time in which a recorder has to confirm a cut. Each cause of an interruption has its colour, a letter \
            and, in SVG, its hatching; the legend explains what occurs. What does not fit into the picture stands \
            beneath it in words.
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
    @Option(help: .value("folder", "The folder that `policy FILE` in a scenario is relative to."))
    var policies = "policies"
    @Flag(help: "Leave out a trace's last line where it is cut short, as a broker that was killed may leave it.")
    var cut = false
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
        let entries = try traced ?? scenario.map(readScenario) ?? readLogs()
        guard !entries.isEmpty else { throw Failure(.answerIsNo, "There is nothing to draw: no event is in it.") }
        if output.json { return output.list(entries.map(\.json), []) }
        let picture = Timeline(entries)
        if let svg {
            let text = picture.svg(
                title: title ?? (traced == nil ? scenario : nil).map(firstLine(ofScenario:)) ?? "Who had the camera")
            if svg == "-" {
                Output.line(text)
            } else {
                // A scenario is somebody's words; logs and traces are of a machine's users.
                let isMadeUp = traced == nil && scenario != nil
                try writeText(text, to: svg, for: isMadeUp ? .everybody : .owner)
            }
            return
        }
        Output.lines(picture.terminalLines(width: width ?? Output.width, style: output.style))
    }

    private func load(_ path: String) throws -> Scenario {
        guard access(path, R_OK) == 0 else { throw Failure.file(path, "cannot be read", errno) }
        return try Scenario.load(path: path, policies: policies)
    }

    private func firstLine(ofScenario path: String) -> String { (try? load(path).title) ?? path }

    private func readScenario(_ path: String) throws -> [LogEntry] {
        let scenario = try load(path)
        var stage = Stage(Arbiter(policy: scenario.world.policy))
        // Whether a scenario holds is what `test` says; here only what happens counts.
        stage.checksEverything = false
        _ = scenario.run(on: &stage)
        var story = StepStory(from: Arbiter(policy: scenario.world.policy), names: scenario.names)
        for step in stage.steps { story.note(step.event, step.effects, at: step.moment) }
        return story.entries
    }

    private func readTrace(_ path: String) throws -> [LogEntry]? {
        guard TraceReader.isTrace(path: path) else { return nil }
        var story = StepStory(from: Arbiter(policy: .firstCome))
        for part in try TraceReader.read(path: path, mayBeCut: cut) {
            let difference = try part.checked { () throws(Arbiter.BrokenSnapshot) in
                story.begin(part.header, try part.header.arbiter(), at: part.header.snapshot?.now)
                return try Replay.run(part) { story.note($0) }.difference
            }
            if let difference {
                throw Failure(
                    .answerIsNo,
                    "\(path):\(difference.line): this step comes out otherwise than it was written, and a picture would "
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
