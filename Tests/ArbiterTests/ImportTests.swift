import Foundation
import Testing

@Suite("The arrows between targets point one way")
struct ImportTests {
    /// The text of every source file of a target.
    private func texts(of target: String) throws -> [String] {
        let sources = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "Sources/\(target)")
        let files = try #require(FileManager.default.enumerator(at: sources, includingPropertiesForKeys: nil))
        var texts: [String] = []
        for case let file as URL in files where file.pathExtension == "swift" {
            texts.append(try String(contentsOf: file, encoding: .utf8))
        }
        #expect(!texts.isEmpty, "\(target) has no source to look at")
        return texts
    }

    /// Every module that the files of a target import.
    private func imports(of target: String) throws -> Set<String> {
        var modules: Set<String> = []
        for text in try texts(of: target) {
            for line in text.split(separator: "\n") {
                let words = line.split(separator: " ")
                guard let place = words.firstIndex(of: "import"), place <= 2, words.count > place + 1,
                    words[..<place].allSatisfy({
                        ["@_exported", "public", "internal", "private", "package", "fileprivate"].contains($0)
                    })
                else { continue }
                // `import class Foundation.Thread` brings all of Foundation, too.
                let isPart = ["class", "struct", "enum", "protocol", "typealias", "func", "let", "var"]
                    .contains(words[place + 1])
                guard let module = words.dropFirst(place + (isPart ? 2 : 1)).first else { continue }
                modules.insert(String(module.prefix { $0 != "." }))
            }
        }
        return modules
    }

    @Test("The vocabulary imports nothing")
    func vocabulary() throws {
        #expect(try imports(of: "Vocabulary") == [])
    }

    @Test("The check of configurations imports the vocabulary, and nothing else")
    func captureModel() throws {
        #expect(try imports(of: "CaptureModel") == ["Vocabulary"])
    }

    @Test("Arbiter imports the vocabulary and the check of configurations, and nothing else")
    func core() throws {
        #expect(try imports(of: "Arbiter") == ["CaptureModel", "Vocabulary"])
    }

    @Test("Explain imports the core and its vocabulary, and nothing else")
    func explain() throws {
        #expect(try imports(of: "Explain") == ["Arbiter", "Vocabulary"])
    }

    // The clocks need no import, so that the imports say nothing about them.
    @Test("The vocabulary and the core have no clock", arguments: ["Vocabulary", "CaptureModel", "Arbiter"])
    func clock(target: String) throws {
        for text in try texts(of: target) {
            for clock in ["ContinuousClock", "SuspendingClock", "Task.sleep"] {
                // Not inside the expectation, which would print the whole file.
                let isNamed = text.contains(clock)
                #expect(!isNamed, "\(target) names \(clock)")
            }
        }
    }

    @Test("ArbiterProtocol imports the vocabulary, nothing of C and no Foundation")
    func client() throws {
        #expect(try imports(of: "ArbiterProtocol").subtracting(["Synchronization"]) == ["Vocabulary"])
    }

    @Test("The reference arbiter imports ArbiterProtocol, and nothing else")
    func reference() throws {
        #expect(try imports(of: "ReferenceArbiter").subtracting(["ArbiterProtocol"]) == [])
    }

    @Test(
        "What is installed imports no Foundation",
        arguments: [
            "PolicyFile", "Explain", "EventTable", "Scenario", "JSONText", "Trace", "Metrics", "Timeline",
            "Exploration", "Camarb", "Bus", "Loop", "Machine", "Identity", "Flags", "FrameStream", "VideoNodes",
            "MachineLoad", "RecorderCore", "Resolution", "DesktopFacts", "Agent", "Broker", "camarbd", "camrecorder",
            "camagent",
            "camclient",
        ])
    func installed(target: String) throws {
        #expect(try imports(of: target).isDisjoint(with: ["Foundation", "FoundationEssentials", "Dispatch"]))
    }
}
