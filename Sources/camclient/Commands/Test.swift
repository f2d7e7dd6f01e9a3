import Arbiter
import ArbiterProtocol
import ArgumentParser
import Glibc
import JSONText
import Scenario
import Timeline

/// Scenarios against the core.
struct Test: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Run scenario files against the decision core, on a virtual clock.",
        discussion: """
            Needs no broker. Exit status 1, and a diff of each, when a scenario does not come out as written; \
            2 when a file cannot be read as a scenario. A folder stands for all its .scenario files.
            Examples:
              camclient test Tests/scenarios
              camclient test the-caller-hangs-up-first.scenario --policies policies
            """)

    @Argument(
        help: ArgumentHelp("Scenario files, or folders of them.", valueName: "file"),
        completion: .file(extensions: ["scenario"]))
    var files: [String]
    @Option(help: ArgumentHelp("The folder that `policy FILE` in a scenario is relative to.", valueName: "folder"))
    var policies = "policies"
    @Flag(help: "Write what happens into files that differ; the exit status is 1 all the same.")
    var rewrite = false
    @OptionGroup var output: OutputOptions

    func run() async throws {
        var failed = 0
        var unreadable = 0
        let paths = try files.flatMap(scenarioFiles)
        guard !paths.isEmpty else {
            throw Failure(.usage, "There is no .scenario file in \(files.joined(separator: ", ")).")
        }
        let begin = Moment.now
        for (index, path) in paths.enumerated() {
            if Output.isErrorTerminal, Moment.now - begin > .seconds(2) {
                Output.progress("\(index) of \(paths.count)")
            }
            do throws(ScenarioError) {
                let outcome = try Scenario.load(path: path, policies: policies).run()
                guard outcome.expected.contains(where: { $0.hasPrefix(" ") || $0.first?.isNumber == true }) else {
                    unreadable += 1
                    show(path, outcome, emptiness: "\(path): nothing happens in it; a scenario has at least one input")
                    continue
                }
                show(path, outcome)
                guard !outcome.passed else { continue }
                failed += 1
                if rewrite, outcome.expected != outcome.actual {
                    try Scenario.write(outcome.rewritten, path: path)
                    Output.notice("\(path): rewritten")
                }
            } catch {
                unreadable += 1
                if output.json {
                    Output.line(
                        JSON.object(["file": .string(path), "ok": .bool(false), "message": .string(error.description)])
                            .text)
                } else {
                    Output.line(error.description)
                }
            }
        }
        if Output.isErrorTerminal, Moment.now - begin > .seconds(2) { Output.progress("") }
        if !output.json {
            let passed = paths.count - failed - unreadable
            var words = ["\(passed) of \(paths.count) scenarios passed"]
            if failed > 0 { words.append("\(failed) failed") }
            if unreadable > 0 { words.append("\(unreadable) could not be read") }
            Output.line(words.joined(separator: ", "))
        }
        if unreadable > 0 { throw Failure(.usage, "") }
        if failed > 0 { throw Failure(.answerIsNo, "") }
    }

    private func show(_ path: String, _ outcome: Outcome, emptiness: String? = nil) {
        if output.json {
            Output.line(
                JSON.object([
                    "file": .string(path), "claim": .string(outcome.claim),
                    "ok": .bool(outcome.passed && emptiness == nil), "report": .string(emptiness ?? outcome.report),
                ]).text)
        } else if let emptiness {
            Output.line(emptiness)
        } else if !outcome.passed {
            for line in outcome.report.split(separator: "\n", omittingEmptySubsequences: false) {
                let mark = line.drop { $0 == " " }.first
                Output.line(
                    mark == "+" ? paint(line, "32") : mark == "-" ? paint(line, "31") : String(line))
            }
        }
    }

    private func paint(_ line: Substring, _ code: String) -> String {
        output.style.hasColour ? "\u{1b}[\(code)m\(line)\u{1b}[0m" : String(line)
    }
}

/// The file itself, or all scenarios in and below a folder, in the order of their names.
private func scenarioFiles(_ path: String) throws(Failure) -> [String] {
    guard let folder = opendir(path) else {
        if errno == ENOTDIR { return [path] }
        throw Failure.file(path, "cannot be read", errno)
    }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
            String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
        }
        let inner = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
        if name.hasSuffix(".scenario") {
            found.append(inner)
        } else if entry.pointee.d_type == UInt8(DT_DIR), !name.hasPrefix(".") {
            found += try scenarioFiles(inner)
        }
    }
    return found.sorted()
}
