/// One problem of a file, with its place and, where one is near, a suggestion.
public struct FileProblem: Hashable, Sendable {
    public var file: String
    /// From 1; 0 where the problem is the file as a whole (it cannot be opened).
    public var line: Int
    /// From 1, in Unicode scalars.
    public var column: Int
    /// A sentence: what is wrong, with which value, and what is allowed.
    public var message: String
    /// Scalars to underline, at least 1.
    public var length: Int
    /// The line as it stands in the file, without control characters.
    public var lineText: String
    /// A remedy; empty where none is known.
    public var hint: String
    /// The policy can be used all the same; only `PolicyFile.check` has warnings.
    public var isWarning = false

    public init(
        file: String, line: Int, column: Int, message: String, length: Int = 1, lineText: String = "", hint: String = ""
    ) {
        (self.file, self.line, self.column, self.message) = (file, line, column, message)
        (self.length, self.lineText, self.hint) = (length, lineText, hint)
    }
}

extension FileProblem: CustomStringConvertible {
    /// Three lines: the place and the sentence, the file's line, the carets with the suggestion.
    public var description: String {
        let message = isWarning ? "warning: \(message)" : message
        guard line > 0 else { return "\(file): \(message)" }
        // A tab stays a tab, so that the caret stands under its word at any tab width.
        let before = lineText.unicodeScalars.prefix(column - 1).map { $0 == "\t" ? "\t" : " " }.joined()
        let padding = String(repeating: " ", count: max(0, column - 1 - lineText.unicodeScalars.count))
        let carets = String(repeating: "^", count: length)
        return """
            \(file):\(line):\(column): \(message)
              \(lineText)
              \(before)\(padding)\(carets)\(hint.isEmpty ? "" : "  \(hint)")
            """
    }
}

/// Every problem of a policy's files, in the order of the files.
public struct FileProblems: Error, Hashable, Sendable, CustomStringConvertible {
    /// Never empty.
    public var problems: [FileProblem]
    /// How many were found beyond the first `keptMax`.
    public var more: Int

    /// A file could not be read at all.
    public var isFault: Bool { problems.contains { $0.line == 0 } }

    /// A file with more problems is something else than a policy.
    public static let keptMax = 100

    public init(_ problems: [FileProblem]) {
        self.problems = Array(problems.prefix(Self.keptMax))
        more = max(0, problems.count - Self.keptMax)
    }

    public var description: String {
        let all = problems.map(\.description).joined(separator: "\n")
        return more == 0 ? all : "\(all)\nand \(more) more problems"
    }
}
