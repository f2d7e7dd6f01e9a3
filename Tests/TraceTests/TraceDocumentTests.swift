import Arbiter
import ArbiterProtocol
import Exploration
import Foundation
import JSONText
import Testing
import Trace

/// `docs/trace.md` lists what is written.
@Suite("docs/trace.md")
struct TraceDocumentTests {
    @Test("The table of the events has every event, with its members in their order")
    func events() throws {
        let document = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/trace.md")
        let text = try String(contentsOf: document, encoding: .utf8)
        let begin = try #require(text.range(of: "<!-- events -->\n"))
        let end = try #require(text.range(of: "<!-- /events -->"))
        var generated = GeneratedEvent(random: SeededRandom(seed: 1))
        let rows = try EventKind.allCases.map { kind in
            let line = TraceWriter.step(1, generated.event(kind), at: .zero, decision: 1, []).text + "}"
            let members = try #require(try JSONReader.read(line).members).map(\.key)
            #expect(members.prefix(3) == ["step", "at", "event"] && members.suffix(2) == ["decision", "effects"])
            return
                "| `\(kind.rawValue)` | \(members.dropFirst(3).dropLast(2).map { "`\($0)`" }.joined(separator: ", ")) |"
        }
        #expect(text[begin.upperBound..<end.lowerBound].split(separator: "\n").map(String.init) == rows)
    }
}
