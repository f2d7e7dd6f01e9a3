import ArbiterProtocol
import Broker
import Testing

/// What users said of their apps, as a file has it.
@Suite("A line of a user's answers")
struct KeptAnswerTests {
    /// As long as a name may be.
    private static let longest = String(repeating: "x", count: 128)

    @Test("Every answer reads back as it was written, with names of several words")
    func roundTrip() {
        for name in [
            "firefox", "a name of words", "allow vouched question", "é…", "\u{301}begins with a mark", Self.longest,
        ] {
            for answer in AppAnswer.allCases {
                for isClaimed in [false, true] {
                    let kept = KeptAnswer(
                        app: name, isClaimed: isClaimed, answer: answer, origin: .question,
                        since: "2026-11-23T09:12:00Z")
                    #expect(KeptAnswer(line: kept.line) == kept)
                }
            }
        }
    }

    @Test(
        "What no broker wrote is no answer",
        arguments: [
            "", "allow", "allow vouched user 2026-11-23T09:12:00Z", "allow vouched user 2026-11-23T09:12:00Z ",
            "perhaps vouched user 2026-11-23T09:12:00Z x", "allow both user 2026-11-23T09:12:00Z x",
            "allow vouched permission-store 2026-11-23T09:12:00Z x", "allow vouched user yesterday x",
            "allow vouched user 2026-11-23T09:12:00Z x\u{1b}[2J", " allow vouched user 2026-11-23T09:12:00Z x",
            "allow vouched user 2026-11-23T09:12:00Z x\(longest)",
        ])
    func wrong(_ line: String) {
        #expect(KeptAnswer(line: line) == nil)
    }
}
