import ArbiterProtocol
import WorkbenchCommands

/// The list of commands in a help, two spaces deep: `start, stop  what they do`. Capital letters stand for arguments.
struct CommandTable {
    private struct Entry {
        /// Each with its arguments.
        var commands: [[String]]
        var lines: [Substring]
    }

    let text: String
    private let entries: [Entry]

    init(_ text: String) {
        self.text = text
        entries = text.split(separator: "\n", omittingEmptySubsequences: false).reduce(into: []) { entries, line in
            if line.hasPrefix("   "), let last = entries.indices.last { return entries[last].lines.append(line) }
            guard line.hasPrefix("  ") else { return }
            let entry = line.dropFirst(2)
            // Two spaces end the commands; without them the entry is one command.
            let heads = entry.firstRange(of: "  ").map { entry[..<$0.lowerBound].split(separator: ",") } ?? [entry]
            entries.append(
                Entry(commands: heads.map { $0.split(separator: " ").map(String.init) }, lines: [line]))
        }
    }

    var names: [String] {
        entries.flatMap(\.commands).compactMap(\.first).reduce(into: []) { names, name in
            if !names.contains(name) { names.append(name) }
        }
    }

    /// The lines about a command; nil where there is none of the name.
    func help(of name: String) -> String? {
        let found = entries.filter { $0.commands.contains { $0.first == name } }
        return found.isEmpty ? nil : found.flatMap(\.lines).joined(separator: "\n")
    }

    func unknown(_ word: String, _ subcommand: String) -> Failure {
        let instead = NearestWord.insteadOf(word, names, lists: "camclient \(subcommand) --help")
        return Failure(.usage, "“\(word)” is not a command; \(instead)")
    }

    /// The words that the table allows behind others; an argument has capital letters.
    private func places(behind typed: [String]) -> [String] {
        guard let name = typed.first else { return names + TypedWord.all }
        if name == TypedWord.help { return typed.count == 1 ? names : [] }
        return entries.flatMap(\.commands).filter { $0.first == name && typed.count < $0.count }.flatMap { command in
            command[typed.count].filter { !"[]".contains($0) }.split(separator: "|").map(String.init)
        }
    }

    /// Completes the word at a line's end.
    /// - Parameter values: those of an argument, which stands behind the words.
    /// - Returns: the letters that all possible words have in common, with a space behind the only one; and the words where
    ///   there are several.
    func completion(
        of line: String, _ values: (_ argument: String, _ typed: [String]) -> [String]
    ) -> (inserted: String, shown: [String]) {
        var typed = line.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let begun = typed.popLast() ?? ""
        typed.removeAll(where: \.isEmpty)
        let words = places(behind: typed).flatMap { $0.contains(where: \.isLowercase) ? [$0] : values($0, typed) }
        let possible = Set(words.filter { $0.hasPrefix(begun) }).sorted()
        guard let first = possible.first, let last = possible.last else { return ("", []) }
        if first == last { return (first.dropFirst(begun.count) + " ", []) }
        // Sorted, so that all share what the first and the last share.
        let shared = zip(first, last).prefix { $0 == $1 }.count
        return (String(first.prefix(shared).dropFirst(begun.count)), possible)
    }
}

/// Commands of a session on a terminal, beside those of a table.
enum TypedWord {
    static let help = "help"
    static let end = ["exit", "quit"]
    static let all = [help] + end
}
