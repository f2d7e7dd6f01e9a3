import ArbiterProtocol
import Glibc
import Scenario
import System
import WorkbenchCommands

struct CommandWords {
    private var words: Words
    let line: String

    init?(_ line: String) {
        guard let words = try? Words(line) else { return nil }
        (self.line, self.words) = (line, words)
    }

    /// A line's command and its words; nil for an empty line and for a comment.
    static func command(of line: String) throws(Failure) -> (String, CommandWords)? {
        guard var words = CommandWords(line) else { throw Failure(.usage, "“\(line)”: a quotation does not end.") }
        guard let command = words.next(), !command.hasPrefix("#") else { return nil }
        return (command, words)
    }

    var isEmpty: Bool { words.isAtEnd }

    mutating func takeRest() -> [String] {
        var rest: [String] = []
        while let word = next() { rest.append(word) }
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

/// The lines of `camclient run` and `camclient shell`: the arguments, then those of standard input where it is read.
struct ScriptLines {
    let isTyped: Bool
    private let table: CommandTable
    private let subcommand: String
    private var given: ArraySlice<String>
    private let editor: LineEditor?
    private var read: AsyncStream<String>.Iterator?

    /// - Parameters:
    ///   - subcommand: whose commands the table has.
    ///   - staysOpen: standard input is read after the arguments, too.
    ///   - editor: makes one for lines that are typed.
    init(
        _ arguments: [String], _ table: CommandTable, of subcommand: String, staysOpen: Bool = false,
        editor: () -> LineEditor? = { nil }
    ) {
        (given, self.table, self.subcommand) = (arguments[...], table, subcommand)
        isTyped = arguments.isEmpty && Output.isInputTerminal
        self.editor = isTyped ? editor() : nil
        read = self.editor == nil && (arguments.isEmpty || staysOpen) ? inputLines().makeAsyncIterator() : nil
    }

    /// Reads all arguments, so that a mistake in the last is found before the first is carried out.
    static func check(_ arguments: [String], _ read: (String) throws(Failure) -> Void) throws(Failure) {
        for argument in arguments {
            do throws(Failure) { try read(argument) } catch {
                // The user may have left out the quotation marks.
                guard arguments.count > 1, error.message.contains("missing") else { throw error }
                throw Failure(
                    error.status,
                    error.message + " Each argument is a whole command, in quotation marks if it has spaces.")
            }
        }
    }

    mutating func next(prompt: String = "") async -> String? {
        if let line = given.popFirst() { return line }
        while true {
            if isTyped, editor == nil, !prompt.isEmpty { Output.text(prompt) }
            guard let line = if let editor { await editor.next() } else { await read?.next() } else { return nil }
            let words = line.split(separator: " ").map(String.init)
            guard isTyped, let first = words.first else { return line }
            if words.count == 1, TypedWord.end.contains(first) { return nil }
            guard first == TypedWord.help else { return line }
            help(words.dropFirst())
        }
    }

    private func help(_ names: ArraySlice<String>) {
        if names.isEmpty { Output.line(table.text) }
        for name in names {
            if let help = table.help(of: name) {
                Output.line(help)
            } else {
                Output.notice("camclient: \(table.unknown(name, subcommand).text)")
            }
        }
    }

    mutating func nextArgument<Command>(as read: (String) -> Command?) -> (line: String, command: Command)? {
        guard let line = given.first, let command = read(line) else { return nil }
        given.removeFirst()
        return (line, command)
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
