import ArbiterProtocol
import ArgumentParser
import Camarb
import Glibc

struct Metrics: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print what happened since camarbd's start, in numbers.",
        discussion: """
            The text is OpenMetrics: grants, interruptions by cause, waits and handovers as histograms, refusals by rule, \
            recordings, and for root also resets, disconnects and the budgets that all users share. Others than root see \
            what happened to their own sessions.
            Examples:
              camclient metrics
              camclient metrics | grep interruptions
              camclient metrics --textfile /var/lib/prometheus/node-exporter/camarb.prom
                                          for node_exporter, from a timer of each minute
            """)

    @Option(
        name: .long,
        help: .value(
            "path", "Write them to a file in one step, in the older text format that node_exporter's collector reads."))
    var textfile: String?

    @OptionGroup var connection: ConnectionOptions

    func run() async throws {
        let text = try await connection.ask { try await $0.metrics() }
        guard let textfile else { return Output.text(text) }
        // The collector may look at any moment, and must never see half a file.
        try writeTextAtOnce(OpenMetrics.older(text), to: textfile)
    }
}
