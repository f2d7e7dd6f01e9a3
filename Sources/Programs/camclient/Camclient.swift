import ArbiterProtocol
import ArgumentParser
import Glibc
import PolicyFile

/// The broker from the command line: see who has the camera and why, be an app, be the shell, test policies.
struct Camclient: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "camclient",
        abstract: "See who has the camera and why; act as an app or as the shell; try policies out.",
        discussion: """
            Examples:
              camclient status                     who holds what, who waits, why
              camclient watch --timeline           decisions, a column for each app
              camclient record visit.mkv -d 10s    until then, or an interruption
              camclient preview -o - | ffplay -    the live picture
              camclient test Tests/scenarios       scenarios against the core

            Exit statuses:
            \(Failure.Status.list)

            The broker is looked for at --address, else at $CAMARB_SOCKET, else at
            $XDG_RUNTIME_DIR/camarb/socket, else at /run/camarb/socket.
            NO_COLOR turns colours off.
            """, version: "camclient \(Release.version)",
        subcommands: [
            Devices.self, Formats.self, Controls.self, Status.self, Metrics.self, Watch.self, Run.self, Preview.self,
            Photo.self, Record.self, Configure.self, Apps.self, Ask.self, Shell.self, Plan.self, Explain.self,
            Test.self, TimelineCommand.self, PolicyCommand.self, CameraCommand.self, TraceCommand.self,
        ])

    /// `camclient --socket PATH status` means the same as `camclient status --socket PATH`.
    private static func connectionBehindSubcommand(_ arguments: [String]) -> [String] {
        var rest = arguments[...]
        var connection: [String] = []
        while let flag = rest.first, flag.hasPrefix("--socket") || flag.hasPrefix("--address") {
            connection.append(rest.removeFirst())
            if !flag.contains("="), let value = rest.popFirst() { connection.append(value) }
        }
        guard !connection.isEmpty, let name = rest.popFirst() else { return arguments }
        // Behind `policy show`, not between the two.
        let isGroup = configuration.subcommands.contains {
            $0._commandName == name && !$0.configuration.subcommands.isEmpty
        }
        guard isGroup, let inner = rest.first, !inner.hasPrefix("-") else { return [name] + connection + rest }
        return [name, inner] + connection + rest.dropFirst()
    }

    /// What stands where a subcommand does must be one. `help` would be the general help, whatever stands behind it.
    private static func refuseUnknown(_ arguments: [String]) throws(Failure) {
        let isHelp = arguments.first == "help"
        let words =
            isHelp
            ? arguments.dropFirst().filter { !$0.hasPrefix("-") }
            : Array(arguments.prefix { !$0.hasPrefix("-") && $0 != "help" })
        var (group, name) = (configuration, nil as String?)
        for word in words where isHelp || !group.subcommands.isEmpty {
            guard let inner = group.subcommands.first(where: { $0._commandName == word }) else {
                let known = group.subcommands.map { $0._commandName }
                let whole = name.map { "camclient \($0)" } ?? "camclient"
                let instead =
                    known.isEmpty ? "it has none." : NearestWord.insteadOf(word, known, lists: "\(whole) --help")
                throw Failure(
                    .usage, "“\(word)” is not a subcommand\(name.map { " of \($0)" } ?? ""); \(instead)")
            }
            (group, name) = (inner.configuration, name.map { "\($0) \(word)" } ?? word)
        }
    }

    static func runAndExit() async -> Never {
        do {
            let arguments = connectionBehindSubcommand(Array(CommandLine.arguments.dropFirst()))
            if CameraCompletion.isAsked(arguments) { await CameraCompletion.prepare(arguments) }
            try refuseUnknown(arguments)
            var command = try parseAsRoot(arguments)
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch { Failure.exit(for: error) }
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
