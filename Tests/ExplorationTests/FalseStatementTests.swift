import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import Workbench

/// Statements that are not true, about three and four apps. `Tests/statements/false` has those about two.
@Suite("False statements")
struct FalseStatementTests {
    private static let rules = ["a alarm", "b call", "c booth", "d other"].map { (names: String) in
        let words = names.split(separator: " ")
        return "[[rank]]\nname = \"\(words[0])\"\napp = \"\(words[0]).service\"\nrank = \"\(words[1])\"\n"
    }.joined()

    /// Four apps by name and everybody else, where cameras are shared: a camera has a holder, and others beside it.
    private static let policy = """
        name = "four"
        sources = []
        ranks = ["alarm", "call", "booth", "other"]
        [[attribute]]
        name = "duty"
        values = ["on", "off"]
        default = "on"
        [[cause]]
        name = "Off duty"
        when = { duty = "off" }
        cause = "video-device-not-available-in-background"
        access = ["preview"]
        [[cause]]
        name = "Somebody is on the phone"
        when = { microphone = "taken", app = "d.service" }
        cause = "audio-device-in-use-by-another-client"
        \(rules)
        [contention]
        tie = "holder"
        sharing = "SHARING"
        """

    /// Which app plays which part, with what else is so of it.
    private static let aboutThree = [
        "holder a, waiting b, interrupted c", "holder b, waiting c, interrupted d", "running c, waiting d, interrupted",
        "restricted a, waiting b, interrupted c", "recording a, waiting c, interrupted b",
        "holder duty=off, waiting duty=on, interrupted d microphone=taken", "holder, waiting c duty=off, interrupted b",
    ]

    /// Two of four run beside the holder, which only a shared camera allows, and a call has the fourth one's microphone.
    private static let aboutFour = [
        "holder a, restricted b, sharer c, interrupted d", "holder b, restricted c, sharer a, interrupted d",
        "holder a, running b, sharer c, interrupted d", "holder c, running a, sharer b, interrupted d",
    ]

    /// As a policy has them.
    private static func written(_ parts: String) -> String {
        parts.split(separator: ", ").map { part in
            let words = part.split(separator: " ")
            let facts = words.dropFirst().map { word in
                let halves = word.split(separator: "=")
                return halves.count == 2 ? "\(halves[0]) = \"\(halves[1])\"" : "app = \"\(word).service\""
            }
            return "\(words[0]) = { \(facts.joined(separator: ", ")) }\n"
        }.joined()
    }

    @Test(
        "A false statement about three or four apps is broken, also in worlds of two", arguments: aboutThree + aboutFour
    )
    func isBroken(_ parts: String) throws {
        let sharing = Self.aboutFour.contains(parts) ? "read-only" : "none"
        let text =
            Self.policy.replacing("SHARING", with: sharing)
            + "\n[[never]]\nname = \"false\"\n\(Self.written(parts))"
        let report = try verify(text, statesMax: 400_000)
        let finding = try #require(report.finding, "\(parts)\nholds, \(report.states) states")
        #expect(finding.statement == "false")
        try finding.runs()
    }
}
