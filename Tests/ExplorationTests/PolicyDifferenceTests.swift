import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import Testing
import Workbench

private func text(_ rules: String = "", _ contention: String = "") -> String {
    "name = \"p\"\nsources = [\"shell\"]\nranks = [\"strong\", \"weak\"]\n\(rules)\n[contention]\n\(contention)\n"
}

private func compare(
    _ first: String, _ second: String, clients: Int = 2, cameras: Int = 1
) throws -> PolicyDifference {
    try PolicyDifference(
        PolicyFile.parse(first, file: "a"), PolicyFile.parse(second, file: "b"), clients: clients, cameras: cameras)
}

private let background = """
    [[cause]]
    name = "Hidden"
    when = { presence = "background" }
    cause = "video-device-not-available-in-background"
    """

@Suite("Comparing two policies")
struct PolicyDifferenceTests {
    private static let several = """
        [[cause]]
        name = "Several"
        when = { foreground-apps = "several" }
        cause = "video-device-not-available-with-multiple-foreground-apps"
        """
    private static let strong = "[[rank]]\nname = \"S\"\napp = \"s\"\nrank = \"strong\""

    /// Pairs of policies without deadlines, so that a search without a clock can follow them.
    private static let pairs: [(String, String)] = [
        (text(background), text("")),
        (text(background + "\naccess = [\"preview\"]"), text(background)),
        (text(background + "\n" + several), text(background)),
        (text("", "tie = \"newcomer\""), text("", "tie = \"holder\"")),
        (text("", "newcomer = \"refuse\""), text("")),
        (text(strong), text("")),
        (text("", "order = [\"focused\"]"), text("", "order = [\"foreground\"]")),
    ]

    @Test("The first difference is as short as a brute force without memory finds it", arguments: pairs)
    func shortest(_ first: String, _ second: String) throws {
        let difference = try compare(first, second)
        let report = difference.run(stepsBehind: 0)
        let found = try #require(report.witness)
        let lengths = difference.worldTexts.compactMap {
            BruteForce(texts: [first, second], world: $0).shortest(upTo: min(found.length, BruteForce.depthMax))
        }
        #expect(lengths.min() == (found.length <= BruteForce.depthMax ? found.length : nil))
        #expect(!report.kinds.isEmpty && found.outcomes[0] != found.outcomes[1])
    }

    /// Every sequence of inputs of a length, then of the next, each as a scenario of its own: it shares the core and
    /// the scenario language with the walk, and nothing else.
    private struct BruteForce {
        /// A dozen moves to the fourth power, twice.
        static let depthMax = 4
        let texts: [String]
        let world: (cameras: [String], setup: [String], moves: [[String]])

        func shortest(upTo depth: Int) -> Int? {
            (1...max(1, depth)).first { differs([], rest: $0) }
        }

        private func differs(_ inputs: [[String]], rest: Int) -> Bool {
            if rest == 0 { return told(0, inputs) != told(1, inputs) }
            // A scenario may start twice or release a microphone that nobody has; it changes nothing.
            return world.moves.contains { $0 != inputs.last && differs(inputs + [$0], rest: rest - 1) }
        }

        private func told(_ which: Int, _ inputs: [[String]]) -> [String] {
            let lines =
                ["policy \"\"\"", texts[which], "\"\"\""] + world.cameras + ["0s"]
                + (world.setup + inputs.flatMap { $0 }).map { "     \($0)" }
            guard let scenario = try? Scenario.parse(lines.joined(separator: "\n"), file: "brute", policies: ".") else {
                return []
            }
            // Why a request was refused is a rule's name, and that a stop came too late nobody asked.
            return scenario.run().actual.filter { $0.hasPrefix("       ") }
                .filter { !$0.contains("refused not-running") }
                .map { $0.contains("refused") ? "       refused" : $0 }
        }
    }

