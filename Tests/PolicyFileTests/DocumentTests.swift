import Arbiter
import Foundation
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

    /// The tables of the pages, by the heading that each stands under.
    private static let tables: [(page: String, manual: String?, rows: [PolicyPageRow])] = {
        func table(_ name: String) -> [PolicyPageRow] {
            (name.isEmpty ? PolicyTable.top : PolicyTable.all.first { $0.name == name }).map(PolicyPageRow.rows) ?? []
        }
        return [
            ("The top of the file", "AT THE TOP", table("")), ("`[access]`", "[access]", table("access")),
            ("`[[cause]]`", "[[cause]]", table("cause")), ("Facts", "FACTS", PolicyPageRow.facts),
            ("`[pressure]`", "[pressure]", table("pressure")),
            ("`[shell]` and", "[shell] AND [agent]", table("shell")),
            ("`[[attribute]]`", "[[attribute]]", table("attribute")), ("`[[mode]]`", "[[mode]]", table("mode")),
            ("`[[rank]]`", "[[rank]]", table("rank")), ("`[contention]`", "[contention]", table("contention")),
            ("`[[camera]]`", "[[camera]]", table("camera")),
            // Names and what excuses are in both.
            (
                "`[[never]]` and", nil,
                table("never") + table("always").filter { !["name", "by", "unless"].contains($0.name) }
            ),
        ]
    }()

    /// `CAMARB_WRITE_PAGES=1` writes them.
    @Test("Each key stands in the tables of docs/policy.md and camarb-policy(5) as the language's own tables have it")
    func pages() throws {
        try hold("docs/policy.md") { text in
            for (heading, _, rows) in Self.tables {
                guard let section = text.range(of: "\n## \(heading)"),
                    let begin = text.range(of: "|---|\n", range: section.upperBound..<text.endIndex),
                    let end = text.range(of: "\n\n", range: begin.upperBound..<text.endIndex)
                else {
                    Issue.record("docs/policy.md has no table of \(heading)")
                    continue
                }
                text.replaceSubrange(begin.upperBound..<end.lowerBound, with: rows.map(\.line).joined(separator: "\n"))
            }
        }
        try hold("docs/man/camarb-policy.5") { text in
            for (_, heading, rows) in Self.tables {
                guard let heading else { continue }
                guard let section = text.range(of: "\n.SH \(heading)\n"),
                    let begin = text.range(of: "\n.TP\n", range: section.upperBound..<text.endIndex),
                    let end = text.range(of: "\n.SH ", range: begin.upperBound..<text.endIndex)
                else {
                    Issue.record("camarb-policy(5) has no list of \(heading)")
                    continue
                }
                text.replaceSubrange(
                    begin.lowerBound..<end.lowerBound, with: "\n" + rows.map(\.manual).joined(separator: "\n"))
            }
        }
    }

    private func hold(_ path: String, to change: (inout String) -> Void) throws {
        let text = try Checkout.text(path)
        var page = text
        change(&page)
        if ProcessInfo.processInfo.environment["CAMARB_WRITE_PAGES"] != nil {
            try page.write(toFile: Checkout.path(path), atomically: true, encoding: .utf8)
        }
        #expect(page == text, "\(path); CAMARB_WRITE_PAGES=1 writes it")
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

/// A key or a fact, as a page has it.
private struct PolicyPageRow {
    var name: String
    var takes: String
    /// `nil`: missing on the page.
    var missing: String?
    var meaning: String

    static func rows(_ table: PolicyTable) -> [PolicyPageRow] {
        table.keys.map {
            let missing = $0.missing.isEmpty ? nil : $0.missing
            return PolicyPageRow(name: $0.name, takes: $0.takes, missing: missing, meaning: $0.meaning)
        }
    }

    static let facts = Fact.all.map { PolicyPageRow(name: $0.name, takes: $0.takes, meaning: $0.meaning) }

    var line: String {
        let cells = ["`\(name)`", takes] + (missing.map { [$0] } ?? []) + [meaning]
        return "| \(cells.joined(separator: " | ")) |"
    }

    var manual: String {
        let usual = missing.map { " If missing: \($0)." } ?? ""
        let sentence = "\(meaning.prefix(1).uppercased())\(meaning.dropFirst()). Takes \(takes).\(usual)"
        return ".TP\n.B \(Self.roff(name))\n\(Self.roff(sentence))"
    }

    /// Markdown as a manual page has it: what is code is bold, and a link is its words.
    private static func roff(_ text: String) -> String {
        var text = text.replacing("-", with: "\\-").replacing("\"", with: "\\(dq")
        text = text.replacing(/\[([^\]]*)\]\([#m][^)]*\)/) { "\($0.output.1)" }
        text = text.replacing(/\*\*?([^*]*)\*\*?/) { "\\fI\($0.output.1)\\fR" }
        return text.replacing(/`([^`]*)`/) { "\\fB\($0.output.1)\\fR" }
    }
}
