import Arbiter
import ArbiterProtocol
import Glibc
import Scenario
import Workbench

/// Scenario files that are run one after the other, each shown when it does not come out as written.
struct ScenarioBatch {
    let paths: [String]
    /// The folder that `policy FILE` in a scenario is relative to.
    let policies: String
    let output: OutputOptions
    /// Write what happens into files that differ.
    var rewrite = false
    /// A folder whose drop-ins are read over each policy that a scenario names.
    var dropIns: String?
    private(set) var failed = 0
    private(set) var unreadable = 0
    /// One of them could not be opened, read or rewritten.
    private var isFaulty = false
    var isUnreadable: Bool { unreadable == paths.count }

    init(_ paths: [String], policies: String, output: OutputOptions) {
        self.paths = paths
        self.policies = policies
        self.output = output
    }

    /// Runs them all with `perform`, and ends with how many passed.
    mutating func run(_ perform: (Scenario) -> Outcome) {
        let begin = Moment.now
        for (index, path) in paths.enumerated() {
            if Output.isErrorTerminal, Moment.now - begin > .seconds(2) {
                Output.progress("\(index) of \(paths.count)")
            }
            run(path, perform)
        }
        let passed = paths.count - failed - unreadable
        if output.json {
            return Output.json([
                "scenarios": .count(UInt64(paths.count)), "passed": .count(UInt64(passed)),
                "failed": .count(UInt64(failed)), "unreadable": .count(UInt64(unreadable)),
            ])
        }
        var words = ["\(passed) of \(paths.count) scenarios passed"]
        if failed > 0 { words.append("\(failed) failed") }
        if unreadable > 0 { words.append("\(unreadable) could not be read") }
        Output.line(words.joined(separator: ", "))
    }

    /// - Throws: the exit status that the scenarios come to, where it is not 0.
    func finish() throws(Failure) {
        if isFaulty { throw Failure(.file, "") }
        if unreadable > 0 { throw Failure(.usage, "") }
        if failed > 0 { throw Failure(.answerIsNo, "") }
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
            if output.json {
                Output.json([
                    "file": .string(path), "ok": .bool(false), "message": .string(error.description),
                    "problems": .array(
                        error.problems.map { problem in
                            .object([
                                "file": .string(problem.file), "line": .count(UInt64(problem.line)),
                                "column": .count(UInt64(problem.column)), "message": .string(problem.message),
                            ])
                        }),
                ])
            } else {
                Output.line(error.description)
            }
        }
    }

    private func show(_ path: String, _ outcome: Outcome, emptiness: String? = nil) {
        if output.json {
            Output.json([
                "file": .string(path), "title": .string(outcome.title),
                "ok": .bool(outcome.passed && emptiness == nil), "report": .string(emptiness ?? outcome.report),
                "differences": .array(
                    outcome.differences.map { difference in
                        .object([
                            "file": .string(path), "line": .count(UInt64(difference.line)),
                            "expected": .strings(difference.expected), "got": .strings(difference.got),
                        ])
                    }),
                "violations": .strings(outcome.violations),
            ])
        } else if let emptiness {
            Output.line(emptiness)
        } else if !outcome.passed {
            for line in outcome.report.split(separator: "\n", omittingEmptySubsequences: false) {
                let mark = line.drop { $0 == " " }.first
                Output.line(mark == "+" ? paint(line, "32") : mark == "-" ? paint(line, "31") : String(line))
            }
        }
    }

    private func paint(_ line: Substring, _ code: String) -> String {
        output.style.hasColour ? "\u{1b}[\(code)m\(line)\u{1b}[0m" : String(line)
    }
}

/// The scenarios that files and folders stand for.
func scenarioFiles(_ arguments: [String]) throws(Failure) -> [String] {
    var paths: [String] = []
    for argument in arguments { paths += try scenarioFiles(in: argument) }
    guard !paths.isEmpty else {
        throw Failure(.usage, "There is no .scenario file in \(arguments.joined(separator: ", ")).")
    }
    return paths
}

/// The file itself, or all scenarios in and below a folder, in the order of their names.
func scenarioFiles(in path: String) throws(Failure) -> [String] {
    // Standard input, which no folder is.
    if path == "-" { return [path] }
    guard let folder = opendir(path) else {
        if errno == ENOTDIR { return [path] }
        throw Failure.file(path, "cannot be read", errno)
    }
    defer { closedir(folder) }
    var found: [String] = []
    while let entry = readdir(folder) {
        let name = withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        let inner = path.hasSuffix("/") ? path + name : "\(path)/\(name)"
        if name.hasSuffix(".scenario") {
            found.append(inner)
        } else if entry.pointee.d_type == UInt8(DT_DIR), !name.hasPrefix(".") {
            found += try scenarioFiles(in: inner)
        }
    }
    return found.sorted()
}
