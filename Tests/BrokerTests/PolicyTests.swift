import Arbiter
import ArbiterProtocol
import BusTesting
import Glibc
import PolicyFile
import Testing

@Suite struct PolicyTests {
    private func policy(_ client: TestClient) throws -> (text: String, files: [String], lines: [String]) {
        let answer = try client.broker("GetPolicy")
        guard answer.count == 3, case .array(_, let files) = answer[1], case .array(_, let origins) = answer[2] else {
            Issue.record("GetPolicy answered \(answer)")
            return ("", [], [])
        }
        let lines = origins.compactMap(\.dictionary).map { origin in
            "\(origin["table"]?.string ?? "") \(origin["name"]?.string ?? "") \(origin["line"]?.uint64 ?? 0)"
        }
        return (answer[0].string ?? "", files.compactMap(\.string), lines)
    }

    @Test("Drop-ins are read over the policy at the start and at SIGHUP, and a wrong one changes nothing")
    func dropIns() throws {
        let base = try Scratch(
            "name = \"base\"\nranks = [\"strong\", \"weak\"]\n[[rank]]\nname = \"All\"\nrank = \"weak\"\n")
        let folder = try Scratch()
        func dropIn(_ text: String) throws -> String { try folder.write(text, to: "50-more.toml") }
        let path = try dropIn("[[rank]]\nname = \"First\"\napp = \"a\"\nrank = \"strong\"\n")
        let process = try BrokerProcess(policy: base.path, arguments: ["--policy-dir", folder.path])
        let client = try process.client()
        #expect(try client.status().degraded == "")
        let first = try policy(client)
        #expect(first.files == [base.path, path])
        #expect(first.lines == [" name 1", " ranks 2", "rule All 3", "rule First 1"])
        let read = try PolicyFile.parse(first.text, file: "answer")
        #expect(read.rankRules.map(\.name) == ["First", "All"])
        #expect(first.text.contains("# \(path):1\n[[rank]]\nname = \"First\""))

        // What steers a terminal reaches nobody raw, and lines stay lines.
        _ = try dropIn("summary = \"\u{1b}[2J\"\n")
        process.signal(SIGHUP)
        try process.wait("the problem") { try !client.status().degraded.isEmpty }
        let degraded = try client.status().degraded
        #expect(degraded.contains("“base”, which was in force, still is.\n\(path):1:"))
        #expect(!degraded.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" && $0 != "\t" })
        #expect(try policy(client) == first)

        _ = try dropIn("name = \"mended\"\n")
        process.signal(SIGHUP)
        try process.wait("the policy") { try client.status().policy == "mended" }
        #expect(try client.status().degraded == "")
        #expect(try policy(client).lines == [" ranks 2", "rule All 3", " name 1"])
    }

    @Test("A folder of drop-ins that was asked for and is not there leaves the built-in policy in force")
    func noFolder() throws {
        let process = try BrokerProcess(policy: "kiosk", arguments: ["--policy-dir", "/nonexistent/d"])
        let client = try process.client()
        let status = try client.status()
        #expect(status.policy == "first-come")
        #expect(status.degraded.contains("/nonexistent/d: it cannot be opened: No such file or directory"))
        let answer = try policy(client)
        #expect(answer.files.isEmpty && answer.lines.isEmpty)
        #expect(try PolicyFile.parse(answer.text, file: "answer").name == "first-come")
    }
}
