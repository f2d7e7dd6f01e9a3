import ArbiterProtocol
import ArgumentParser
import Glibc
import WorkbenchCommands

struct Camclient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camclient",
        abstract: "Show who has the camera and why; act as an app or as the shell; try policies out.",
        discussion: """
            Examples:
              camclient status                     who has which camera, who waits, why
              camclient watch --timeline           decisions, a column for each app
              camclient record visit.mkv -d 10s    10 seconds, less when interrupted
              camclient preview -o - | ffplay -    the live picture
              camclient test Tests/scenarios       scenarios, without a broker

            Exit statuses:
              0    done
              1    the answer is no: a scenario differs from its file, a file has a
                   problem, an interruption came, or a time ran out
              2    a mistake in the command line, in a script or in a file
              3    the broker cannot be reached, or the connection was lost
              4    the broker refused; its sentence says why
              5    a file or folder cannot be read or written
              6    a search ended at a bound, and found nothing so far
              130  ended by Ctrl-C; 0 for commands that Ctrl-C usually ends

            The broker's socket is --address, else $CAMARB_SOCKET, else
            $XDG_RUNTIME_DIR/camarb/socket, else /run/camarb/socket.
            NO_COLOR turns colours off.
            """, version: "camclient \(Release.version)",
        subcommands: [
            Devices.self, Formats.self, Controls.self, Status.self, Metrics.self, Watch.self, Run.self, Preview.self,
            Photo.self, Record.self, Configure.self, Apps.self, Ask.self, Shell.self, Plan.self, Explain.self,
            WorkbenchCommand.test, WorkbenchCommand.timeline, PolicyCommand.self, WorkbenchCommand.camera,
            TraceCommand.self,
        ])

    private static func subcommand(_ name: String, of group: CommandConfiguration) -> CommandConfiguration? {
        group.subcommands.first { $0._commandName == name }?.configuration
    }

    /// `camclient --socket PATH status` means the same as `camclient status --socket PATH`.
    private static func connectionAfterSubcommand(_ arguments: [String]) -> [String] {
        var rest = arguments[...]
        var connection: [String] = []
        while let flag = rest.first, flag.hasPrefix("--socket") || flag.hasPrefix("--address") {
            connection.append(rest.removeFirst())
            if !flag.contains("="), let value = rest.popFirst() { connection.append(value) }
        }
        guard !connection.isEmpty, let name = rest.popFirst() else { return arguments }
        // After `policy show`, not between the two.
        guard subcommand(name, of: configuration)?.subcommands.isEmpty == false, let inner = rest.first,
            !inner.hasPrefix("-")
        else { return [name] + connection + rest }
        return [name, inner] + connection + rest.dropFirst()
    }

    /// `help` would show the general help after any unknown word.
    private static func refuseUnknown(_ arguments: [String]) throws(Failure) {
        let isHelp = arguments.first == "help"
        let words =
            isHelp
            ? arguments.dropFirst().filter { !$0.hasPrefix("-") }
            : Array(arguments.prefix { !$0.hasPrefix("-") && $0 != "help" })
        var (group, path) = (configuration, [String]())
        for word in words where isHelp || !group.subcommands.isEmpty {
            guard let inner = subcommand(word, of: group) else {
                let known = group.subcommands.map { $0._commandName }
                let whole = (["camclient"] + path).joined(separator: " ")
                let instead =
                    known.isEmpty ? "it has none." : NearestWord.insteadOf(word, known, lists: "\(whole) --help")
                let parent = path.isEmpty ? "" : " of \(path.joined(separator: " "))"
                throw Failure(.usage, "“\(word)” is not a subcommand\(parent); \(instead)")
            }
            group = inner
            path.append(word)
        }
    }

    static func runAndExit() async -> Never {
        do {
            let arguments = connectionAfterSubcommand(Array(CommandLine.arguments.dropFirst()))
            if CameraCompletion.isRequested(arguments) { await CameraCompletion.prepare(arguments) }
            try refuseUnknown(arguments)
            var command = try parseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            if let failure = Failure(error) { failure.exit() }
            let code = exitCode(for: error)
            let message = fullMessage(for: error)
            if !message.isEmpty { code == .success ? Output.line(message) : Output.notice(message) }
            Glibc.exit(code == .validationFailure ? Failure.Status.usage.rawValue : code.rawValue)
        }
        Glibc.exit(0)
    }
}

/// Begins on the main thread and not as a task, so that the signals are blocked before any other thread is there.
@main enum Program {
    static func main() {
        Interrupts.begin()
        Task.detached { await Camclient.runAndExit() }
        while true { pause() }
    }
}
