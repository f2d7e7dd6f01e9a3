public import Arbiter
import Glibc

/// Reads policy files: TOML text to a `Policy`, or everything that is wrong with it, each with its place.
///
/// The format is `docs/policy.md`. A file is read as a whole or not at all: no policy comes out of a file
/// with a problem. Safe to call from any thread.
public enum PolicyFile {
    /// Reads a policy from text. `file` is what problems call it.
    public static func parse(_ text: String, file: String) throws(PolicyProblems) -> Policy {
        try parse(bytes: Array(text.utf8), file: file)
    }

    /// Reads a policy from a regular file of at most `Bounds.fileBytesMax` bytes.
    /// A file that cannot be read is a problem without a line.
    public static func load(path: String) throws(PolicyProblems) -> Policy {
        try parse(bytes: contents(path), file: path)
    }

    static func parse(bytes: [UInt8], file: String) throws(PolicyProblems) -> Policy {
        guard bytes.count <= Bounds.fileBytesMax else {
            throw whole(file, "the file has \(bytes.count) bytes; a policy has at most \(Bounds.fileBytesMax)")
        }
        let problems = ProblemList(file: file, text: String(decoding: bytes, as: UTF8.self))
        refuseLongLines(bytes, problems)
        if let all = problems.all { throw all }
        do {
            let root = try TomlDocument.parse(bytes)
            var reader = PolicyReader(root, problems: problems)
            let policy = reader.policy()
            if let all = problems.all { throw all }
            return policy
        } catch let error as TomlError {
            // toml++ reads on behind a missing quote and stops at the line's end. (`strstr`, because a search for
            // a string in Swift brings two megabytes of regular expressions into the daemon.)
            let hint = strstr(error.message, "unescaped control") != nil ? "is a closing quote missing?" : ""
            problems.add("this is not TOML: \(spoken(error.message))", at: error.place, hint: hint)
            throw problems.all ?? whole(file, error.message)
        } catch let error as PolicyProblems {
            throw error
        } catch {
            throw whole(file, "\(error)")
        }
    }

    private static func refuseLongLines(_ bytes: [UInt8], _ problems: ProblemList) {
        for (index, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).enumerated()
        where line.count > Bounds.lineBytesMax {
            problems.add(
                "the line has \(line.count) bytes; it may have at most \(Bounds.lineBytesMax)",
                at: Place(line: index + 1, column: 1, length: 1))
        }
    }

    /// toml++ begins every message with what it was doing, which the place says, and may end with the name
    /// of its own setting.
    private static func spoken(_ message: String) -> String {
        var rest = message[...]
        if rest.hasPrefix("Error while parsing "), let colon = rest.firstIndex(of: ":") {
            rest = rest[rest.index(after: colon)...].drop { $0 == " " }
        }
        let setting = " (TOML_MAX_NESTED_VALUES)"
        return String(rest.hasSuffix(setting) ? rest.dropLast(setting.count) : rest)
    }

    private static func whole(_ file: String, _ message: String) -> PolicyProblems {
        PolicyProblems([PolicyProblem(file: file, line: 0, column: 0, message: message)])
    }

    private static func contents(_ path: String) throws(PolicyProblems) -> [UInt8] {
        // Without O_NONBLOCK a named pipe would hold the broker up until somebody writes to it.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else { throw whole(path, "it cannot be opened: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw whole(path, "it is not a regular file")
        }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16384)
        while true {
            let count = read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw whole(path, "it cannot be read: \(String(cString: strerror(errno)))") }
            if count == 0 { return bytes }
            bytes += chunk[..<count]
            guard bytes.count <= Bounds.fileBytesMax else {
                throw whole(path, "the file is larger than a policy may be: \(Bounds.fileBytesMax) bytes")
            }
        }
    }
}
