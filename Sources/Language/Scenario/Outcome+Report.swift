import ArbiterProtocol

extension Outcome {
    /// A place where a run and its scenario differ.
    public struct Difference: Hashable, Sendable {
        /// The first line of the scenario that it is about, from 1; where lines are missing, the one before which they
        /// belong.
        public var line: Int
        public var expected: [String] = []
        public var got: [String] = []
    }

    public var differences: [Difference] { expected == actual ? [] : LineDiff.changes(expected, actual) }

    /// The sentences of refusals, and that a scenario ends before its expectations.
    var remarks: [String] {
        var text: [String] = []
        let unexpected = differences.flatMap(\.got).map { $0.drop { $0 == " " } }
        var told: Set<String> = []
        for refusal in refusals where unexpected.contains(refusal.notice[...]) && told.insert(refusal.sentence).inserted
        {
            text.append("  refused: \(refusal.sentence)")
        }
        if let next, expectsMore {
            text.append(
                "  The scenario ends before that: what happens by itself next is at \(TimeText.write(next)), which a last line "
                    + "“\(TimeText.write(next))” lets come.")
        }
        return text
    }

    private var expectsMore: Bool {
        // Each text ends with an empty line.
        expected.count > actual.count && expected.starts(with: actual.dropLast())
    }
}
