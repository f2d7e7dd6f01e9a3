import Arbiter
import ArbiterProtocol
import Broker
import Glibc
import PolicyFile
import Testing

@Suite struct PolicyTests {
    private static let base = """
        name = "base"
        ranks = ["strong", "weak"]
        [[rank]]
        name = "All"
        rank = "weak"

        """

    /// A broker with a policy and a folder of drop-ins, which the test writes.
    private func broker(dropIn: String) throws -> (process: BrokerProcess, folder: String) {
        var template = Array("/tmp/camarb-test-XXXXXX".utf8CString)
        let folder = try #require(
            template.withUnsafeMutableBufferPointer { mkdtemp($0.baseAddress!).map { String(cString: $0) } })
        try write(Self.base, "\(folder)/base.toml")
        #expect(mkdir(folder + "/d", 0o700) == 0)
        try write(dropIn, "\(folder)/d/50-more.toml")
        let process = try BrokerProcess(policy: folder + "/base.toml", arguments: ["--policy-dir", folder + "/d"])
        return (process, folder)
    }

    private func write(_ text: String, _ path: String) throws {
        let file = try #require(fopen(path, "w"))
        fputs(text, file)
        fclose(file)
    }

    private func remove(_ folder: String) {
        for name in ["d/50-more.toml", "d", "base.toml"] where unlink("\(folder)/\(name)") != 0 {
            rmdir("\(folder)/\(name)")
        }
        rmdir(folder)
    }

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
        let (process, folder) = try broker(dropIn: "[[rank]]\nname = \"First\"\napp = \"a\"\nrank = \"strong\"\n")
        defer { remove(folder) }
        let client = try process.client()
        #expect(try client.status().degraded == "")
        let first = try policy(client)
        #expect(first.files == ["\(folder)/base.toml", "\(folder)/d/50-more.toml"])
        #expect(first.lines == [" name 1", " ranks 2", "rule All 3", "rule First 1"])
        let read = try PolicyFile.parse(first.text, file: "answer")
        #expect(read.rankRules.map(\.name) == ["First", "All"])
        #expect(first.text.contains("# \(folder)/d/50-more.toml:1\n[[rank]]\nname = \"First\""))

        // What steers a terminal reaches nobody raw, and lines stay lines.
        try write("summary = \"\u{1b}[2J\"\n", folder + "/d/50-more.toml")
        process.signal(SIGHUP)
        try process.wait("the problem") { try !client.status().degraded.isEmpty }
        let degraded = try client.status().degraded
        #expect(degraded.contains("“base”, which was in force, still is.\n\(folder)/d/50-more.toml:1:"))
        #expect(!degraded.unicodeScalars.contains { $0.value < 0x20 && $0 != "\n" && $0 != "\t" })
        #expect(try policy(client) == first)

        try write("name = \"mended\"\n", folder + "/d/50-more.toml")
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

    @Test("An empty --policy-dir reads no drop-ins, and without one it is the usual folder")
    func options() {
        for (arguments, folder) in [
            ([], "/etc/camarb/policy.d"), (["--policy-dir", "/d"], "/d"), (["--policy-dir="], ""),
        ] {
            guard case .run(let options) = BrokerOptions.read(arguments) else {
                Issue.record("\(arguments) was not understood")
                continue
            }
            #expect(options.policyFolder == folder)
        }
    }
}
