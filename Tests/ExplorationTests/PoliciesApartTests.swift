import Arbiter
import Exploration
import PolicyFile
import Testing

/// Pairs of policies that differ for somebody, each by one line: a comparison sees it, or names the key.
@Suite("Policies that differ")
struct PoliciesApartTests {
    struct Pair: Sendable, CustomTestStringConvertible {
        var what: String
        var first: String
        var second: String
        /// Empty: the walk tells the two apart.
        var keys: [String] = []
        var testDescription: String { what }
    }

    private static let costs = """
        [contention]
        budget = 100
        [[camera]]
        id = "back"
        cost = 50
        [[camera]]
        id = "front"
        cost = 50
        """
    private static let sound = """
        ranks = ["loud", "quiet"]
        [[camera]]
        id = "back"
        conflicts = ["front"]
        [[rank]]
        name = "With sound"
        uses-audio = true
        rank = "loud"
        [contention]
        newcomer = "refuse"
        same-app = "refuse"
        """
    private static let night = """
        ranks = ["guard", "rest"]
        [[rank]]
        name = "The guard at night"
        app = "guard"
        mode = "night"
        rank = "guard"
        [[mode]]
        name = "night"
        at = "22:00-06:00"
        set-by = ["root"]
        """
    private static let hot = """
        [[cause]]
        name = "Hot"
        when = { pressure = "serious" }
        cause = "video-device-not-available-due-to-system-pressure"
        """
    private static let hidden = """
        sources = ["shell"]
        [[cause]]
        name = "Hidden"
        when = { presence = "background" }
        cause = "video-device-not-available-in-background"
        """

    private static let pairs = [
        Pair(what: "users are asked", first: "[access]\napps = \"all\"", second: "[access]\napps = \"ask\""),
        Pair(
            what: "a format costs more", first: costs,
            second: costs.replacing("= 50", with: "= { \"1920x1080@30\" = 50, \"1280x720@60\" = 80 }")),
        Pair(what: "an app's second camera is refused", first: sound, second: sound + "\nown-conflict = \"refuse\""),
        Pair(
            what: "the night begins later", first: night, second: night.replacing("22:00", with: "23:00"),
            keys: ["mode.at"]),
        Pair(
            what: "the operator says when it is night", first: night, second: night.replacing("root", with: "operator"),
            keys: ["mode.set-by"]),
        Pair(
            what: "the machine is not measured", first: hot, second: hot + "\n[pressure]\nwatch = false",
            keys: ["pressure.watch"]),
        Pair(
            what: "a unit is the shell", first: hidden, second: hidden + "\n[shell]\nunit = \"shell.service\"",
            keys: ["shell.unit"]),
        Pair(
            what: "the agent is believed behind the shell", first: hidden,
            second: hidden.replacing("[\"shell\"]", with: "[\"shell\", \"agent\"]"), keys: ["sources"]),
        Pair(
            what: "the app is believed before the agent",
            first: hidden.replacing("[\"shell\"]", with: "[\"shell\", \"agent\", \"self-declared\"]"),
            second: hidden.replacing("[\"shell\"]", with: "[\"shell\", \"self-declared\", \"agent\"]"),
            keys: ["sources"]),
        Pair(
            what: "the agent is believed in place of the shell", first: hidden,
            second: hidden.replacing("[\"shell\"]", with: "[\"agent\"]")),
    ]

    @Test("Each is told apart, or the keys are named", arguments: pairs)
    func apart(_ pair: Pair) throws {
        let policies = try [pair.first, pair.second].map { try PolicyFile.parse("name = \"p\"\n" + $0, file: "p") }
        for (one, other) in [(policies[0], policies[1]), (policies[1], policies[0])] {
            #expect(PolicyDifference.idleRanksOfEquals(one, other) == nil)
            let difference = try PolicyDifference(one, other, clients: 2, cameras: 2, scope: .policy)
            let report = difference.run(SearchBounds(statesMax: 100_000))
            #expect(report.cutOffBy == nil)
            #expect(difference.keysNotCompared.map(\.description) == pair.keys)
            #expect((report.witness == nil) == !pair.keys.isEmpty, "\(report.witness?.inputs ?? [])")
        }
    }
}
