import ArbiterProtocol
import ArgumentParser
import Glibc

/// Why a command ends otherwise than well: the sentence for the user, and the exit status for programs.
struct Failure: Error {
    /// The statuses that `camclient --help` documents.
    enum Status: Int32 {
        case answerIsNo = 1
        case usage = 2
        case unreachable = 3
        case refused = 4
        case file = 5
        /// A search ended at a bound: what it found so far is not the whole.
        case cutOff = 6
    }

    var status: Status
    var message: String
    /// The D-Bus name, where the broker gave one.
    var name: String?

    init(_ status: Status, _ message: String) {
        self.status = status
        self.message = message
    }

    init(_ error: BrokerError) {
        switch error.kind {
        case .disconnected, .noReply: status = .unreachable
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
        switch error {
        case let failure as Failure: end(failure)
        case let refusal as BrokerError: end(Failure(refusal))
        default:
            let code = Camclient.exitCode(for: error)
            let message = Camclient.fullMessage(for: error)
            if code == .success {
                if !message.isEmpty { Output.line(message) }
                Glibc.exit(0)
            }
            if !message.isEmpty { Output.notice(message) }
            Glibc.exit(code == .validationFailure ? Status.usage.rawValue : code.rawValue)
        }
    }

    private static func end(_ failure: Failure) -> Never {
        if !failure.message.isEmpty { Output.notice("camclient: \(failure.text)") }
        Glibc.exit(failure.status.rawValue)
    }

    /// What the system said about a file.
    static func file(_ path: String, _ what: String, _ number: Int32) -> Failure {
        Failure(.file, "\(path) \(what): \(String(cString: strerror(number))).")
    }
}
