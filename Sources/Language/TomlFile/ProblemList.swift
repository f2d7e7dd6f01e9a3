import Vocabulary

/// Collects problems while a policy's files are read to their end.
package final class ProblemList {
    private var files: [(name: String, lines: [Substring.UnicodeScalarView])] = []
    private var found: [(place: Place, problem: FileProblem)] = []

    package init() {}

    package var isEmpty: Bool { found.isEmpty }

    /// - Returns: the number by which places name this file.
    package func addFile(_ name: String, _ bytes: [UInt8]) -> Int {
        let text = String(decoding: bytes, as: UTF8.self)
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
        files.append((Wording.visible(name), lines))
        return files.count - 1
    }

    /// For messages; without characters that steer a terminal.
    package func file(of place: Place) -> String { files[place.file].name }

    /// A line, with its file where that is another one than `here`.
    package func spoken(_ place: Place, from here: Place) -> String {
        place.file == here.file ? "line \(place.line)" : "\(file(of: place)):\(place.line)"
    }

    package func add(_ message: String, at place: Place, hint: String = "") {
        found.append(problem(message, at: place, hint: hint))
    }

    package func warn(_ message: String, at place: Place, hint: String = "") {
        var (place, problem) = problem(message, at: place, hint: hint)
        problem.isWarning = true
        found.append((place, problem))
    }

    /// The problem at a place. A place outside its file (an error at its very end) is moved to the last character; line
    /// 0 is the file as a whole.
    private func problem(_ message: String, at place: Place, hint: String) -> (Place, FileProblem) {
        let file = files[place.file]
        guard place.line > 0 else {
            return (place, FileProblem(file: file.name, line: 0, column: 0, message: message, hint: hint))
        }
        let line = min(place.line, file.lines.count)
        let scalars = file.lines[line - 1]
        let width = scalars.count
        let column = line == place.line ? min(place.column, width + 1) : width + 1
        let length = max(1, min(place.length, width + 1 - column))
        // A control character in a message could rewrite the terminal that shows it. A line that is too long is shown
        // as far as an allowed one could go.
        let shown = scalars.prefix(FileBounds.lineBytesMax)
        let visible = shown.map { $0 == "\r" ? " " : $0.isPrintable || $0 == "\t" ? $0 : "\u{FFFD}" }
        var lineText = String.UnicodeScalarView(visible)
        while lineText.last == " " { lineText.removeLast() }
        if shown.count < width { lineText.append("…") }
        return (
            Place(file: place.file, line: line, column: column, length: length),
            FileProblem(
                file: file.name, line: line, column: column, message: message, length: length,
                lineText: String(lineText), hint: hint)
        )
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

    /// A key cannot go on in the next line, whatever strings and comments are around it, so nothing of the text has to
    /// be understood here.
    /// - Returns: whether a line is too long.
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
    /// Without the action that toml++ begins a message with, and the name of its setting; its quotations may have
    /// control characters.
    fileprivate var spoken: String {
        var rest = message[...]
        if rest.hasPrefix("Error while parsing "), let colon = rest.firstIndex(of: ":") {
            rest = rest[rest.index(after: colon)...].drop { $0 == " " }
        }
        let setting = " (TOML_MAX_NESTED_VALUES)"
        return Wording.visible(String(rest.hasSuffix(setting) ? rest.dropLast(setting.count) : rest))
    }
}
