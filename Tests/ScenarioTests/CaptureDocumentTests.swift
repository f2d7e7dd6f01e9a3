import Arbiter
import ArbiterProtocol
import Foundation
import Scenario
import Testing

/// `docs/capture.md`: every block of it is a scenario that holds, and they have every key.
@Suite("docs/capture.md")
struct CaptureDocumentTests {
    static let page = ScenarioFilesTests.root.appending(path: "docs/capture.md")
    private static let fence = "```scenario\n"

    /// The page in parts: text, block, text, block, …, text.
    static func parts() throws -> [String] {
        let text = try String(contentsOf: page, encoding: .utf8)
        return text.components(separatedBy: fence).enumerated().flatMap { index, part -> [String] in
            guard index > 0 else { return [part] }
            let halves = part.components(separatedBy: "\n```\n")
            return [halves[0], halves.dropFirst().joined(separator: "\n```\n")]
        }
    }

    @Test("What each example says is what happens")
    func examples() throws {
        var parts = try Self.parts()
        #expect(parts.count > 30)
        var wrong: [String] = []
        for index in parts.indices where index % 2 == 1 {
            let scenario = try Scenario.parse(
                parts[index], file: "docs/capture.md", policies: ScenarioFilesTests.policies)
            #expect(!scenario.title.isEmpty)
            let outcome = scenario.run()
            if outcome.passed { continue }
            wrong.append(outcome.report)
            parts[index] = outcome.rewritten.trimmingCharacters(in: .newlines)
        }
        #expect(wrong.isEmpty, "\(wrong.joined(separator: "\n"))\nCAMARB_REWRITE=1 writes them anew")
        guard !wrong.isEmpty, ProcessInfo.processInfo.environment["CAMARB_REWRITE"] == "1" else { return }
        var text = parts[0]
        for index in parts.indices where index % 2 == 1 {
            text += "\(Self.fence)\(parts[index])\n```\n\(parts[index + 1])"
        }
        try text.write(to: Self.page, atomically: true, encoding: .utf8)
    }

    @Test("Every key is set in an example, every preset is named, and what is not set is refused there")
    func whole() throws {
        let parts = try Self.parts()
        let inputs = parts.enumerated().filter { $0.offset % 2 == 1 }.flatMap { $0.element.split(separator: "\n") }
            .filter { $0.contains("configure ") || $0.contains("session ") }
        let text = parts.enumerated().filter { $0.offset % 2 == 0 }.map(\.element).joined()
        for key in ConfigurationKey.allCases {
            #expect(inputs.contains { $0.contains(" \(key.rawValue)=") }, "no example has \(key.rawValue)")
        }
        for word in SessionPreset.allCases.map(\.rawValue) + ConfigurationKey.allCases.map(\.rawValue) {
            #expect(text.contains("`\(word)`"), "the page does not say what \(word) is")
        }
    }

    @Test("No simulated camera's file is read for a plan but those that lie where such files lie")
    func paths() throws {
        let path = ScenarioFilesTests.root.appending(path: "cameras/uvc-webcam.toml").path
        let line = "policy built-in\ncamera desk model=\(path)\n\n0s   connect photos\n"
        #expect(throws: Never.self) { try Scenario.parse(line, file: "a file", policies: "policies") }
        #expect(throws: ScenarioError.self) {
            try Scenario.plan("plug desk model=\(path)", on: Arbiter(policy: .firstCome), at: .zero)
        }
        let wrong = #expect(throws: ScenarioError.self) {
            try Scenario.parse("policy built-in\ncamera desk model=iphone99\n", file: "a file", policies: "policies")
        }
        let said = wrong?.description ?? ""
        #expect(said.contains("There is no simulated camera") && said.contains("iphone99"), "\(said)")
        #expect(said.contains("there are iphone5-back, "), "\(said)")
    }

    @Test("The line that is written of a simulated camera reads back as that camera")
    func written() throws {
        for model in ["iphone5-back", "iphone6-front", "iphone6splus-back", "uvc-webcam"] {
            let named = try Scenario.parse(
                "policy built-in\ncamera back model=\(model)\n", file: "a file", policies: "policies")
            let lines = ScenarioWriter.header(title: "A claim.", policy: "built-in", cameras: named.world.cameras)
            let again = try Scenario.parse(lines.joined(separator: "\n"), file: "a file", policies: "policies")
            #expect(named.world.cameras[0].capabilities == again.world.cameras[0].capabilities, "\(model)")
        }
    }
}
