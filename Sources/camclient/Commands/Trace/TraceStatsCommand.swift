import ArgumentParser
import Glibc
import JSONText
import Timeline
import TraceFigures

/// Traces as figures.
struct TraceStatsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "stats",
        abstract: "Count what was decided: waits, handovers, time held, interruptions by cause and rule, refusals.",
        usage: "camclient trace stats [options] <file> ...",
        discussion: """
            Percentiles are exact: the least value that at least so many of a hundred do not exceed. What cannot be read \
            is said with its place, and all else is counted; the exit status is then 1. With nothing counted it is 5 where the files cannot be read, and 2 where none is a trace. \
            No broker is needed.
            Examples:
              camclient trace stats visit.trace
              camclient trace stats traces            every machine that has a folder there
              camclient trace stats --by app traces/kiosk-17
              camclient trace stats --csv traces > figures.csv
            """)

    @OptionGroup var traces: TraceFileOptions
    @Option(help: ArgumentHelp("The same also for each: app, camera, machine, policy or rule.", valueName: "what"))
    var by: StatsGrouping?
    @Flag(help: "One JSON object, for programs.")
    var json = false
    @Flag(help: "CSV: a line for each duration, cause and refusal.")
    var csv = false

    func validate() throws {
        if json && csv { throw ValidationError("--json and --csv are two forms of the same: give one of them.") }
    }

    func run() async throws {
        let found = try traces.read()
        let stats = await Self.count(found.chains, by: by?.grouping)
        guard stats.files > 0 else { return try TraceFileOptions.finish(stats.problems, files: 0) }
        let text = StatsText(stats)
        if json {
            Output.line(text.json.text)
        } else if csv {
            Output.bytes(text.csv[...])
        } else {
            for line in text.lines { Output.line(line.printable) }
        }
        try TraceFileOptions.finish(stats.problems, files: stats.files)
    }

    /// Each broker's files by one task, and as many tasks as the machine has processors.
    private static func count(_ chains: [TraceFiles.Chain], by grouping: TraceStats.Grouping?) async -> TraceStats {
        let processors = max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        return await withTaskGroup(of: TraceStats.self) { group in
            var waiting = chains[...]
            func begin() {
                guard let chain = waiting.popFirst() else { return }
                group.addTask {
                    var stats = TraceStats(by: grouping)
                    stats.read(chain)
                    return stats
                }
            }
            for _ in 0..<processors { begin() }
            var all = TraceStats(by: grouping)
            while let stats = await group.next() {
                all.add(stats)
                begin()
            }
            all.sort()
            return all
        }
    }
}

/// The word of the command line for what is counted together.
enum StatsGrouping: String, ExpressibleByArgument, CaseIterable {
    case app, camera, machine, policy, rule

    var grouping: TraceStats.Grouping {
        switch self {
        case .app: .app
        case .camera: .camera
        case .machine: .machine
        case .policy: .policy
        case .rule: .rule
        }
    }
}
