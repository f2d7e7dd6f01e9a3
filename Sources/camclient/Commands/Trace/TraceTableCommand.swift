import ArgumentParser
import TraceFigures

/// Traces as one table, for a database.
struct TraceTableCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "table",
        abstract: "Print what was decided as a table, a row a decision, for DuckDB, ClickHouse or Spark.",
        discussion: """
            CSV (RFC 4180) with the columns' names first, or JSON lines. A row is what a step decided about one session; \
            docs/trace.md has the columns, docs/fleet.md queries. What cannot be read is said with its place, and left \
            out; the exit status is then 1, and 2 when nothing could be read. No broker is needed.
            Examples:
              camclient trace table traces > decisions.csv
              camclient trace table --json visit.trace
              zcat decisions.trace.1.gz | camclient trace table --machine kiosk-17 -
            """)

    @OptionGroup var traces: TraceFileOptions
    @Flag(help: "An object a line instead of CSV.")
    var json = false

    /// Rows wait until they are worth a system call.
    private static let bytesAtOnce = 1 << 20

    func run() async throws {
        let found = try traces.read()
        var bytes = json ? [] : TraceTable.csvHeader
        bytes.reserveCapacity(2 * Self.bytesAtOnce)
        var (problems, files): ([TraceScan.Problem], Int) = ([], 0)
        for chain in found.chains {
            var scan = TraceScan()
            for source in chain {
                scan.read(source) { row in
                    if json { TraceTable.json(row, to: &bytes) } else { TraceTable.csv(row, to: &bytes) }
                    guard bytes.count >= Self.bytesAtOnce else { return }
                    Output.bytes(bytes[...])
                    bytes.removeAll(keepingCapacity: true)
                }
            }
            problems += scan.problems
            files += scan.files
        }
        if files > 0 { Output.bytes(bytes[...]) }
        try TraceFileOptions.finish(problems, files: files)
    }
}
