/// Collects what is wrong while a policy's files are read to their end.
package final class ProblemList {
    package private(set) var texts = FileTexts()
    private var found: [(place: Place, problem: FileProblem)] = []

    package init() {}

    package var isEmpty: Bool { found.isEmpty }

    /// A further text that places may point into; gives its number.
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

    /// Nil when nothing is wrong.
    package var all: FileProblems? {
        // Two problems of one place stay in the order in which they were found.
        let ordered = found.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
        return ordered.isEmpty ? nil : FileProblems(ordered.map(\.element.problem))
    }
}
