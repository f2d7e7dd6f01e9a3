/// Collects what is wrong while a file is read to its end.
final class ProblemList {
    private let file: String
    private let lines: [Substring.UnicodeScalarView]
    private var found: [(place: Place, problem: PolicyProblem)] = []

    init(file: String, text: String) {
        self.file = file
        lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
    }

    var isEmpty: Bool { found.isEmpty }

    /// Notes a problem; a place outside the file (an error at its very end) is moved to the last character.
    func add(_ message: String, at place: Place, hint: String = "") {
        let line = min(max(1, place.line), lines.count)
        let scalars = lines[line - 1]
        let width = scalars.count
        let column = line == place.line ? min(place.column, width + 1) : width + 1
        let length = max(1, min(place.length, width + 1 - column))
        // A control character in a message could rewrite the terminal that shows it.
        let visible = scalars.map { $0 == "\r" ? " " : $0.isPrintable || $0 == "\t" ? $0 : "\u{FFFD}" }
        var lineText = String.UnicodeScalarView(visible)
        while lineText.last == " " { lineText.removeLast() }
        found.append(
            (
                Place(line: line, column: column, length: length),
                PolicyProblem(
                    file: file, line: line, column: column, message: message, length: length,
                    lineText: String(lineText), hint: hint)
            ))
    }

    /// Nil when nothing is wrong.
    var all: PolicyProblems? {
        // Two problems of one place stay in the order in which they were found.
        let ordered = found.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
        return ordered.isEmpty ? nil : PolicyProblems(ordered.map(\.element.problem))
    }
}

extension Unicode.Scalar {
    var isPrintable: Bool { value >= 0x20 && !(0x7F...0x9F).contains(value) }
}
