import Foundation
import Scenario
import Testing

/// Every file in `Tests/scenarios`, against the core on a virtual clock.
///
/// `CAMARB_REWRITE=1` replaces the expectations by what happened; that run fails all the same, so that
/// no machine can record by itself. Commit a rewritten file only if every changed line can be explained.
@Suite struct ScenarioFilesTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    static let policies = root.appending(path: "policies").path

    static let files: [String] = {
        let folder = root.appending(path: "Tests/scenarios")
        let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
        return names.filter { $0.hasSuffix(".scenario") }.sorted()
    }()

    @Test("What a scenario claims is what happens", arguments: files)
    func holds(_ file: String) throws {
        let path = Self.root.appending(path: "Tests/scenarios/\(file)").path
        let scenario = try Scenario.load(path: path, policies: Self.policies)
        #expect(!scenario.title.isEmpty, "the first line of a scenario says what it claims")
        let outcome = scenario.run()
        #expect(outcome.passed, "\(outcome.report)")
        if !outcome.passed, ProcessInfo.processInfo.environment["CAMARB_REWRITE"] == "1" {
            try Scenario.write(outcome.rewritten, path: path)
        }
    }

    @Test("There are at least sixty scenarios, and none without an event")
    func enough() throws {
        #expect(Self.files.count >= 60)
        print("\(Self.files.count) scenarios")
    }
}
