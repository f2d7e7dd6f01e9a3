import ArgumentParser
import Trace
import TraceFigures

/// Traces of many machines: files, and folders of them.
struct TraceFileOptions: ParsableArguments {
    @Argument(
        help: ArgumentHelp(
            "Traces, and folders with traces in and below them; - is standard input.", valueName: "file"))
    var files: [String]
    @Option(
        help: ArgumentHelp(
            "Whose they are. Without it: the folder below the one that was given, or that a file lies in.",
            valueName: "name"))
    var machine: String?

    /// In the order of their names, each behind those of the same broker that it goes on from.
    func read() throws(Failure) -> TraceFiles {
        let found: TraceFiles
        do throws(TraceError) {
            found = try TraceFiles(files, machine: machine)
        } catch { throw Failure(error) }
        guard !found.chains.isEmpty else {
            throw Failure(.usage, "There is no trace in \(files.joined(separator: ", ")).")
        }
        for double in found.doubles {
            Output.notice("\(double.path): begins as \(double.of), which has all of it; it is left out")
        }
        return found
    }

    /// Says what could not be read as it should.
    /// - Throws: the exit status that this comes to.
    static func finish(_ problems: [TraceScan.Problem], files: Int) throws(Failure) {
        for problem in problems { Output.notice(problem.sentence) }
        guard !problems.isEmpty else { return }
        // Of nothing there is no answer; of a part there is one, and it is not the whole.
        guard files == 0 else { throw Failure(.answerIsNo, "") }
        throw Failure(problems.contains { !$0.error.isFault } ? .usage : .file, "")
    }
}
