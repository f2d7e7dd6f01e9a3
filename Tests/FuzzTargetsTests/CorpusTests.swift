import Foundation
import FuzzTargets
import Testing

/// Every input that was ever found to break something, and the corpus that reaches as much code as was reached so far.
@Suite struct CorpusTests {
    static let folder = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent().appending(
        path: "fuzz")

    static func inputs(_ kind: String, of target: FuzzTarget) throws -> [URL] {
        let folder = folder.appending(path: "\(kind)/\(target.rawValue)")
        guard FileManager.default.fileExists(atPath: folder.path) else { return [] }
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
    }

    @Test("No input of the corpus breaks a promise", arguments: FuzzTarget.allCases)
    func corpus(_ target: FuzzTarget) throws {
        let inputs = try Self.inputs("corpus", of: target)
        #expect(!inputs.isEmpty, "Tests/fuzz/corpus/\(target.rawValue) is empty")
        for input in inputs { target.run(Array(try Data(contentsOf: input))) }
    }

    @Test("What once broke a promise does not any more", arguments: FuzzTarget.allCases)
    func crashes(_ target: FuzzTarget) throws {
        for input in try Self.inputs("crashes", of: target) { target.run(Array(try Data(contentsOf: input))) }
    }
}