    @Test("Policies that say the same are known to without a walk, and others are not taken for it")
    func same() throws {
        func areSame(_ first: String, _ second: String) throws -> Bool {
            try compare(first, second, clients: 1).isSame
        }
        #expect(try areSame(text(background), text(background.replacing("Hidden", with: "Away"))))
        for (first, second) in Self.pairs { #expect(try !areSame(first, second)) }
        // Neighbours that never match together may change places, and those that do may not.
        let front = "[[rank]]\nname = \"F\"\nfocused = true\nrank = \"weak\""
        let back = "[[rank]]\nname = \"B\"\nfocused = false\nrank = \"strong\""
        #expect(try areSame(text(front + "\n" + back), text(back + "\n" + front)))
        #expect(try !areSame(text(front + "\n" + Self.strong), text(Self.strong + "\n" + front)))
    }

}

/// Each kind of difference is found where a policy was changed in just that way, and shown by a scenario that runs.
@Suite("Kinds of differences between policies")
struct DifferenceKindTests {
    private static let spared = background + "\naccess = [\"preview\"]\n"
    private static let denied = "[[rank]]\nname = \"D\"\napp = \"s\"\ndeny = true\n"
    private static func strong(_ more: String = "") -> String {
        "[[rank]]\nname = \"S\"\napp = \"s\"\nrank = \"strong\"\n[[rank]]\nname = \"W\"\nrank = \"weak\"\n\(more)"
    }

    /// A change of a policy for each kind; backwards it is the opposite one.
    private static let changes: [(DifferenceKind, String, String)] = [
        (.refused, text(), text(denied)), (.admitted, text(denied), text()),
        (.refused, text(), text("", "newcomer = \"refuse\"")),
        (.stopped, text(strong()), text(strong(), "loser = \"evict\"")),
        (.kept, text(strong(), "loser = \"evict\""), text(strong())),
        (.interrupted, text(), text(background)), (.waits, text(), text(background)),
        (.served, text(background), text()), (.restricted, text(), text(spared)), (.widened, text(spared), text()),
        (.winner, text("", "tie = \"holder\""), text("", "tie = \"newcomer\"")),
        (.timing, text(strong()), text(strong("grace = \"5s\"\n"))),
    ]

    @Test("A change of each kind is of that kind, and its scenarios come out as written", arguments: changes)
    func each(_ kind: DifferenceKind, _ first: String, _ second: String) throws {
        let policies = try [first, second].map { try PolicyFile.parse($0, file: "p") }
        let report = try compare(first, second).run(SearchBounds(statesMax: 3000))
        let difference = try #require(report.differences.first { $0.kind == kind })
        #expect(difference.situations > 0 && difference.apps.count > 0)
        #expect(report.differences.map(\.situations).reduce(0, +) >= difference.situations)
        // Both run, come out as written, and come to something else.
        let scenarios = try #require(difference.scenarios)
        #expect(scenarios.count == 2 && scenarios[0] != scenarios[1])
        for (scenario, policy) in zip(scenarios, policies) {
            let parsed = try Scenario.parse(scenario, file: "witness", policies: "/nonexistent")
            #expect(parsed.run().passed)
            #expect(parsed.world.policy == policy)
            // Under the other one it does not.
            let other = policy == policies[0] ? policies[1] : policies[0]
            #expect(!parsed.under(other).run().passed)
        }
    }

    @Test("A rank that no rule gives is no difference, and one that a rule gives is")
    func idleRanks() throws {
        func idle(_ first: String, _ second: String) throws -> [String]? {
            try PolicyDifference.idleRanksOfEquals(
                PolicyFile.parse(first, file: "a"), PolicyFile.parse(second, file: "b"))
        }
        let first = text(Self.strong())
        let ranks = "[\"strong\", \"weak\"]"
        for place in 0...2 {
            var more = ["strong", "weak"]
            more.insert("spare", at: place)
            #expect(try idle(first, first.replacing(ranks, with: "\(more)")) == ["spare"])
        }
        #expect(try idle(first, first) == [])
        #expect(try idle(first, first.replacing("rank = \"strong\"", with: "rank = \"weak\"")) == nil)
        // Without a rule for everybody, others have the weakest.
        let some = text("[[rank]]\nname = \"S\"\napp = \"s\"\nrank = \"weak\"\n")
        #expect(try idle(some, some.replacing(ranks, with: "[\"strong\", \"weak\", \"spare\"]")) == nil)
    }
}
