import Foundation
import Scenario
import Testing

/// Every file in `Tests/wrong-scenarios` is refused, with exactly the message beside it: all problems at once, each with
/// its place, the line, and what was probably meant.
///
/// `CAMARB_REWRITE=1` writes the messages anew, and that run fails.
@Suite struct WrongScenarioTests {
    static let root = ScenarioFilesTests.root
    static let folder = root.appending(path: "Tests/wrong-scenarios")

    static let files: [String] =
        ((try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? [])
        .filter { $0.hasSuffix(".scenario") }.sorted()

    @Test("A wrong scenario is refused with its place and a suggestion", arguments: files)
    func refused(_ file: String) throws {
        let said = message(of: Self.folder.appending(path: file).path)
        let expected = Self.folder.appending(path: file.replacing(".scenario", with: ".expected"))
        let wanted = try? String(contentsOf: expected, encoding: .utf8)
        #expect(said == wanted, "\(file) is refused with:\n\(said)")
        #expect(said.contains("\(file):"), "a problem has a place")
        if said != wanted, ProcessInfo.processInfo.environment["CAMARB_REWRITE"] == "1" {
            try said.write(to: expected, atomically: true, encoding: .utf8)
        }
    }

    @Test("There are at least twelve wrong scenarios") func enough() { #expect(Self.files.count >= 12) }

    @Test("Ten megabytes are no scenario, and a line without an end is none either")
    func large() throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "\(UUID().uuidString).scenario")
        defer { try? FileManager.default.removeItem(at: path) }
        let line = "0s   connect photos\n"
        try String(repeating: line, count: 10_000_000 / line.utf8.count).write(
            to: path, atomically: true, encoding: .utf8)
        #expect(message(of: path.path).contains("larger than 4194304 bytes"))
        try ("# a claim\n" + String(repeating: "0", count: 100_000)).write(to: path, atomically: true, encoding: .utf8)
        let said = message(of: path.path)
        #expect(said.contains(":2:1: this line is longer than 65536 bytes"))
        #expect(said.utf8.count < 1000)
    }

    @Test("A policy given as a scenario is one problem, which says so")
    func policy() {
        #expect(
            message(of: Self.root.appending(path: "policies/kiosk.toml").path).hasPrefix(
                "policies/kiosk.toml:1:1: this is a policy and no scenario; `camclient policy check` looks at policies")
        )
    }

    @Test("A hundred problems are not listed: the rest shows when the first are mended")
    func many() throws {
        let text = "# a claim\n0s   connect photos\n" + String(repeating: "     strat photos\n", count: 100)
        let error = #expect(throws: ScenarioError.self) {
            _ = try Scenario.parse(text, file: "many.scenario", policies: "policies")
        }
        #expect(error?.problems.count == 50)
    }

    /// The message about a file, with its bare name and without this machine's folders.
    private func message(of path: String) -> String {
        do {
            let scenario = try Scenario.load(path: path, policies: ScenarioFilesTests.policies)
            return "no problem was found in \(scenario.file)\n"
        } catch {
            return "\(error)\n".replacing(Self.folder.path + "/", with: "").replacing(Self.root.path + "/", with: "")
        }
    }
}
