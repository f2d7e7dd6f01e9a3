import ArgumentParser
import Camarb
import Workbench
import WorkbenchCommands

struct Watch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show every decision as it is made: the event, and the notices that apps receive.",
        usage: "camclient watch [options]",
        discussion: """
            Lines are those of the scenario language, with the decision's id for `camclient explain` as a comment. With \
            --timeline each app has a column; with --json each line is an object, which `camclient timeline --from FILE` \
            draws. Ends with Ctrl-C, or after --duration.
            Examples:
              camclient watch
              camclient watch --timeline
              camclient watch --json --duration 1min > visit.jsonl
              camclient watch --svg visit.svg        a drawing, at the end
            """)

    @Flag(help: "A column for each app, time running down.") var timeline = false
    @Option(name: .long, help: .value("file", "Draw all events into this file at the end.")) var svg: String?
    @Option(
        name: .shortAndLong, help: .value("time", "How long to watch, such as 10s or 2min; without it until Ctrl-C."))
    var duration: TimeArgument?
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        let interrupts = Interrupts.stream()
        let client = try connection.connect()
        var picture = TimelineBuilder()
        var live = LiveTimeline(width: Output.isTerminal ? Output.width : 160, style: output.style)
        let notices = client.brokerNotices
        try await client.subscribeToDecisions()
        for camera in try await client.status().cameras {
            note(.fact(.now, .holder(camera: camera.camera.name, camera.holder?.description)), &picture, &live)
        }
        var failure: Failure?
        watching: for await notice in arrivals(notices, until: interrupts, for: duration) {
            switch notice {
            case nil: break watching
            case .ended(let error)?:
                failure = Failure(error)
                break watching
            case .decided(let decision, let moment, let trace, let parts)?:
                if !timeline, !output.json { show(decision, trace) }
                for entry in parts.compactMap({ $0.entry(of: decision, at: moment) }) { note(entry, &picture, &live) }
            case .holderChanged(let camera, let holder)?:
                note(.fact(.now, .holder(camera: camera.name, holder?.description)), &picture, &live)
            default: break
            }
        }
        if let svg { try writeText(picture.timeline(until: .now).svg(), to: svg, for: .owner) }
        if let failure { throw failure }
    }

    private func show(_ decision: DecisionID, _ trace: String) {
        // `explain` has no answer for a decision without a notice.
        if trace.contains("\n") { Output.line("# decision \(decision)") }
        Output.line(Self.rounded(trace))
    }

    private static func rounded(_ trace: String) -> String {
        trace.split(separator: " ", omittingEmptySubsequences: false).map { word in
            word.split(separator: "\n", omittingEmptySubsequences: false).map { part in
                guard part.utf8.count > 6, let time = TimeText.parse(part) else { return String(part) }
                return TimeText.write(.milliseconds((time.wholeNanoseconds / 500_000 + 1) / 2))
            }.joined(separator: "\n")
        }.joined(separator: " ")
    }

    private func note(_ entry: LogEntry, _ picture: inout TimelineBuilder, _ live: inout LiveTimeline) {
        picture.note(entry)
        if output.json {
            Output.json(entry.json)
        } else if timeline {
            Output.lines(live.note(entry))
        }
    }
}
