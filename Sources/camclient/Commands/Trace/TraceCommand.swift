import ArgumentParser
import Trace

/// What a broker decided, taken away from its machine.
struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace",
        abstract: "Record what a broker decides, replay it, and make scenarios, figures and tables of it.",
        discussion: """
            A trace has every event that reached the broker's core and everything it did about it, a JSON object a \
            line; docs/trace.md has the format. camarbd --trace FILE writes one too.
            Examples:
              camclient trace record visit.trace -d 1min
              camclient trace replay visit.trace
              camclient trace replay visit.trace --policy policies/kiosk.toml
              camclient trace convert visit.trace -o visit.scenario
              camclient trace stats traces
              camclient trace table traces > decisions.csv
            """,
        subcommands: [
            TraceRecord.self, TraceReplay.self, TraceConvert.self, TraceStatsCommand.self, TraceTableCommand.self,
        ])
}

extension Failure {
    /// A missing file and a file that is no trace have statuses of their own.
    init(_ error: TraceError) { self.init(error.isFault ? .file : .usage, "\(error)") }
}

/// A trace, whole and checked.
func readParts(_ path: String, mayBeCut: Bool = false) throws(Failure) -> [TracePart] {
    do throws(TraceError) {
        return try TraceReader.read(path: path, mayBeCut: mayBeCut)
    } catch { throw Failure(error) }
}
