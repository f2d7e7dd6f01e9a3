import Foundation
import FuzzTargets
import Glibc
import Testing

/// Every input that was ever found to break something, and the corpus that reaches as much code as was reached so far.
@Suite struct CorpusTests {
    static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The contents of the regular files that a pattern of the shell finds.
    static func inputs(_ pattern: String) -> [[UInt8]] {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob(root.appending(path: pattern).path, 0, nil, &found) == 0 else { return [] }
        let paths = (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
        return paths.map { URL(filePath: $0) }.filter {
            (try? $0.resourceValues(forKeys: [.isRegularFileKey]))?.isRegularFile == true
        }.compactMap { try? Array(Data(contentsOf: $0)) }
    }

    @Test("No input of the corpus breaks a promise", arguments: FuzzTarget.allCases)
    func corpus(_ target: FuzzTarget) throws {
        let elsewhere = try String(contentsOf: Self.root.appending(path: "Tests/fuzz/elsewhere"), encoding: .utf8)
        let lines = elsewhere.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        var patterns = ["Tests/fuzz/corpus/\(target.rawValue)/*"]
        for line in lines where line[0] == target.rawValue {
            patterns += line.dropFirst()
            for pattern in line.dropFirst() { #expect(!Self.inputs(pattern).isEmpty, "\(pattern) finds nothing") }
        }
        let inputs = patterns.flatMap(Self.inputs)
        #expect(!inputs.isEmpty, "\(target.rawValue) has no inputs")
        for input in inputs { target.run(input) }
    }

    @Test("What once broke a promise does not any more", arguments: FuzzTarget.allCases)
    func crashes(_ target: FuzzTarget) {
        for input in Self.inputs("Tests/fuzz/crashes/\(target.rawValue)/*") { target.run(input) }
    }
}
