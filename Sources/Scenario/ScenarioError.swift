/// Everything that is wrong with a scenario's text, in one go: each with its place.
public struct ScenarioError: Error, Hashable, Sendable, CustomStringConvertible {
    public var problems: [Problem]
    /// The file could not be read, or written, at all.
    public var isFault = false

    public struct Problem: Hashable, Sendable, CustomStringConvertible {
        public var file: String
        /// Both from 1; a column counts characters.
        public var line: Int
        public var column: Int
        public var message: String
        /// The line itself, for the caret.
        public var text: String
        /// How many characters the caret covers; at least 1.
        public var length: Int

        public var description: String {
            let lead = String(repeating: " ", count: max(0, column - 1))
            return
                "\(file):\(line):\(column): \(message)\n  \(text)\n  \(lead)\(String(repeating: "^", count: max(1, length)))"
        }
    }

    public init(_ problems: [Problem]) { self.problems = problems }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
