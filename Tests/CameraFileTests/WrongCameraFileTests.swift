import Foundation
import Glibc
import PolicyFile
import Testing
import TomlFile

/// `Tests/wrong-cameras`: cameras' files that are wrong on purpose, each with what is said about it.
///
/// `NAME.toml` has its messages in `NAME.expected`. `CAMARB_REWRITE=1` writes what is said now, and fails all the same.
@Suite("The wrong cameras of Tests/wrong-cameras")
struct WrongCameraFileTests {
    private static let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "wrong-cameras").path

    private static let entries = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []

    /// Files that repeat a few lines are written when they are needed.
    private static let generated = [
        "more-formats-than-the-bound": """
        # Apple's longest list has some thirty.

        name = "A camera"
        position = "front"
        sensor = [1280, 960]
        default = "420v 640x480@30"

        """
            + (0...128).map { number in
                """

                [[format]]
                pixel-formats = ["420v"]
                size = [\(number == 0 ? "640, 480" : "\(2 * number), \(2 * number)")]
                frame-rates = [2, 30]
                field-of-view = 54.4
                max-zoom = 60.0
                lossless-zoom = 2.0
                reads = \(number == 0 ? 1280 : 2)

                """
            }.joined()
    ]

    /// In the order of their names.
    static let names =
        (generated.keys + entries.filter { $0.hasSuffix(".toml") }.map { String($0.dropLast(5)) }).sorted()

    @Test("Each gets exactly its messages, and is no camera", arguments: names)
    func messages(name: String) throws {
        if let text = Self.generated[name] { return try expect("\(name).toml", of: text, name) }
        try expect("\(name).toml", in: Self.folder, name)
    }

    @Test("A file of ten megabytes is refused before it is read to its end")
    func tenMegabytes() throws {
        let line = "# \(String(repeating: "x", count: 997))\n"
        try expect("ten-megabytes.toml", of: String(repeating: line, count: 10_000), "ten-megabytes-generated")
    }

    @Test("A named pipe holds nobody up")
    func pipe() throws {
        try inFolder { folder in
            try #require(mkfifo("\(folder)/pipe.toml", 0o600) == 0)
            try expect("pipe.toml", in: folder, "a-pipe-generated")
        }
    }

    @Test("A file that is not there is a problem without a line")
    func missing() throws {
        try inFolder { try expect("nowhere.toml", in: $0, "no-file-generated") }
    }

    @Test("There are more than twenty, and no messages without a camera")
    func completeness() {
        #expect(Self.names.count > 20)
        for entry in Self.entries where entry.hasSuffix(".expected") {
            let name = String(entry.dropLast(9))
            #expect(Self.names.contains(name) || name.hasSuffix("-generated"), "\(entry) belongs to no camera")
        }
    }

    /// A folder of the test's own, gone with it.
    private func inFolder(_ body: (String) throws -> Void) throws {
        let folder = "/tmp/camarb-cameras-\(UUID().uuidString)"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        try body(folder)
    }

    private func expect(_ file: String, of text: String, _ name: String) throws {
        try inFolder { folder in
            try text.write(toFile: "\(folder)/\(file)", atomically: false, encoding: .utf8)
            try expect(file, in: folder, name)
        }
    }

    /// Holds the messages, without the name of the folder that the file is in, to those that are written down.
    private func expect(_ file: String, in folder: String, _ name: String) throws {
        var found: FileProblems?
        do { _ = try CameraFile.load(path: "\(folder)/\(file)") } catch { found = error }
        let problems = try #require(found, "\(name) is not wrong")
        let said = (problems.description + "\n").split(separator: folder + "/", omittingEmptySubsequences: false)
            .joined()
        for scalar in said.unicodeScalars where scalar.value < 0x20 && scalar != "\n" && scalar != "\t" {
            Issue.record("\(name): a control character (\(scalar.value)) reaches the terminal")
        }
        let expected = "\(Self.folder)/\(name).expected"
        let before = (try? String(contentsOfFile: expected, encoding: .utf8)) ?? ""
        if getenv("CAMARB_REWRITE") != nil { try said.write(toFile: expected, atomically: true, encoding: .utf8) }
        // Compared with what was there before, so that a run that rewrites still fails.
        #expect(said == before, "\(name); CAMARB_REWRITE=1 writes what is said")
    }
}
