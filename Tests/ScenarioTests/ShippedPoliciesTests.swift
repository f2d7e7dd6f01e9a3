import Arbiter
import ArbiterProtocol
import Foundation
import PolicyFile
import Scenario
import Testing

/// Everything that a policy in `policies/` brings with it.
@Suite("The shipped policies")
struct ShippedPoliciesTests {
    static let root = ScenarioFilesTests.root
    static let policies = ScenarioFilesTests.policies

    static let names: [String] = {
        let files = (try? FileManager.default.contentsOfDirectory(atPath: policies)) ?? []
        return files.filter { $0.hasSuffix(".toml") }.map { String($0.dropLast(5)) }.sorted()
    }()

    /// The parts of shipped policies that no scenario can reach, with the reason of each. An exemption says what would
    /// hold without it as well
    /// wherever the rule that it exempts from does not match.
    static let unreachable = [
        "call-corks": [
            "\"A call beside another one\" would decide but for microphone = \"taken\": "
                + "the answer is the same without that fact"
        ],
        "kiosk": [
            "\"The evacuation camera stays on in any heat\" would decide but for pressure = \"critical\": "
                + "the answer is the same without that fact"
        ],
    ]

    private static func text(_ name: String) throws -> String {
        try String(contentsOf: root.appending(path: name), encoding: .utf8)
    }

    @Test("There are at least seven, and each is called as its file")
    func there() throws {
        #expect(Self.names.count >= 7)
        for name in Self.names {
            let policy = try PolicyFile.load(path: "\(Self.policies)/\(name).toml")
            #expect(policy.name == name)
            #expect(!policy.summary.isEmpty)
        }
    }

    @Test("Every policy has a page that says what it reproduces, and is in the tables", arguments: names)
    func pages(_ name: String) throws {
        let page = try Self.text("docs/policies/\(name).md")
        #expect(page.hasPrefix("# "))
        #expect(page.contains("policies/\(name).toml"), "the page names its file")
        #expect(page.contains("\n| "), "the page has a table of cases")
        for table in ["docs/policy.md", "README.md"] {
            #expect(try Self.text(table).contains("\(name).toml"), "\(table) names \(name).toml")
        }
    }

    @Test("Every policy's own scenarios reach all of it", arguments: names)
    func covered(_ name: String) throws {
        let folder = Self.root.appending(path: "Tests/scenarios/policies/\(name)").path
        let files = try FileManager.default.contentsOfDirectory(atPath: folder).filter { $0.hasSuffix(".scenario") }
        try #require(!files.isEmpty, "there is no scenario in \(folder)")
        let path = "\(Self.policies)/\(name).toml"
        var tally = CoverageTally()
        tally.expect(.init(path: path, policy: try PolicyFile.load(path: path)))
        for file in files.sorted() {
            let outcome = tally.run(try Scenario.load(path: "\(folder)/\(file)", policies: Self.policies))
            #expect(outcome.passed, "\(outcome.report)")
        }
        let entry = try #require(tally.policies.first { $0.path == path })
        let report = entry.report { _ in nil }.joined(separator: "\n")
        #expect(entry.coverage.total.percent == 100, "\(report)")
        #expect(entry.scenarios == files.count, "each of its scenarios names \(name).toml")
        let unreachable = entry.coverage.unreachable.map { "\($0.gap.claim(in: entry.coverage.policy)): \($0.why)" }
        #expect(unreachable == Self.unreachable[name] ?? [], "what cannot be reached is written down here")
    }

    /// The part of docs/policies/README.md between the two comments is written by this program.
    @Test("The comparison table says what the policies do")
    func table() throws {
        let path = Self.root.appending(path: "docs/policies/README.md")
        let page = try String(contentsOf: path, encoding: .utf8)
        let begin =
            "<!-- written by Tests/ScenarioTests: CAMARB_REWRITE=1 swift test --filter ShippedPoliciesTests -->\n"
        let end = "<!-- end of what is written -->\n"
        let first = try #require(page.range(of: begin), "the page has no beginning of the table")
        let last = try #require(page.range(of: end), "the page has no end of the table")
        let written = try PolicyTable.markdown(
            Self.names.map { try PolicyFile.load(path: "\(Self.policies)/\($0).toml") })
        let isSame = page[first.upperBound..<last.lowerBound] == written
        #expect(isSame, "docs/policies/README.md is not what the policies do; CAMARB_REWRITE=1 writes it anew")
        if !isSame, ProcessInfo.processInfo.environment["CAMARB_REWRITE"] == "1" {
            let rewritten = page[..<first.upperBound] + written + page[last.lowerBound...]
            try String(rewritten).write(to: path, atomically: true, encoding: .utf8)
        }
    }
}
