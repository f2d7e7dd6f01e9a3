import ArbiterProtocol
import Broker
import Testing

@Suite("A line of a user's answers")
struct KeptAnswerTests {
    @Test(
        "What no broker wrote is no answer",
        arguments: [
            "", "allow", "allow vouched user 2026-11-23T09:12:00Z", "allow vouched user 2026-11-23T09:12:00Z ",
            "perhaps vouched user 2026-11-23T09:12:00Z x", "allow both user 2026-11-23T09:12:00Z x",
            "allow vouched permission-store 2026-11-23T09:12:00Z x", "allow vouched user yesterday x",
            "allow vouched user 2026-11-23T09:12:00Z x\u{1b}[2J", " allow vouched user 2026-11-23T09:12:00Z x",
            "allow vouched user 2026-11-23T09:12:00Z \(String(repeating: "x", count: 129))",
        ])
    func wrong(_ line: String) { #expect(KeptAnswer(line: line) == nil) }
}
