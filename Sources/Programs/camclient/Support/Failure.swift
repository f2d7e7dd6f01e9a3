import Arbiter
import ArbiterProtocol
import ArgumentParser
import Explain
import Glibc
import Scenario
import Synchronization
import System
import TomlFile

/// Why a command ends otherwise than well: the sentence for the user, and the exit status for programs.
struct Failure: Error {
    /// How every command ends otherwise than well. `camclient --help` lists them from here, and the manual is held to that.
    enum Status: Int32, CaseIterable {
        case answerIsNo = 1
        case usage = 2
        case unreachable = 3
        case refused = 4
        /// Goes before all others: of what could not be read or written nothing else is known.
        case file = 5
        case cutOff = 6
        case interrupted = 130

        var meaning: String {
            switch self {
            case .answerIsNo:
                "the answer is no: a scenario did not come out as written, something is wrong in a file, was interrupted or "
                    + "took too long"
            case .usage: "the command line, or a line of a script or file, makes no sense"
            case .unreachable: "the broker cannot be reached, or the connection was lost"
            case .refused: "the broker refused, and said why"
            case .file: "a file or folder cannot be read or written"
            case .cutOff: "a search ended at a bound, and found nothing so far"
            case .interrupted: "ended by Ctrl-C; where that is the usual end, 0"
            }
        }

        static var list: String {
            let rows = [(0, "done")] + allCases.map { (Int($0.rawValue), $0.meaning) }
            return rows.map { status, meaning in
                meaning.wrapped(to: 66).enumerated().map { index, line in
                    (index == 0 ? "  \(String(status).rightPadded(5))" : "       ") + line
                }.joined(separator: "\n")
            }.joined(separator: "\n")
        }
    }

    var status: Status
    var message: String
    var name: String?

    init(_ status: Status, _ message: String = "") {
        self.status = status
        self.message = message
    }

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
        message = error.message
        name = error.kind.rawValue
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
        if code == .success {
            if !message.isEmpty { Output.line(message) }
            Glibc.exit(0)
        }
        if !message.isEmpty { Output.notice(message) }
        Glibc.exit(code == .validationFailure ? Status.usage.rawValue : code.rawValue)
    }

    static func finish(_ found: [FileProblems]) throws(Failure) {
        guard !found.isEmpty else { return }
        throw Failure(found.contains(where: \.isFault) ? .file : .answerIsNo)
    }

    static func file(_ path: String, _ what: String, _ number: Int32) -> Failure {
        Failure(.file, "\(path) \(what): \(String(cString: strerror(number))).")
    }

    /// What is wrong with one of several commands, for a user that may have left out the quotation marks.
    func ofScript(_ commands: [String]) -> Failure {
        guard commands.count > 1, message.contains("missing") else { return self }
        return Failure(status, message + " Each argument is a whole command, in quotation marks if it has spaces.")
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
/// to the caller that asked for the stream; the second, and the first where none asked, ends the process.
enum Interrupts {
    private static let listener = Mutex<AsyncStream<Void>.Continuation?>(nil)

    /// To be called before any other thread begins: all inherit the mask, and one thread takes the signals.
    static func begin() {
        var blocked = signals
        guard pthread_sigmask(SIG_BLOCK, &blocked, nil) == 0 else { return }
        let isListening = startThread {
            while true {
                var set = signals
                var number: Int32 = 0
                guard sigwait(&set, &number) == 0 else { continue }
                let listening = listener.withLock { listener in
                    defer { listener = nil }
                    return listener
                }
                if let listening {
                    listening.yield()
                } else {
                    signal(number, SIG_DFL)
                    raise(number)
                    pthread_sigmask(SIG_UNBLOCK, &set, nil)
                }
            }
        }
        // Nobody would ever take them: they end the process as they are.
        if !isListening { pthread_sigmask(SIG_UNBLOCK, &blocked, nil) }
    }

    static func stream() -> AsyncStream<Void> {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        listener.withLock { $0 = continuation }
        return stream
    }

    /// For a program that this process becomes: its threads take the signals themselves.
    static func end() {
        var blocked = signals
        pthread_sigmask(SIG_UNBLOCK, &blocked, nil)
    }

    private static var signals: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        return set
    }
}
