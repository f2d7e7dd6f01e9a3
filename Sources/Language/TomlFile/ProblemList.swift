import Vocabulary

/// Collects what is wrong while a policy's files are read to their end.
package final class ProblemList {
    package private(set) var texts = FileTexts()
    private var found: [(place: Place, problem: FileProblem)] = []

    package init() {}

    package var isEmpty: Bool { found.isEmpty }

    package func addFile(_ name: String, _ bytes: [UInt8]) -> Int { texts.add(name, bytes) }

    package func add(_ message: String, at place: Place, hint: String = "") {
        found.append(texts.problem(message, at: place, hint: hint))
    }

    /// Notes what is allowed, and hardly meant.
    package func warn(_ message: String, at place: Place, hint: String = "") {
        var (place, problem) = texts.problem(message, at: place, hint: hint)
        problem.isWarning = true
        found.append((place, problem))
    }

    package var all: FileProblems? {
        // Two problems of one place stay in the order in which they were found.
        let ordered = found.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
        return ordered.isEmpty ? nil : FileProblems(ordered.map(\.element.problem))
    }

    /// - Parameter file: the text's number in this list.
    package func parse(_ bytes: [UInt8], _ file: Int) -> TomlTable? {
        // Before it is parsed: the parser recurses once a dotted key, and only a line's length bounds how often.
        if refuseLongLines(bytes, file) { return nil }
        do throws(TomlError) { return try TomlDocument.parse(bytes, file: file) } catch {
            // toml++ reads on behind a missing quote and stops at the line's end.
            let hint = error.message.holds("unescaped control") ? "is a closing quote missing?" : ""
            add("this is not TOML: \(error.spoken)", at: error.place, hint: hint)
            return nil
        }
    }

    /// A problem for each line that is too long. A key cannot go on in the next line, whatever strings and comments are
    /// around it, so that nothing of the text has to be understood for this.
    /// - Returns: whether there is one.
    private func refuseLongLines(_ bytes: [UInt8], _ file: Int) -> Bool {
        var isRefused = false
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where line.count > FileBounds.lineBytesMax {
            isRefused = true
            add(
                "the line has \(line.count) bytes; it may have at most \(FileBounds.lineBytesMax)",
                at: Place(file: file, line: index + 1, column: 1, length: 1))
        }
        return isRefused
    }
}

extension TomlError {
    /// toml++ begins every message with what it was doing, which the place says, and may end with the name
    /// of its own setting. It quotes the text, too: what could steer a terminal comes out as a sign.
    fileprivate var spoken: String {
        var rest = message[...]
        if rest.hasPrefix("Error while parsing "), let colon = rest.firstIndex(of: ":") {
            rest = rest[rest.index(after: colon)...].drop { $0 == " " }
        }
        let setting = " (TOML_MAX_NESTED_VALUES)"
        return Wording.visible(String(rest.hasSuffix(setting) ? rest.dropLast(setting.count) : rest))
    }
}
