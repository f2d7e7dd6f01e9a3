import ArbiterProtocol

public struct Outcome: Sendable {
    public let file: String
    public let title: String
    /// The text as it was, and as it would have to be.
    public let expected: [String]
    public let actual: [String]
    /// Broken invariants, whatever the expectations are.
    public let violations: [String]
    /// Refusals by their notices, with sentences that name key, value and range.
    var refusals: [(notice: String, sentence: String)] = []
    /// The moment of the next deadline or answer behind the last line.
    var next: Moment?

    public var passed: Bool { expected == actual && violations.isEmpty }

    public var rewritten: String { actual.joined(separator: "\n") }

    /// A line diff with the lines around, and the broken invariants; empty where the run passed.
    public var report: String {
        var text: [String] = []
        if expected != actual {
            text.append("\(file): \(title)")
            text.append("  - what the scenario expects    + what happened")
            text += LineDiff.unified(expected, actual)
            text += remarks
        }
        if !violations.isEmpty {
            text.append("\(file): broken promises")
            text += violations.map { "  \($0)" }
        }
        return text.joined(separator: "\n")
    }
}
