import ArbiterProtocol
import Glibc
import Scenario
import System

struct CommandWords {
    private var words: Words
    let line: String

    init?(_ line: String) {
        guard let words = try? Words(line) else { return nil }
        self.line = line
        self.words = words
    }

    var isEmpty: Bool { words.isAtEnd }

    mutating func takeRest() -> [String] {
        var rest: [String] = []
        while let word = words.anything() { rest.append(word.whole) }
        return rest
    }

    mutating func next() -> String? { words.anything()?.whole }

    mutating func next(_ what: String) throws(Failure) -> String {
        guard let word = next() else { throw Failure(.usage, "“\(line)”: here \(what) is missing.") }
        return word
    }

    mutating func next<T>(_ what: String, _ allowed: [String], _ read: (String) -> T?) throws(Failure) -> T {
        let word = try next("\(what) (\(allowed.joined(separator: ", ")))")
        guard let value = read(word) else {
            throw Failure(.usage, "“\(line)”: “\(word)” is none of \(allowed.joined(separator: ", ")).")
        }
        return value
    }

    mutating func either(_ what: String, _ yes: String, or no: String) throws(Failure) -> Bool {
        try next(what, [yes, no]) { $0 == yes ? true : $0 == no ? false : nil }
    }

    mutating func nextOrNone(_ what: String) throws(Failure) -> String? {
        let word = try next("\(what), or none")
        return word == "none" ? nil : word
    }

    mutating func time(_ what: String) throws(Failure) -> Duration {
        let text = try next(what)
        guard let time = TimeArgument(argument: text) else {
            throw Failure(.usage, "“\(line)”: “\(text)” is not a time such as 2s or 500ms.")
        }
        return time.duration
    }

    mutating func take(_ word: String) -> Bool {
        guard words.peek?.whole == word else { return false }
        _ = words.anything()
        return true
    }

    func end() throws(Failure) {
        if let word = words.peek { throw Failure(.usage, "“\(line)”: “\(word.whole)” is one word too many.") }
    }
}

/// The commands of a script, as its help has them: the first words of the entries of its list.
enum CommandList {
    static func names(in help: String) -> [String] {
        help.split(separator: "\n").filter { $0.hasPrefix("  ") && !$0.hasPrefix("   ") }
            .reduce(into: []) { names, entry in
                let entry = entry.dropFirst(2)
                // `start, stop  what they do`: two spaces end the list, and where there are none, it is one command.
                let gap = zip(entry.indices, entry.indices.dropFirst()).first { entry[$0] == " " && entry[$1] == " " }
                let heads = gap.map { entry[..<$0.0].split(separator: ",") } ?? [entry]
                for name in heads.compactMap({ $0.split(separator: " ").first.map(String.init) })
                where !names.contains(name) { names.append(name) }
            }
    }

    static func unknown(_ word: String, in help: String, _ subcommand: String) -> Failure {
        let instead = NearestWord.insteadOf(word, names(in: help), lists: "camclient \(subcommand) --help")
        return Failure(.usage, "“\(word)” is not a command; \(instead)")
    }
}

/// Lines of standard input, until it ends. The read blocks a thread of its own, never the tasks', which has the caller's
/// signals: reading a terminal from the background stops the program as usual.
func inputLines() -> AsyncStream<String> {
    AsyncStream { continuation in
        let reader = makeThread {
            while let line = readLine(strippingNewline: true) { continuation.yield(line) }
            continuation.finish()
        }
        if let reader { pthread_detach(reader) } else { continuation.finish() }
    }
}
