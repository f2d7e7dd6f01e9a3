import Arbiter
import ArbiterProtocol
import ArgumentParser
import Explain
import Glibc
import Scenario
import Synchronization
import System
import TomlFile

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
            Test.self, TimelineCommand.self, PolicyCommand.self, CameraCommand.self, TraceCommand.self,
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

struct Failure: Error {
    /// `camclient --help` and the manual list them.
    enum Status: Int32 {
        case answerIsNo = 1
        case usage = 2
        case unreachable = 3
        case refused = 4
        /// Goes before all others: a file that cannot be read has no other result.
        case file = 5
        case cutOff = 6
    }

    var status: Status
    var message: String
    var name: String?

    init(_ status: Status, _ message: String = "") { (self.status, self.message) = (status, message) }

    init?(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as BrokerError: self.init(error)
        case let found as FileProblems: self.init(found)
        case let error as ScenarioError: self.init(error.isFault ? .file : .usage, error.description)
        case let error as TraceError: self.init(error.isFault ? .file : .usage, error.description)
        default: return nil
        }
    }

    init(_ found: FileProblems, _ sentence: String = "") {
        self.init(found.isFault ? .file : .usage, sentence + found.description)
    }

    init(_ error: BrokerError) {
        switch error.kind {
        case .disconnected, .noReply: status = .unreachable
        case .planChanged: status = .answerIsNo
        default: status = .refused
        }
        (message, name) = (error.message, error.kind.rawValue)
    }

    /// The sentence and the error's name; a line that is pointed into stays last.
    var text: String {
        guard let name else { return message }
        let end = message.firstIndex(of: "\n") ?? message.endIndex
        return "\(message[..<end]) (\(name))\(message[end...])"
    }

    static func exit(for error: any Error) -> Never {
        if let failure = Failure(error) {
            if !failure.message.isEmpty { Output.notice("camclient: \(failure.text)") }
            Glibc.exit(failure.status.rawValue)
        }
        let code = Camclient.exitCode(for: error)
        let message = Camclient.fullMessage(for: error)
        if !message.isEmpty { code == .success ? Output.line(message) : Output.notice(message) }
        Glibc.exit(code == .validationFailure ? Status.usage.rawValue : code.rawValue)
    }

    static func finish(_ found: [FileProblems]) throws(Failure) {
        guard !found.isEmpty else { return }
        throw Failure(found.contains(where: \.isFault) ? .file : .answerIsNo)
    }

    static func file(_ path: String, _ what: String, _ number: Int32) -> Failure {
        Failure(.file, "\(path) \(what): \(String(cString: strerror(number))).")
    }
}

func at<Value, Problem: Error>(
    _ place: String, _ body: () throws(Problem) -> Value
) throws(Failure) -> Value {
    do { return try body() } catch {
        let message = (error as? Arbiter.BrokenSnapshot)?.message ?? "\(error)"
        throw Failure(.usage, "\(place): \(message)")
    }
}

/// SIGINT and SIGTERM as a stream, so that a recording is finished and a drawing written before the end. The first goes
/// to the caller of `stream`; the second, and the first without such a caller, ends the process.
enum Interrupts {
    private static let listener = Mutex<AsyncStream<Void>.Continuation?>(nil)

    /// Called before any other thread begins: all inherit the mask, and one thread takes the signals.
    static func begin() {
        mask(SIG_BLOCK)
        let isListening = startThread {
            while true {
                var set = signals
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                if let listening = listener.withLock({ $0.take() }) {
                    listening.yield()
                } else {
                    signal(number, SIG_DFL)
                    raise(number)
                    pthread_sigmask(SIG_UNBLOCK, &set, nil)
                }
            }
        }
        if !isListening { end() }
    }

    static func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        listener.withLock { $0 = continuation }
        return stream
    }

    /// For a program that this process becomes: its threads take the signals themselves.
    static func end() { mask(SIG_UNBLOCK) }

    private static func mask(_ how: Int32) {
        var set = signals
        pthread_sigmask(how, &set, nil)
    }

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        return set
    }
}
