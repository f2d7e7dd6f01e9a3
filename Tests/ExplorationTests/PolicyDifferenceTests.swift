import Arbiter
import Exploration
import PolicyFile
import Scenario
import Testing

@Suite("Comparing two policies")
struct PolicyDifferenceTests {
    private static func text(_ rules: String, _ contention: String = "") -> String {
        "name = \"p\"\nsources = [\"shell\"]\nranks = [\"strong\", \"weak\"]\n\(rules)\n[contention]\n\(contention)\n"
    }

    private static let background = """
        [[cause]]
        name = "Hidden"
        when = { presence = "background" }
        cause = "video-device-not-available-in-background"
        """
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

    @Test("The first difference is as short as a brute force without memory finds it", arguments: 0..<pairs.count)
    func shortest(_ index: Int) throws {
        let (first, second) = Self.pairs[index]
        let difference = try PolicyDifference(
            PolicyFile.parse(first, file: "a"), PolicyFile.parse(second, file: "b"), clients: 2, cameras: 1)
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
            return world.moves.contains { move in
                !isPointless(move, after: inputs) && differs(inputs + [move], rest: rest - 1)
            }
        }

        /// A scenario may start twice or release a microphone that nobody has; it changes nothing.
        private func isPointless(_ move: [String], after inputs: [[String]]) -> Bool { inputs.last == move }

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

    @Test("A policy with rules in another order where order does not matter is no different from itself")
    func reordered() throws {
        let rules = [Self.background, Self.several, Self.strong]
        let first = try PolicyFile.parse(Self.text(rules.joined(separator: "\n")), file: "a")
        let second = try PolicyFile.parse(Self.text(rules.reversed().joined(separator: "\n")), file: "b")
        #expect(first != second)
        let report = try PolicyDifference(first, second, clients: 2, cameras: 2).run()
        #expect(report.witness == nil && report.kinds.isEmpty)
        #expect(report.isExhausted && report.cutOffBy == nil && report.states > 50)
    }

    @Test("Policies that say the same are known to without a walk, and others are not taken for it")
    func same() throws {
        func areSame(_ first: String, _ second: String) throws -> Bool {
            try PolicyDifference(
                PolicyFile.parse(first, file: "a"), PolicyFile.parse(second, file: "b"), clients: 1, cameras: 1
            ).isSame
        }
        let rules = [Self.background, Self.several, Self.strong]
        let text = Self.text(rules.joined(separator: "\n"))
        #expect(try areSame(text, Self.text(rules.reversed().joined(separator: "\n"))))
        #expect(try areSame(text, text.replacing("Hidden", with: "Away")))
        for (first, second) in Self.pairs { #expect(try !areSame(first, second)) }
        // Neighbours that never match together may change places, and those that do may not.
        let front = "[[rank]]\nname = \"F\"\nfocused = true\nrank = \"weak\""
        let back = "[[rank]]\nname = \"B\"\nfocused = false\nrank = \"strong\""
        #expect(try areSame(Self.text(front + "\n" + back), Self.text(back + "\n" + front)))
        #expect(try !areSame(Self.text(front + "\n" + Self.strong), Self.text(Self.strong + "\n" + front)))
    }

    @Test("Names of rules are no difference, and a bound that was met is said")
    func namesAndBounds() throws {
        let first = try PolicyFile.parse(Self.text(Self.background), file: "a")
        let second = try PolicyFile.parse(Self.text(Self.background.replacing("Hidden", with: "Away")), file: "b")
        let difference = try PolicyDifference(first, second, clients: 2, cameras: 1)
        #expect(difference.run().isExhausted)
        let steps = difference.run(SearchBounds(depthMax: 2))
        #expect(steps.witness == nil && steps.depth == 2 && !steps.isExhausted)
        #expect(difference.run(SearchBounds(statesMax: 3)).cutOffBy == .states)
    }

    @Test("The difference of ios9 and ipados16 reads in one go")
    func ios() throws {
        let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3).joined(separator: "/")
        let policies = try ["ios9", "ipados16"].map { try PolicyFile.load(path: "\(root)/policies/\($0).toml") }
        let report = try PolicyDifference(policies[0], policies[1], clients: 2, cameras: 1, scope: .policy).run(
            SearchBounds(statesMax: 4000))
        let witness = try #require(report.witness)
        #expect(witness.length == 2 && witness.inputs.count <= 10)
        // One app in split view: iOS 9 lets it run, and iPadOS takes two windows of its own for several apps.
        #expect(witness.inputs.last?.contains("presence photos split") == true)
        #expect(witness.inputs.contains { $0.contains("wasInterrupted #1 in-background") })
        #expect(witness.outcomes[0].contains("photos didStartRunning"))
        #expect(witness.outcomes[1] == ["photos interruptionChanged #1 multiple-foreground-apps"])
    }
}
