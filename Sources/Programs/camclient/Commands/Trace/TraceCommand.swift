import ArgumentParser
import Scenario

struct TraceCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "trace", abstract: "Record what a broker decides, replay it, and make scenarios of it.",
        discussion: """
            A trace has every event that reached the broker's core and everything it did about it, a JSON object a \
            line; docs/trace.md has the format. camarbd --trace FILE writes one too. Figures of many machines are a \
            database's: docs/fleet.md.
            Examples:
              camclient trace record visit.trace -d 1min
              camclient trace replay visit.trace
              camclient trace replay visit.trace --policy policies/kiosk.toml
              camclient trace convert visit.trace -o visit.scenario
            """, subcommands: [TraceRecord.self, TraceReplay.self, TraceConvert.self])
}

extension Failure {
    /// A missing file and a file that is no trace have statuses of their own.
    init(_ error: TraceError) { self.init(error.isFault ? .file : .usage, "\(error)") }
}

/// A trace, whole and checked.
func readParts(_ path: String, mayBeCut: Bool = false) throws(Failure) -> [TracePart] {
    do throws(TraceError) { return try TraceReader.read(path: path, mayBeCut: mayBeCut) } catch { throw Failure(error) }
}
