import ArbiterProtocol
import Foundation
import Scenario
import Testing

/// `docs/man/camarb-scenario.5` and `docs/scenarios.md` have the whole language.
@Suite struct LanguageDocumentTests {
    static let documents = ["docs/man/camarb-scenario.5", "docs/scenarios.md"]

    @Test("Every word and every notice of the language is in its manual page and in its document", arguments: documents)
    func words(_ document: String) throws {
        let found = try written(document)
        let notices = Interface.session.signals.map { $0.name.prefix(1).lowercased() + $0.name.dropFirst() }
        #expect(notices.count >= 14)
        let words = Scenario.worldWords + Scenario.inputWords + Scenario.recorderWords + ["refused", "order", "holder"]
        for word in words + notices { #expect(found.contains(word), "\(document) does not have “\(word)”") }
        for other in ["cameras changed", "priorities changed"] {
            #expect(try text(document).contains(other), "\(document) does not have “\(other)”")
        }
    }

    @Test("The manual page lists every cause, in the order of reasons, and every end of a session and of a recording")
    func causes() throws {
        let page = try text("docs/man/camarb-scenario.5")
        let section = try #require(page.split(separator: ".SH CAUSES\n").last?.split(separator: ".SH").first)
        let listed = section.split { !$0.isLetter && $0 != "-" }.map(String.init)
        let order = Cause.reasonOrder.map(\.shortName)
        #expect(listed.filter(Set(order).contains).prefix(order.count) == order[...])
        for name in StopReason.allCases.map(\.rawValue) + RecordingEnd.allCases.map(\.rawValue) {
            #expect(listed.contains(name), "“\(name)” is missing")
        }
    }

    @Test("The example in the manual page holds")
    func example() throws {
        let page = try text("docs/man/camarb-scenario.5")
        let example = try #require(page.split(separator: ".EX\n").last?.split(separator: ".EE\n").first)
        let outcome = try Scenario.parse(String(example), file: "example", policies: ScenarioFilesTests.policies).run()
        #expect(outcome.passed, "\(outcome.report)")
    }

    private func text(_ document: String) throws -> String {
        try String(contentsOf: ScenarioFilesTests.root.appending(path: document), encoding: .utf8)
    }

    /// The document's words, without its markup.
    private func written(_ document: String) throws -> Set<String> {
        let plain = try text(document)
            .replacing("\\fB", with: " ").replacing("\\fI", with: " ").replacing("\\fR", with: " ").replacing(
                "\\-", with: "-")
        return Set(plain.split { !$0.isLetter && $0 != "-" && !$0.isNumber }.map(String.init))
    }
}
