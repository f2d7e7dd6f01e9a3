import ArbiterProtocol
import ArgumentParser
import Glibc

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
              0  done
              1  the answer is no: a scenario did not come out as written,
                 something was interrupted or took too long
              2  the command line, or a script's line, cannot be meant
              3  the broker cannot be reached, or the connection was lost
              4  the broker refused, and said why
              5  a file cannot be read or written

            The broker is looked for at --address, else at $CAMARB_SOCKET, else at
            $XDG_RUNTIME_DIR/camarb/socket, else at /run/camarb/socket.
            NO_COLOR turns colours off.
            """,
        subcommands: [
            Devices.self, Formats.self, Status.self, Watch.self, Run.self, Preview.self, Photo.self, Record.self,
            Configure.self, Shell.self, Plan.self, Explain.self, Test.self, TimelineCommand.self,
        ])

    /// Carries the command line out, and ends the process.
    static func runAndExit() async -> Never {
        do {
            var command = try parseAsRoot()
            if var asynchronous = command as? any AsyncParsableCommand {
                try await asynchronous.run()
            } else {
                try command.run()
            }
        } catch {
            Failure.exit(for: error)
        }
        Glibc.exit(0)
    }
}

/// Begins on the main thread and not as a task, so that the signals are blocked before any other thread is there.
@main
enum Program {
    static func main() {
        Interrupts.begin()
        Task.detached { await Camclient.runAndExit() }
        while true { pause() }
    }
}
