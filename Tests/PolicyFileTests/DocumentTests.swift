import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

@Suite("docs/policy.md")
struct DocumentTests {
    /// The ```toml blocks of the page. Most are fragments: what every file needs is put before them.
    private func examples() throws -> [String] {
        try Checkout.text("docs/policy.md").split(separator: "\n```toml\n").dropFirst().map { part in
            let block = String(part.split(separator: "\n```", maxSplits: 1)[0]) + "\n"
            let hasName = block.split(separator: "\n").prefix { !$0.hasPrefix("[") }.contains { $0.hasPrefix("name") }
            // A rank of its own is what most examples of a rule leave out.
            let ranks = "ranks = [\"safety\", \"call\", \"booth\", \"attract\"]\n"
            return (hasName ? "" : "name = \"example\"\n") + (block.contains("ranks ") ? "" : ranks) + block
        }
    }

    @Test("Every example is a policy without a problem")
    func examplesParse() throws {
        let examples = try examples()
        #expect(examples.count >= 7)
        for example in examples {
            do {
                // An include of an example is a file beside the policies that ship.
                _ = try PolicyFile.parse(example, file: Checkout.path("policies/example.toml"), includes: true)
            } catch {
                Issue.record("\(error)\nin\n\(example)")
            }
        }
    }

    @Test("Every key of the format is in an example")
    func keysShown() throws {
        let text = try examples().joined()
        for key in PolicyFile.keys {
            let shown = text.split(separator: "\n").contains { line in
                line.split(whereSeparator: { " {,".contains($0) }).contains { $0 == key }
            }
            #expect(shown, "\(key) is in no example")
        }
    }

    @Test("Every key of the format is in the manual page")
    func manual() throws {
        let page = try Checkout.text("docs/man/camarb-policy.5")
        let entries = page.split(separator: "\n").filter { $0.hasPrefix(".B ") }.map { line in
            String(line.dropFirst(3)).split(separator: "\\-", omittingEmptySubsequences: false).joined(separator: "-")
        }
        for key in PolicyFile.keys { #expect(entries.contains(key), "\(key) is not in camarb-policy(5)") }
    }
}
