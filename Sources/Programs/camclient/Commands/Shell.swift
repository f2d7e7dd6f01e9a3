import ArbiterProtocol
import ArgumentParser
import Camarb
import Workbench

struct Shell: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Act as the shell: place apps, take the microphone, throw the privacy switch.",
        usage: "camclient shell [options] [<command> ...]",
        discussion: """
            \(ShellCommand.help)

            Placements and microphones last as long as this command: without arguments it reads commands from \
            standard input and ends with it; with arguments it ends after them, unless --stay.

            Examples:
              camclient shell override photos
              camclient shell --stay "place photos fullscreen focused"
              camclient shell                           and then type the commands
            """)

    @Option(help: "What to act as: shell or agent.") var source = Source.shell
    @Flag(help: "Stay until standard input ends, or Ctrl-C: placements last as long.") var stay = false
    @Argument(
        help: .value("command", "Commands; standard input if left out."),
        completion: .list(CommandList.names(in: ShellCommand.help))) var commands: [String] = []
    @OptionGroup var connection: ConnectionOptions
    @OptionGroup var output: OutputOptions

    enum Source: String, ExpressibleByArgument, CaseIterable { case shell, agent }

    func run() async throws {
        for command in commands {
            do throws(Failure) { _ = try ShellCommand(command) } catch { throw error.ofScript(commands) }
        }
        var given = ShellLines(commands)
        let client = try connection.connect()
        var isAttached = false
        var isLeavingSomething = false
        var first: Failure?
        let isTyped = commands.isEmpty && Output.isInputTerminal
        if isTyped { Output.notice("camclient: a command a line; help lists them, and Ctrl-D ends it.") }
        let lines = commands.isEmpty || stay ? inputLines() : nil
        var typed = lines?.makeAsyncIterator()
        while true {
            var batch = given.next(isAttached: isAttached)
            if batch.isEmpty {
                if isTyped { Output.text("> ") }
                batch = await typed?.next().map { [$0] } ?? []
            }
            if batch.isEmpty { break }
            if isTyped, batch == ["help"] {
                Output.line(ShellCommand.help)
                continue
            }
            do {
                var performed: [ShellCommand] = []
                for line in batch { performed += try ShellCommand(line).map { [$0] } ?? [] }
                if performed.isEmpty { continue }
                try await perform(performed, on: client, &isAttached)
                isLeavingSomething = isLeavingSomething || performed.contains(where: \.lastsWithConnection)
                report(batch, performed, isTyped)
            } catch {
                let failure = Failure(error) ?? Failure(.answerIsNo, "\(error)")
                report(failure, of: batch)
                first = first ?? failure
                if failure.status == .unreachable { break }
            }
        }
        if isLeavingSomething, !stay, !commands.isEmpty { Output.notice(Self.leavingNotice) }
        if let first, !isTyped { throw Failure(first.status) }
    }

    private static let leavingNotice =
        "camclient: what was placed holds 5 s longer, then its apps are in the background again unless somebody else "
        + "places them; a microphone is free at once. --stay keeps both."

    /// A shell places its first apps as it comes: else each of them would be in the background for a moment, and what it
    /// records would be cut.
    private func perform(
        _ commands: [ShellCommand], on client: CameraClient, _ isAttached: inout Bool
    ) async throws {
        let placements = commands.compactMap(\.placement)
        if !isAttached, !placements.isEmpty {
            try await client.attach(as: source == .shell ? .shell : .agent, placing: placements)
            isAttached = true
            return
        }
        for command in commands { try await command.perform(client) }
    }

    private func report(_ lines: [String], _ commands: [ShellCommand], _ isTyped: Bool) {
        if !output.json {
            if isTyped { Output.line("done") }
            return
        }
        for (line, command) in zip(lines, commands) where command.isFact {
            Output.json(LogEntry.fact(.now, .note(line)).json)
        }
    }

    private func report(_ error: Failure, of lines: [String]) {
        guard output.json else { return Output.notice("camclient: \(error.text)") }
        for line in lines {
            Output.json([
                "moment": Moment.now.nanoseconds, "command": line, "ok": false, "error": error.name,
                "message": error.message,
            ])
        }
    }
}
