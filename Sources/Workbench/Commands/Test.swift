import ArbiterProtocol
import ArgumentParser
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
    if access("\(path)/.", F_OK) != 0, errno == ENOTDIR { return [path] }
    var found: [String] = []
    for (name, isFolder) in try entries(of: path) {
        let inner = name.inFolder(path)
        if name.hasSuffix(".scenario") {
            found.append(inner)
        } else if isFolder, !name.hasPrefix(".") {
            found += try scenarioFiles(in: inner)
        }
    }
    return found.sorted()
}
