/// Every problem of a scenario's text, each with its place.
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
        public var text = ""
        /// The caret's width in characters; at least 1.
        public var length = 1

        public var description: String {
            let lead = String(repeating: " ", count: max(0, column - 1))
            return
                "\(file):\(line):\(column): \(message)\n  \(text)\n  \(lead)\(String(repeating: "^", count: max(1, length)))"
        }
    }

    public init(_ problems: [Problem]) { self.problems = problems }

    init(_ file: String, _ message: String) {
        self.init([Problem(file: file, line: 1, column: 1, message: message)])
    }

    public var description: String { problems.map(\.description).joined(separator: "\n") }
}
