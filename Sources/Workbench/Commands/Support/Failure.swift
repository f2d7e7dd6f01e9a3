import Arbiter
package import ArbiterProtocol
import Explain
import Glibc
import Scenario
package import TomlFile

package struct Failure: Error {
    /// `camclient --help` and the manual list them.
    package enum Status: Int32 {
        case answerIsNo = 1
        case usage = 2
        case unreachable = 3
        case refused = 4
        /// Goes before all others: a file that cannot be read has no other result.
        case file = 5
        case cutOff = 6
    }

    package var status: Status
    package var message: String
    package var name: String?

    package init(_ status: Status, _ message: String = "") { (self.status, self.message) = (status, message) }

    package init?(_ error: any Error) {
        switch error {
        case let failure as Failure: self = failure
        case let error as BrokerError: self.init(error)
        case let found as FileProblems: self.init(found)
        case let error as ScenarioError: self.init(error.isFault ? .file : .usage, error.description)
        case let error as TraceError: self.init(error.isFault ? .file : .usage, error.description)
        default: return nil
        }
    }

    package init(_ found: FileProblems, _ sentence: String = "") {
        self.init(found.isFault ? .file : .usage, sentence + found.description)
    }

    package init(_ error: BrokerError) {
        switch error.kind {
        case .disconnected, .noReply: status = .unreachable
        case .planChanged: status = .answerIsNo
        default: status = .refused
        }
        (message, name) = (error.message, error.kind.rawValue)
    }

    /// The sentence and the error's name; a line that is pointed into stays last.
    package var text: String {
        guard let name else { return message }
        let end = message.firstIndex(of: "\n") ?? message.endIndex
        return "\(message[..<end]) (\(name))\(message[end...])"
    }

    package func exit() -> Never {
        if !message.isEmpty { Output.notice("camclient: \(text)") }
        Glibc.exit(status.rawValue)
    }

    static func finish(_ found: [FileProblems]) throws(Failure) {
        guard !found.isEmpty else { return }
        throw Failure(found.contains(where: \.isFault) ? .file : .answerIsNo)
    }

    package static func file(_ path: String, _ what: String, _ number: Int32) -> Failure {
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
