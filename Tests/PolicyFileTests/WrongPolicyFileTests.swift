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

    /// In the order of their names.
    static let names: [String] = {
        let found = entries(folder).compactMap { entry in
            entry.hasSuffix(".toml")
                ? String(entry.dropLast(5)) : access("\(folder)/\(entry)/policy.toml", F_OK) == 0 ? entry : nil
        }
        return found.sorted()
    }()

    private static func entries(_ path: String) -> [String] {
        guard let stream = opendir(path) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }

    @Test("Each gets exactly its messages", arguments: names)
    func messages(name: String) throws {
        let file = "\(Self.folder)/\(name)"
        let found =
            access(file + "/policy.toml", F_OK) == 0
            ? PolicyFile.check(path: file + "/policy.toml", dropIns: file + "/policy.d")
            : PolicyFile.check(path: file + ".toml")
        try expect(found, in: Self.folder, name)
    }

    @Test("A file of ten megabytes is refused before it is read to its end")
    func tenMegabytes() throws {
        let folder = try TemporaryFolder()
        let line = "# \(String(repeating: "x", count: 997))\n"
        try folder.write(String(repeating: line, count: 10_000), to: "ten-megabytes.toml")
        try expect(
            PolicyFile.check(path: folder.path + "/ten-megabytes.toml"), in: folder.path,
            "ten-megabytes-generated")
    }

    @Test("A named pipe holds nobody up")
    func pipe() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/pipe.toml"
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        try expect(PolicyFile.check(path: path), in: folder.path, "a-pipe-generated")
    }

    @Test("There are more than twenty, and no messages without a policy")
    func completeness() {
        #expect(Self.names.count > 20)
        for entry in Self.entries(Self.folder) where entry.hasSuffix(".expected") {
            let name = String(entry.dropLast(9))
            #expect(Self.names.contains(name) || name.hasSuffix("-generated"), "\(entry) belongs to no policy")
        }
    }

    /// Holds the messages, without the name of the folder that the files are in, to those that are written down.
    private func expect(_ found: FileProblems?, in folder: String, _ name: String) throws {
        let problems = try #require(found, "\(name) is not wrong")
        // Each file is named at the beginning of a line, and in the chains of includes.
        var said = ""
        var rest = (problems.description + "\n")[...]
        while let range = rest.firstRange(of: folder + "/") {
            said += rest[..<range.lowerBound]
            rest = rest[range.upperBound...]
        }
        said += rest
        for scalar in said.unicodeScalars where scalar.value < 0x20 && scalar != "\n" && scalar != "\t" {
            Issue.record("\(name): a control character (\(scalar.value)) reaches the terminal")
        }
        let path = "\(Self.folder)/\(name).expected"
        let expected = access(path, F_OK) == 0 ? try Checkout.bytes("Tests/wrong-policies/\(name).expected") : []
        if getenv("CAMARB_REWRITE") != nil {
            let file = try #require(fopen(path, "w"))
            fputs(said, file)
            fclose(file)
        }
        // Compared with what was there before, so that a run that rewrites still fails.
        #expect(said == String(decoding: expected, as: UTF8.self), "\(name); CAMARB_REWRITE=1 writes what is said")
    }
}
