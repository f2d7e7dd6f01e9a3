import Arbiter
import ArbiterProtocol
import ArgumentParser
import Glibc
import JSONText
import Scenario
import SystemdBus
import Timeline

/// The picture of a scenario or of a log.
struct TimelineCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "timeline",
        abstract: "Draw who had the camera: of a scenario, or of logs; in the terminal, or as SVG.",
        usage: "camclient timeline [options] <scenario> | --from <log> ...",
        discussion: """
            Logs are what `watch --json`, `run --json` and `shell --json` print; several are put in order by their \
            moments. For a live picture: camclient watch --timeline.
            Examples:
              camclient timeline the-caller-hangs-up-first.scenario
              camclient timeline --from visit.jsonl --svg visit.svg
              camclient timeline --from photos.jsonl --from call.jsonl --from shell.jsonl
            """)

    @Argument(help: "A scenario file.")
    var scenario: String?
    @Option(name: .long, help: ArgumentHelp("A log; - is standard input. Repeatable.", valueName: "log"))
    var from: [String] = []
    @Option(
        name: .long,
        help: ArgumentHelp("Draw into this file instead of the terminal; - is standard output.", valueName: "file"))
    var svg: String?
    @Option(help: ArgumentHelp("The drawing's title.", valueName: "text"))
    var title: String?
    @Option(help: ArgumentHelp("Columns of the terminal drawing, a number from 20.", valueName: "columns"))
    var width: Int?
    @Option(help: ArgumentHelp("The folder that `policy FILE` in a scenario is relative to.", valueName: "folder"))
    var policies = "policies"
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (scenario == nil) != from.isEmpty else {
            throw ValidationError(
                "Give a scenario file, or logs with --from. For a live picture: camclient watch --timeline")
        }
    }

    func run() async throws {
        let entries = try scenario.map(entries(ofScenario:)) ?? readLogs()
        guard !entries.isEmpty else { throw Failure(.answerIsNo, "There is nothing to draw: no event is in it.") }
        if output.json {
            for entry in entries { Output.line(entry.json.text) }
            return
        }
        var builder = TimelineBuilder()
        for entry in entries { builder.note(entry) }
        // A little beyond the last event, so that what it led to shows.
        let whole = builder.timeline()
        let picture = builder.timeline(until: whole.end + max(whole.duration / 25, .milliseconds(100)))
        if let svg {
            let text = picture.svg(title: title ?? scenario.map(claim(ofScenario:)) ?? "Who had the camera")
            if svg == "-" { Output.line(text) } else { try writeText(text, to: svg) }
            return
        }
        for line in picture.terminalLines(width: width ?? Output.width, style: output.style) { Output.line(line) }
    }

    // MARK: Scenarios

    private func load(_ path: String) throws(Failure) -> Scenario {
        guard access(path, R_OK) == 0 else { throw Failure.file(path, "cannot be read", errno) }
        do throws(ScenarioError) {
            return try Scenario.load(path: path, policies: policies)
        } catch { throw Failure(.usage, error.description) }
    }

    private func claim(ofScenario path: String) -> String {
        (try? load(path).claim) ?? path
    }

    private func entries(ofScenario path: String) throws(Failure) -> [LogEntry] {
        let scenario = try load(path)
        var stage = Stage(Arbiter(policy: scenario.world.policy))
        _ = scenario.run(on: &stage)
        var writer = ScenarioWriter(names: scenario.names)
        var entries: [LogEntry] = []
        for step in stage.steps {
            writer.learn(step.event)
            if let text = writer.text(of: step.event),
                let fact = DecisionTrace.fact(text.scenarioWords),
                // The cameras that are there from the start are the world, not news.
                !(step.moment == .zero && text.hasPrefix("plug "))
            {
                entries.append(.fact(step.moment, fact))
            }
            for effect in step.effects {
                switch effect {
                case .notify(_, let session, let sequence, let event):
                    entries.append(
                        .event(
                            step.moment, app: scenario.names.name(of: session),
                            SessionSignal(sequence: sequence, decision: 0, event: event)))
                case .announce(.holderChanged(let camera, let app)):
                    entries.append(.fact(step.moment, .holder(camera: camera.name, app?.name)))
                default: break
                }
            }
        }
        return entries
    }

    // MARK: Logs

    private func readLogs() throws(Failure) -> [LogEntry] {
        var entries: [LogEntry] = []
        for path in from {
            for (index, line) in try readText(path).split(separator: "\n", omittingEmptySubsequences: false)
                .enumerated()
            {
                guard line.contains(where: { !$0.isWhitespace }) else { continue }
                do {
                    if let entry = try LogEntry(json: JSONReader.read(line)) { entries.append(entry) }
                } catch let problem as JSONReader.Problem {
                    throw Failure(.usage, "\(path):\(index + 1):\(problem.column): \(problem.message)")
                } catch let problem as BrokerError {
                    throw Failure(.usage, "\(path):\(index + 1): \(problem.message)")
                } catch { throw Failure(.usage, "\(path):\(index + 1): \(error)") }
            }
        }
        // Stable, so that a log's own order stays where moments are equal.
        return entries.enumerated().sorted { ($0.element.moment, $0.offset) < ($1.element.moment, $1.offset) }
            .map(\.element)
    }
}
