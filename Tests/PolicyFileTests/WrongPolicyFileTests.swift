import Foundation
import Glibc
import PolicyFile
import Testing
import TomlFile

/// `Tests/wrong-policies`: policies that are wrong on purpose, each with what is said about it.
///
/// `NAME.toml`, or `NAME/policy.toml` with the drop-ins of `NAME/policy.d` over it, has its messages in
/// `NAME.expected`. `CAMARB_REWRITE=1` writes what is said now, and fails all the same.
@Suite("The wrong policies of Tests/wrong-policies")
struct WrongPolicyFileTests {
    private static let folder = Checkout.path("Tests/wrong-policies")

    private static let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []

    /// Files that repeat a few lines are written when they are needed.
    private static let generated = [
        "more-rules-than-the-bound": "name = \"long\"\nranks = [\"a\"]\n"
            + (0..<257).map { "[[rank]]\nname = \"\($0)\"\nuser = \($0)\nrank = \"a\"\n" }.joined()
    ]

    /// In the order of their names.
    static let names: [String] =
        (generated.keys
        + entries.compactMap { (entry: String) -> String? in
            if entry.hasSuffix(".toml") { return String(entry.dropLast(5)) }
            return isThere("\(entry)/policy.toml") ? entry : nil
        }).sorted()

    private static func isThere(_ name: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(folder)/\(name)")
    }

    @Test("Each gets exactly its messages", arguments: names)
    func messages(name: String) throws {
        if let text = Self.generated[name] { return try messages(of: text, "\(name).toml", name) }
        let file = "\(Self.folder)/\(name)"
        let found =
            Self.isThere("\(name)/policy.toml")
            ? PolicyFile.check(path: file + "/policy.toml", dropIns: file + "/policy.d")
            : PolicyFile.check(path: file + ".toml")
        try expect(found, in: Self.folder, name)
    }

    @Test("A file of ten megabytes is refused before it is read to its end")
    func tenMegabytes() throws {
        let line = "# \(String(repeating: "x", count: 997))\n"
        try messages(of: String(repeating: line, count: 10_000), "ten-megabytes.toml", "ten-megabytes-generated")
    }

    @Test("A named pipe holds nobody up")
    func pipe() throws {
        let folder = try TemporaryFolder()
        try #require(mkfifo(folder.path + "/pipe.toml", 0o600) == 0)
        try expect(PolicyFile.check(path: folder.path + "/pipe.toml"), in: folder.path, "a-pipe-generated")
    }

    @Test("There are more than twenty, and no messages without a policy")
    func completeness() {
        #expect(Self.names.count > 20)
        for entry in Self.entries where entry.hasSuffix(".expected") {
            let name = String(entry.dropLast(9))
            #expect(Self.names.contains(name) || name.hasSuffix("-generated"), "\(entry) belongs to no policy")
        }
    }

    private func messages(of text: String, _ file: String, _ name: String) throws {
        let folder = try TemporaryFolder([file: text])
        try expect(PolicyFile.check(path: "\(folder.path)/\(file)"), in: folder.path, name)
    }

    /// Holds the messages, without the name of the folder that the files are in, to those that are written down.
    private func expect(_ found: FileProblems?, in folder: String, _ name: String) throws {
        let problems = try #require(found, "\(name) is not wrong")
        // Each file is named at the beginning of a line, and in the chains of includes.
        let said = (problems.description + "\n").replacing(folder + "/", with: "")
        for scalar in said.unicodeScalars where scalar.value < 0x20 && scalar != "\n" && scalar != "\t" {
            Issue.record("\(name): a control character (\(scalar.value)) reaches the terminal")
        }
        let path = "\(Self.folder)/\(name).expected"
        let expected = try? String(contentsOfFile: path, encoding: .utf8)
        if ProcessInfo.processInfo.environment["CAMARB_REWRITE"] != nil {
            try said.write(toFile: path, atomically: true, encoding: .utf8)
        }
        // Compared with what was there before, so that a run that rewrites still fails.
        #expect(said == expected, "\(name); CAMARB_REWRITE=1 writes what is said")
    }
}
