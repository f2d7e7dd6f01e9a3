/// What is wrong with a trace, and where.
public struct TraceError: Error, Hashable, Sendable, CustomStringConvertible {
    public var file: String
    /// From 1; nil: the file as a whole.
    public var line: Int?
    public var message: String
    /// The file could not be read at all.
    public var isFault = false

    package init(file: String, line: Int?, message: String, isFault: Bool = false) {
        self.file = file
        self.line = line
        self.message = message
        self.isFault = isFault
    }

    public var description: String {
        line.map { "\(file):\($0): \(message)" } ?? "\(file): \(message)"
    }
}
