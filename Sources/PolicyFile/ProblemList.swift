/// Collects what is wrong while a policy's files are read to their end.
final class ProblemList {
    private(set) var texts = PolicyTexts()
    private var found: [(place: Place, problem: PolicyProblem)] = []

    var isEmpty: Bool { found.isEmpty }

    /// A further text that places may point into; gives its number.
    func addFile(_ name: String, _ bytes: [UInt8]) -> Int { texts.add(name, bytes) }

    func add(_ message: String, at place: Place, hint: String = "") {
        found.append(texts.problem(message, at: place, hint: hint))
    }

    /// Notes what is allowed, and hardly meant.
    func warn(_ message: String, at place: Place, hint: String = "") {
        var (place, problem) = texts.problem(message, at: place, hint: hint)
        problem.isWarning = true
        found.append((place, problem))
    }

    /// Nil when nothing is wrong.
    var all: PolicyProblems? {
        // Two problems of one place stay in the order in which they were found.
        let ordered = found.enumerated().sorted { ($0.element.place, $0.offset) < ($1.element.place, $1.offset) }
        return ordered.isEmpty ? nil : PolicyProblems(ordered.map(\.element.problem))
    }
}
