import ArbiterProtocol
import ArgumentParser
import Camarb
import Workbench

struct Run: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Be an app: carry out a script on a session, and print its events.",
        usage: "camclient run [options] [<command> ...]",
        discussion: """
            \(AppCommand.help)

            With --json every line is an object: events as `{"moment":…,"app":…,"event":…}` with the arguments that \
            org.camarb.Session1 gives them, outcomes as `{"moment":…,"app":…,"command":…,"ok":…}`. \
            `camclient timeline --from FILE` draws such a log.

            Examples:
              camclient run --app photos start "wait DidStartRunning" \\
                "record visit.mkv" "wait 5s" stop-record "wait RecordingFinished"
              camclient run --app photos     and then type the commands
            """)

    @OptionGroup var session: SessionOptions
    @Flag(help: "Go on with the script after a command that failed; always so for commands typed on a terminal.")
    var keepGoing = false
    @Flag(help: "Replace files that are there.") var overwrite = false
    @Argument(
        help: .value("command", "Commands; standard input if left out."),
        completion: .list(CommandList.names(in: AppCommand.help))) var commands: [String] = []

    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    func run() async throws {
        for command in commands {
            do throws(Failure) { _ = try AppCommand(command) } catch { throw error.ofScript(commands) }
        }
        let printer = EventPrinter(app: session.lane, isJSON: output.json)
        let failure = try await session.run(connection, reconnects: true) { client, handle in
            printer.fact(.appeared(lane: session.lane))
            let warnings = LatestWarning()
            let inbox = Inbox(handle.notices) { notice in
                warnings.see(notice)
                printer.print(notice)
            }
            let script = AppScript(
                client: client, inbox: inbox, printer: printer, warnings: warnings, overwriting: overwrite)
            return await perform(script, on: handle, printer)
        }
        printer.fact(.left(lane: session.lane))
        if let failure { throw failure }
    }

    private func perform(
        _ script: AppScript, on session: SessionHandle, _ printer: EventPrinter
    ) async -> Failure? {
        let isTyped = commands.isEmpty && Output.isInputTerminal
        var first: Failure?
        let lines = commands.isEmpty ? inputLines() : nil
        var typed = lines?.makeAsyncIterator()
        var given = commands.makeIterator()
        while let line = await typed?.next() ?? given.next() {
            if isTyped, line == "help" {
                Output.line(AppCommand.help)
                continue
            }
            do { try await script.perform(line, on: session) } catch {
                let failure = Failure(error) ?? Failure(.answerIsNo, "\(error)")
                printer.failed(line, failure)
                if first == nil { first = failure }
                if failure.status == .unreachable || !(keepGoing || isTyped) { break }
            }
        }
        return isTyped ? nil : first
    }
}
