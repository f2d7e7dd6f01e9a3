import Arbiter
import ArbiterProtocol
import ArgumentParser
import Explain
import Glibc
import Scenario
import Workbench

struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run scenario files against the decision core, on a virtual clock.",
        usage: "camclient test [options] <file> ...",
        discussion: """
            Needs no broker. A scenario that differs from its outcome is shown as a diff, and the exit status is 1; \
            2 when a file is not a scenario; 5 when one cannot be read. A folder stands for all its .scenario files.
            Examples:
              camclient test Tests/scenarios
              camclient test the-caller-hangs-up-first.scenario --policies policies
              camclient test scenarios --policy-dir /etc/camarb/policy.d
            """)

    @Argument(help: .value("file", "Scenario files, or folders of them."), completion: .file(extensions: ["scenario"]))
    var files: [String]
    @OptionGroup var scenarios: ScenarioOptions
    @OptionGroup var policyFiles: PolicyFileOptions
    @Flag(help: "Write the outcome into files that differ; the exit status is still 1.") var rewrite = false
    @OptionGroup var output: OutputOptions

    func run() async throws {
        try policyFiles.requireFolder()
        var batch = ScenarioBatch(
            try scenarioFiles(files), policies: scenarios.policies, output: output, rewrite: rewrite,
            dropIns: policyFiles.policyDir)
        batch.run { $0.run() }
        try batch.finish()
    }
}

struct ScenarioBatch {
    let paths: [String]
    let policies: String
    let output: OutputOptions
    let rewrite: Bool
    let dropIns: String?
    private var failed = 0
    private(set) var unreadable = 0
    private var isFaulty = false
    var isUnreadable: Bool { unreadable == paths.count }

    init(_ paths: [String], policies: String, output: OutputOptions, rewrite: Bool, dropIns: String?) {
        (self.paths, self.policies, self.output, self.rewrite, self.dropIns) =
            (paths, policies, output, rewrite, dropIns)
    }

    mutating func run(_ perform: (Scenario) -> Outcome) {
        let progress = Progress()
        for (index, path) in paths.enumerated() {
            progress.show("\(index) of \(paths.count)")
            run(path, perform)
        }
        let passed = paths.count - failed - unreadable
        var words = ["\(passed) of \(paths.count) scenarios passed"]
        if failed > 0 { words.append("\(failed) failed") }
        if unreadable > 0 { words.append("\(unreadable) could not be read") }
        output.show(
            ["scenarios": paths.count, "passed": passed, "failed": failed, "unreadable": unreadable],
            [words.joined(separator: ", ")])
    }

    func finish() throws(Failure) {
        if isFaulty { throw Failure(.file) }
        if unreadable > 0 { throw Failure(.usage) }
        if failed > 0 { throw Failure(.answerIsNo) }
    }

    private mutating func run(_ path: String, _ perform: (Scenario) -> Outcome) {
        do throws(ScenarioError) {
            let outcome = perform(try Scenario.load(path: path, policies: policies, dropIns: dropIns))
            guard outcome.expected.contains(where: { $0.hasPrefix(" ") || $0.first?.isNumber == true }) else {
                unreadable += 1
                show(path, outcome, emptiness: "\(path): nothing happens in it; a scenario has at least one input")
                return
            }
            show(path, outcome)
            guard !outcome.passed else { return }
            failed += 1
            if rewrite, outcome.expected != outcome.actual {
                try Scenario.write(outcome.rewritten, path: path)
                Output.notice("\(path): rewritten")
            }
        } catch {
            unreadable += 1
            if error.isFault { isFaulty = true }
            output.show(
                [
                    "file": path, "ok": false, "message": error.description,
                    "problems": error.problems.map {
                        ["file": $0.file, "line": $0.line, "column": $0.column, "message": $0.message] as JSONObject
                    },
                ], [error.description])
        }
    }

    private func show(_ path: String, _ outcome: Outcome, emptiness: String? = nil) {
        output.show(
            [
                "file": path, "title": outcome.title, "ok": outcome.passed && emptiness == nil,
                "report": emptiness ?? outcome.report,
                "differences": outcome.differences.map {
                    ["file": path, "line": $0.line, "expected": $0.expected, "got": $0.got] as JSONObject
                }, "violations": outcome.violations,
            ], emptiness.map { [$0] } ?? (outcome.passed ? [] : painted(outcome.report)))
    }

    private func painted(_ report: String) -> [String] {
        report.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard output.style.hasColour, let mark = line.first(where: { $0 != " " }), "+-".contains(mark) else {
                return String(line)
            }
            return "\u{1b}[\(mark == "+" ? "32" : "31")m\(line)\u{1b}[0m"
        }
    }
}

func scenarioFiles(_ arguments: [String]) throws(Failure) -> [String] {
    var paths: [String] = []
    for argument in arguments { paths += try scenarioFiles(in: argument) }
    guard !paths.isEmpty else {
        throw Failure(.usage, "There is no .scenario file in \(arguments.joined(separator: ", ")).")
    }
    return paths
}

private func scenarioFiles(in path: String) throws(Failure) -> [String] {
    if path == "-" { return [path] }
    guard let folder = opendir(path) else {
        if errno == ENOTDIR { return [path] }
        throw Failure.file(path, "cannot be read", errno)
    }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let inner = name.inFolder(path)
        if name.hasSuffix(".scenario") {
            found.append(inner)
        } else if entry.pointee.d_type == UInt8(DT_DIR), !name.hasPrefix(".") {
            found += try scenarioFiles(in: inner)
        }
    }
    return found.sorted()
}

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
        let entries = try traced ?? scenario.map(readScenario) ?? readLogs()
        guard !entries.isEmpty else { throw Failure(.answerIsNo, "There is nothing to draw: no event is in it.") }
        if output.json { return output.list(entries.map(\.json), []) }
        let picture = Timeline(entries)
        guard let svg else {
            return Output.lines(picture.terminalLines(width: width ?? Output.width, style: output.style))
        }
        let claimed = traced == nil ? scenario.map { (try? load($0).title) ?? $0 } : nil
        let text = picture.svg(title: title ?? claimed ?? "Who had the camera")
        if svg == "-" { return Output.line(text) }
        // A scenario is made up; logs and traces show a machine's users.
        try writeText(text, to: svg, for: claimed == nil ? .owner : .everybody)
    }

    private func load(_ path: String) throws -> Scenario {
        guard access(path, R_OK) == 0 else { throw Failure.file(path, "cannot be read", errno) }
        return try Scenario.load(path: path, policies: scenarios.policies)
    }

    private func readScenario(_ path: String) throws -> [LogEntry] {
        let scenario = try load(path)
        var stage = Stage(Arbiter(policy: scenario.world.policy))
        // `test` checks the scenario; the picture shows its events.
        stage.checksEverything = false
        _ = scenario.run(on: &stage)
        var story = StepStory(from: Arbiter(policy: scenario.world.policy), names: scenario.names)
        for step in stage.steps { story.note(step.event, step.effects, at: step.moment) }
        return story.entries
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
