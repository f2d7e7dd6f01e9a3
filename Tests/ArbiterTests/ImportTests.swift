import Foundation
import Testing

@Suite("The arrows between targets point one way")
struct ImportTests {
    /// Every module that the files of a target import.
    private func imports(of target: String) throws -> Set<String> {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/\(target)")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var modules: Set<String> = []
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            count += 1
            for line in try String(contentsOf: file, encoding: .utf8).split(separator: "\n") {
                let words = line.split(separator: " ")
                guard let place = words.firstIndex(of: "import"), place <= 2, words.count > place + 1,
                    words[..<place].allSatisfy({
                        ["public", "internal", "private", "package", "fileprivate"].contains($0)
                    })
                else { continue }
                modules.insert(String(words[place + 1]))
            }
        }
        #expect(count > 0, "\(target) has no source to look at")
        return modules
    }

    @Test("ArbiterProtocol imports nothing of C, no clock and no Foundation")
    func vocabulary() throws {
        #expect(try imports(of: "ArbiterProtocol").subtracting(["Synchronization"]) == [])
    }

    @Test("Arbiter imports the vocabulary, and nothing else")
    func core() throws {
        #expect(try imports(of: "Arbiter") == ["ArbiterProtocol"])
    }

    @Test("The reference arbiter imports the vocabulary, and nothing else")
    func reference() throws {
        #expect(try imports(of: "ReferenceArbiter").subtracting(["ArbiterProtocol"]) == [])
    }

    @Test(
        "What runs in the daemons imports no Foundation",
        arguments: [
            "PolicyFile", "Scenario", "JSONText", "Trace", "SystemdBus", "FrameStream", "RecorderCore", "Broker",
            "camarbd",
            "camrecorder",
        ])
    func daemons(target: String) throws {
        #expect(try imports(of: target).isDisjoint(with: ["Foundation", "FoundationEssentials", "Dispatch"]))
    }
}
