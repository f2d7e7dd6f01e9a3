import CameraFile
import Glibc
import Testing
import TomlFile

/// `Tests/wrong-cameras`: cameras' files that are wrong on purpose, each with what is said about it.
///
/// `NAME.toml` has its messages in `NAME.expected`. `CAMARB_REWRITE=1` writes what is said now, and fails all the same.
@Suite("The wrong cameras of Tests/wrong-cameras")
struct WrongCameraFileTests {
    /// The package's folder is two above this file's.
    private static let folder: String = {
        let parts = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        return parts.joined(separator: "/") + "/Tests/wrong-cameras"
    }()

    /// In the order of their names.
    static let names = entries.filter { $0.hasSuffix(".toml") }.map { String($0.dropLast(5)) }.sorted()

    private static let entries: [String] = {
        guard let stream = opendir(folder) else { return [] }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }()

    @Test("Each gets exactly its messages, and is no camera", arguments: names)
    func messages(name: String) throws { try expect("\(Self.folder)/\(name).toml", in: Self.folder, name) }

    @Test("A file of ten megabytes is refused before it is read to its end")
    func tenMegabytes() throws {
        try inFolder { folder in
            let file = try #require(fopen("\(folder)/ten-megabytes.toml", "w"))
            let line = "# \(String(repeating: "x", count: 997))\n"
            for _ in 0..<10_000 { fputs(line, file) }
            fclose(file)
            try expect("\(folder)/ten-megabytes.toml", in: folder, "ten-megabytes-generated")
        }
    }

    @Test("A named pipe holds nobody up")
    func pipe() throws {
        try inFolder { folder in
            try #require(mkfifo("\(folder)/pipe.toml", 0o600) == 0)
            try expect("\(folder)/pipe.toml", in: folder, "a-pipe-generated")
        }
    }

    @Test("A file that is not there is a problem without a line")
    func missing() throws {
        try inFolder { try expect("\($0)/nowhere.toml", in: $0, "no-file-generated") }
    }

    @Test("There are more than twenty, and no messages without a camera")
    func completeness() {
        #expect(Self.names.count > 20)
        for entry in Self.entries where entry.hasSuffix(".expected") {
            let name = String(entry.dropLast(9))
            #expect(Self.names.contains(name) || name.hasSuffix("-generated"), "\(entry) belongs to no camera")
        }
    }

    /// A folder of the test's own, with at most one file, gone with it.
    private func inFolder(_ body: (String) throws -> Void) throws {
        var template = Array("/tmp/camarb-cameras-XXXXXX\0".utf8CString.dropLast())
        try #require(mkdtemp(&template) != nil)
        let folder = template.withUnsafeBufferPointer {
            String(decoding: $0.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        }
        defer {
            for name in ["ten-megabytes.toml", "pipe.toml"] { unlink("\(folder)/\(name)") }
            rmdir(folder)
        }
        try body(folder)
    }

    /// Holds the messages, without the name of the folder that the files are in, to those that are written down.
    private func expect(_ path: String, in folder: String, _ name: String) throws {
        var found: FileProblems?
        do { _ = try CameraFile.load(path: path) } catch { found = error }
        let problems = try #require(found, "\(name) is not wrong")
        let said = (problems.description + "\n").split(separator: folder + "/", omittingEmptySubsequences: false)
            .joined()
        for scalar in said.unicodeScalars where scalar.value < 0x20 && scalar != "\n" && scalar != "\t" {
            Issue.record("\(name): a control character (\(scalar.value)) reaches the terminal")
        }
        let expected = "\(Self.folder)/\(name).expected"
        let before = access(expected, F_OK) == 0 ? try RegularFile.read(expected).bytes : []
        if getenv("CAMARB_REWRITE") != nil {
            let file = try #require(fopen(expected, "w"))
            fputs(said, file)
            fclose(file)
        }
        // Compared with what was there before, so that a run that rewrites still fails.
        #expect(said == String(decoding: before, as: UTF8.self), "\(name); CAMARB_REWRITE=1 writes what is said")
    }
}
