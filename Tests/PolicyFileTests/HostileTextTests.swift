import Arbiter
import Glibc
import PolicyFile
import Testing

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

    @Test("A line that is too long is refused with its number")
    func longLine() {
        let text = "name = \"k\"\n# " + String(repeating: "x", count: Bounds.lineBytesMax) + "\n"
        #expect(problems(text).hasPrefix("p.toml:2:1: the line has 1026 bytes; it may have at most 1024"))
    }

    @Test("A text that is too large is refused as a whole")
    func tooLarge() {
        let text = String(repeating: "# nothing\n", count: Bounds.fileBytesMax / 10 + 1)
        #expect(problems(text) == "p.toml: the file has 1048580 bytes; a policy has at most 1048576")
    }

    @Test("More rules than a decision can afford are refused")
    func tooManyRules() {
        var text = "name = \"k\"\nranks = [\"a\"]\n"
        for index in 0...Bounds.rulesMax { text += "[[rank]]\nname = \"r\(index)\"\nrank = \"a\"\n" }
        #expect(
            problems(text) == """
                p.toml:3:1: there are 257 [[rank]] tables; at most 256 are allowed
                  [[rank]]
                  ^^^^^^^^
                """)
    }

    @Test("Of very many problems the first hundred are kept and the rest counted")
    func manyProblems() {
        let text = "name = \"k\"\n" + (0..<150).map { "unknown-\($0) = 1\n" }.joined()
        #expect(problems(text).split(separator: "\n").last == "and 50 more problems")
    }

    @Test("Bytes that are no UTF-8 are refused with their place")
    func notUTF8() throws {
        let path = try TemporaryFile(bytes: Array("name = \"k\"\nsummary = \"".utf8) + [0xC3, 0x28, 0x22, 0x0A])
        #expect(throws: PolicyProblems.self) { try PolicyFile.load(path: path.path) }
        do {
            _ = try PolicyFile.load(path: path.path)
        } catch {
            #expect(error.problems.map(\.line) == [2])
        }
    }

    @Test("What is no readable regular file is refused without a line")
    func unreadable() {
        for (path, message) in [
            ("/nonexistent/p.toml", "it cannot be opened: No such file or directory"),
            ("/", "it is not a regular file"), ("/dev/null", "it is not a regular file"),
        ] {
            do {
                _ = try PolicyFile.load(path: path)
                Issue.record("\(path) was read")
            } catch {
                #expect(error.description == "\(path): \(message)")
            }
        }
    }
}

/// A file of a test's own, gone with it.
final class TemporaryFile {
    let path: String

    init(bytes: [UInt8]) throws {
        var template = Array("/tmp/camarb-policy-XXXXXX\0".utf8CString.dropLast())
        let descriptor = mkstemp(&template)
        try #require(descriptor >= 0)
        defer { close(descriptor) }
        path = template.withUnsafeBufferPointer {
            String(decoding: $0.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        try #require(write(descriptor, bytes, bytes.count) == bytes.count)
    }

    deinit { unlink(path) }
}
