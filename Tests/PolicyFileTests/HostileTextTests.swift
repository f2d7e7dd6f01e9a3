import Arbiter
import PolicyFile
import Testing
import TomlFile

@Suite("Text that means harm")
struct HostileTextTests {
    @Test("Every single-byte deletion of kiosk.toml gives a policy, or problems inside the file")
    func deletions() throws {
        let bytes = try Checkout.bytes("policies/kiosk.toml")
        var refused = 0
        for index in bytes.indices {
            var damaged = bytes
            damaged.remove(at: index)
            // Half of a two-byte character becomes a replacement character on the way: also text.
            let text = String(decoding: damaged, as: UTF8.self)
            if !parsesOrPointsInside(text) { refused += 1 }
        }
        // The comments are half the file; most of the rest carries meaning.
        #expect(refused > 300)
    }

    @Test("Every prefix of kiosk.toml gives a policy, or problems inside the file")
    func prefixes() throws {
        let bytes = try Checkout.bytes("policies/kiosk.toml")
        for end in stride(from: 0, to: bytes.count, by: 3) {
            _ = parsesOrPointsInside(String(decoding: bytes[..<end], as: UTF8.self))
        }
    }

    /// True where it parses; holds every problem to a place that exists.
    private func parsesOrPointsInside(_ text: String) -> Bool {
        do {
            _ = try PolicyFile.parse(text, file: "kiosk.toml")
            return true
        } catch {
            let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false)
            #expect(!error.problems.isEmpty)
            for problem in error.problems {
                guard (1...lines.count).contains(problem.line) else {
                    Issue.record("line \(problem.line) of \(lines.count): \(problem)")
                    continue
                }
                let width = lines[problem.line - 1].count
                #expect((1...width + 1).contains(problem.column), "\(problem)")
                #expect(problem.length >= 1)
            }
            return false
        }
    }

    @Test("Deep nesting is refused, and needs no deep stack")
    func depth() {
        let header = "[" + Array(repeating: "a", count: 500).joined(separator: ".") + "]\n"
        let dotted = Array(repeating: "a", count: 500).joined(separator: ".")
        var nested = "name = \"deep\"\n" + header
        for _ in 0..<7 { nested += "\(dotted) = [\n{ " }
        #expect(problems(nested).contains("this is not TOML"))
        #expect(problems("name = \"deep\"\n" + header + dotted + " = 1\n").contains("unknown key \"a\""))
        #expect(
            problems("name = \"deep\"\nsources = " + String(repeating: "[", count: 900)).contains(
                "exceeded maximum nested value depth of 8\n"))
    }

    @Test(
        "A hundred thousand levels in one line are refused before they are parsed",
        arguments: [
            "KEY = 1", "[KEY]", "[[KEY]]", "sources = [{ KEY = 1 }]", "sources = OPEN", "a = TABLES",
            "a = { KEY = OPEN }",
        ])
    func hundredThousandLevels(line: String) {
        let levels = 100_000
        var text = line
        for (word, means) in [
            ("KEY", Array(repeating: "a", count: levels).joined(separator: ".")),
            ("OPEN", String(repeating: "[", count: levels)),
            ("TABLES", String(repeating: "{a=", count: levels)),
        ] where text.contains(word) {
            text = text.replacing(word, with: means)
        }
        let said = problems("name = \"deep\"\n\(text)\n")
        #expect(said.hasPrefix("p.toml:2:1: the line has \(text.utf8.count) bytes; it may have at most 1024\n"))
        // Only the beginning of the line is shown.
        #expect(said.utf8.count < 3 * FileBounds.lineBytesMax)
    }

    @Test("Many lines of a legitimate length stay far from the end of a small stack")
    func deepestInLines() throws {
        let dotted = Array(repeating: "a", count: 505).joined(separator: ".")
        var nested = "name = \"deep\"\n[\(dotted)]\n"
        for _ in 0..<8 { nested += "\(dotted) = [\n{ " }
        nested += "\(dotted) = 1"
        nested += String(repeating: " }\n]", count: 8) + "\n"
        #expect(problems(nested).contains("p.toml:"))
    }

    @Test("Drop-ins count towards the bytes of the whole policy")
    func sumOfDropIns() throws {
        let filling = String(repeating: "# nothing\n", count: 63_200)
        let folder = try TemporaryFolder([
            "p.toml": MergingTests.base, "p.d/10-a.toml": filling, "p.d/20-b.toml": filling, "p.d/30-c.toml": filling,
        ])
        #expect(
            folder.problems("p.toml", dropIns: "p.d")
                == "p.d/20-b.toml: with it the policy has more than 1048576 bytes")
    }

    @Test("A text that is too large is refused as a whole")
    func tooLarge() {
        let text = String(repeating: "# nothing\n", count: FileBounds.bytesMax / 10 + 1)
        #expect(problems(text) == "p.toml: the file has 1048580 bytes; a policy has at most 1048576")
    }

    @Test("Of very many problems the first hundred are kept and the rest counted")
    func manyProblems() {
        let text = "name = \"k\"\n" + (0..<150).map { "unknown-\($0) = 1\n" }.joined()
        #expect(problems(text).split(separator: "\n").last == "and 50 more problems")
    }
}
