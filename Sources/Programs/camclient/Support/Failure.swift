import Arbiter
import ArbiterProtocol
import ArgumentParser
import Explain
import Glibc
import Scenario
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

        /// A line for each, as wide as a terminal is at least.
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
    /// The D-Bus name, where the broker gave one.
    var name: String?

    /// - Parameter message: empty where all was said already.
    init(_ status: Status, _ message: String = "") {
        self.status = status
        self.message = message
    }

    /// Nil: it is none of ours.
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

    /// - Parameter sentence: what stands before the problems.
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

    /// Says what went wrong on standard error, and ends the process.
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

    /// Ends a command that looks at files and has said what is wrong with each.
    static func finish(_ found: [FileProblems]) throws(Failure) {
        guard !found.isEmpty else { return }
        throw Failure(found.contains(where: \.isFault) ? .file : .answerIsNo)
    }

    /// What the system said about a file.
    static func file(_ path: String, _ what: String, _ number: Int32) -> Failure {
        Failure(.file, "\(path) \(what): \(String(cString: strerror(number))).")
    }

    /// What is wrong with one of several commands, for a user that may have left out the quotation marks.
    func ofScript(_ commands: [String]) -> Failure {
        guard commands.count > 1, message.contains("missing") else { return self }
        return Failure(status, message + " Each argument is a whole command, in quotation marks if it has spaces.")
    }
}

/// Does something with what a file has, and names the place where it is wrong.
func at<Value, Problem: Error>(
    _ place: String, _ body: () throws(Problem) -> Value
) throws(Failure) -> Value {
    do { return try body() } catch {
        let message = (error as? Arbiter.BrokenSnapshot)?.message ?? "\(error)"
        throw Failure(.usage, "\(place): \(message)")
    }
}
