import Arbiter
import PolicyFile
import Testing

@Suite("docs/policy.md")
struct DocumentTests {
    /// The ```toml blocks of the page. Most are fragments: what every file needs is put before them.
    private func examples() throws -> [String] {
        let page = String(decoding: try Checkout.bytes("docs/policy.md"), as: UTF8.self)
        var blocks: [String] = []
        var block: String?
        for line in page.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```toml" {
                block = ""
            } else if line.hasPrefix("```") {
                if let block { blocks.append(block) }
                block = nil
            } else {
                block?.append("\(line)\n")
            }
        }
        return blocks.map { $0.contains("\nsummary") ? $0 : "name = \"example\"\n" + $0 }
    }

    @Test("Every example is a policy without a problem")
    func examplesParse() throws {
        let examples = try examples()
        #expect(examples.count >= 7)
        for example in examples {
            do {
                _ = try PolicyFile.parse(example, file: "docs/policy.md")
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
}
