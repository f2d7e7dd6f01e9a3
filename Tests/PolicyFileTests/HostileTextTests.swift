import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

@Suite("Text that means harm")
struct HostileTextTests {
    @Test("Every single-byte deletion and every prefix of kiosk.toml gives a policy, or problems inside the file")
    func damage() throws {
        let bytes = try Checkout.bytes("policies/kiosk.toml")
        // Half of a two-byte character becomes a replacement character on the way: also text.
        let refused = bytes.indices.count { index in
            !parsesOrPointsInside(String(decoding: bytes[..<index] + bytes[(index + 1)...], as: UTF8.self))
        }
        // The comments are half the file; most of the rest carries meaning.
        #expect(refused > 300)
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

    @Test("Deep nesting in lines of a legitimate length is refused, and needs no deep stack")
    func depth() {
        let dotted = Array(repeating: "a", count: 505).joined(separator: ".")
        let opened = "name = \"deep\"\n[\(dotted)]\n" + String(repeating: "\(dotted) = [\n{ ", count: 8)
        #expect(problems(opened).contains("this is not TOML"))
        #expect(problems("\(opened)\(dotted) = 1\(String(repeating: " }\n]", count: 8))\n").contains("p.toml:"))
        let short = dotted.dropLast(10)
        #expect(problems("name = \"deep\"\n[\(short)]\n\(short) = 1\n").contains("unknown key \"a\""))
        #expect(
            problems("name = \"deep\"\nsources = " + String(repeating: "[", count: 900)).contains(
                "exceeded maximum nested value depth of 8\n"))
    }

    @Test("Drop-ins count towards the bytes of the whole policy, and so do includes")
    func sumOfDropIns() throws {
        let filling = String(repeating: "# nothing\n", count: 63_200)
        let folder = try TemporaryFolder([
            "p.toml": MergingTests.base, "p.d/10-a.toml": filling, "p.d/20-b.toml": filling, "p.d/30-c.toml": filling,
        ])
        #expect(
            folder.problems("p.toml", dropIns: "p.d")
                == "p.d/20-b.toml: with it the policy has more than 1048576 bytes")
        let includes = try TemporaryFolder(["base.toml": MergingTests.base + filling])
        try includes.write("include = [\"base.toml\"]\n" + filling, to: "p.toml")
        #expect(includes.problems("p.toml").hasPrefix("p.toml:1:12: \"include\" has \"base.toml\" in it, with which"))
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
