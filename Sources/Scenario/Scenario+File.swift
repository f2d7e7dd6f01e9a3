import Glibc

extension Scenario {
    /// Reads a scenario file. `policies`: the folder that `policy FILE` is relative to; `dropIns`: one whose drop-ins are
    /// read over each of these files.
    /// - Throws: every problem of the text at once, or that the file cannot be read.
    public static func load(
        path: String, policies: String, dropIns: String? = nil
    ) throws(ScenarioError) -> Scenario {
        // Each of its lines would be a problem, and none would say what is wrong.
        if path.hasSuffix(".toml") {
            throw problem(path, "this is a policy and no scenario; `camclient policy check` looks at policies")
        }
        return try parse(try read(path), file: path, policies: policies, dropIns: dropIns)
    }

    /// Replaces the file by `text`.
    /// - Throws: that the file cannot be written; it may then be cut short.
    public static func write(_ text: String, path: String) throws(ScenarioError) {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
        guard descriptor >= 0 else { throw fault(path, "cannot be written") }
        defer { close(descriptor) }
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            let count = Glibc.write(descriptor, Array(rest), rest.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { throw fault(path, "cannot be written") }
            rest = rest.dropFirst(count)
        }
    }

    static func exists(_ path: String) -> Bool { access(path, F_OK) == 0 }

    private static func read(_ path: String) throws(ScenarioError) -> String {
        let descriptor = path == "-" ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw fault(path, "cannot be read") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 65536)
        while true {
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0, errno == EINTR { continue }
            guard count >= 0 else { throw fault(path, "cannot be read") }
            if count == 0 { break }
            bytes += chunk[..<count]
            // Enough to see that it is too much.
            if bytes.count > ScenarioText.bytesMax { break }
        }
        return try ScenarioText.read(bytes, file: path)
    }

    private static func fault(_ path: String, _ what: String) -> ScenarioError {
        var fault = problem(path, "the file \(what): \(String(cString: strerror(errno)))")
        fault.isFault = true
        return fault
    }

    private static func problem(_ path: String, _ message: String) -> ScenarioError {
        ScenarioError([.init(file: path, line: 1, column: 1, message: message, text: "", length: 1)])
    }
}
