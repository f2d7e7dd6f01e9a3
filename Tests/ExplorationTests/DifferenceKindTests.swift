import Arbiter
import Exploration
import PolicyFile
import Scenario
import Testing

/// Each kind of difference is found where a policy was changed in just that way, and shown by a scenario that runs.
@Suite("Kinds of differences between policies")
struct DifferenceKindTests {
    private static func text(_ rules: String = "", _ contention: String = "", top: String = "") -> String {
        "name = \"p\"\nsources = [\"shell\"]\nranks = [\"strong\", \"weak\"]\n\(top)\n\(rules)\n[contention]\n\(contention)\n"
    }

    private static let background = """
        [[cause]]
        name = "Hidden"
        when = { presence = "background" }
        cause = "video-device-not-available-in-background"

        """
    private static let spared = background + "access = [\"preview\"]\n"
    private static let denied = "[[rank]]\nname = \"D\"\napp = \"s\"\ndeny = true\n"
    private static func strong(_ more: String = "") -> String {
        "[[rank]]\nname = \"S\"\napp = \"s\"\nrank = \"strong\"\n[[rank]]\nname = \"W\"\nrank = \"weak\"\n\(more)"
    }

    struct Change: Sendable, CustomTestStringConvertible {
        var kind: DifferenceKind
        var first: String
        var second: String
        /// Every other kind that the change brings about as well.
        var others: Set<DifferenceKind> = []
        var testDescription: String { kind.rawValue }
    }

    /// A change of a policy for each kind; backwards it is the opposite one.
    private static let changes = [
        Change(kind: .refused, first: text(), second: text(denied)),
        Change(kind: .admitted, first: text(denied), second: text()),
        Change(kind: .refused, first: text(), second: text("", "newcomer = \"refuse\"")),
        Change(kind: .stopped, first: text(strong()), second: text(strong(), "loser = \"evict\"")),
        Change(kind: .kept, first: text(strong(), "loser = \"evict\""), second: text(strong())),
        Change(kind: .interrupted, first: text(), second: text(background), others: [.waits]),
        Change(kind: .waits, first: text(), second: text(background), others: [.interrupted]),
        Change(kind: .served, first: text(background), second: text(), others: [.kept]),
        Change(kind: .restricted, first: text(), second: text(spared)),
        Change(kind: .widened, first: text(spared), second: text()),
        Change(kind: .winner, first: text("", "tie = \"holder\""), second: text("", "tie = \"newcomer\"")),
        Change(kind: .timing, first: text(strong()), second: text(strong("grace = \"5s\"\n"))),
    ]

    @Test("A change of each kind is of that kind, and its scenarios come out as written", arguments: changes)
    func each(_ change: Change) throws {
        let policies = try [change.first, change.second].map { try PolicyFile.parse($0, file: "p") }
        let report = try PolicyDifference(policies[0], policies[1], clients: 2, cameras: 1).run(
            SearchBounds(statesMax: 3000))
        let difference = try #require(report.differences.first { $0.kind == change.kind })
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

    @Test("The rule responsible is named under the policy that has it")
    func rules() throws {
        let policies = try [Self.text(), Self.text(Self.denied)].map { try PolicyFile.parse($0, file: "p") }
        let report = try PolicyDifference(policies[0], policies[1], clients: 2, cameras: 1).run()
        let refused = try #require(report.differences.first { $0.kind == .refused })
        #expect(refused.apps == ["s"] && refused.rules[1] == ["D"])
        #expect(refused.witness.length == 1)
    }

    @Test("What is allowed is no reason to say no, and behind it the walk goes on to the end")
    func allowed() throws {
        let policies = try [Self.text(), Self.text(Self.denied)].map { try PolicyFile.parse($0, file: "p") }
        let stricter = Set(DifferenceKind.meant(by: "stricter") ?? [])
        let difference = try PolicyDifference(policies[0], policies[1], clients: 2, cameras: 1)
        let report = difference.run(allowed: stricter)
        #expect(report.forbidden == nil && report.witness != nil && report.isExhausted)
        #expect(difference.run().forbidden == .refused)
        let back = try PolicyDifference(policies[1], policies[0], clients: 2, cameras: 1).run(allowed: stricter)
        #expect(back.forbidden == .admitted)
        #expect(DifferenceKind.meant(by: "winner") == [.winner] && DifferenceKind.meant(by: "strict") == nil)
        #expect(
            Set(DifferenceKind.Direction.allCases.flatMap { DifferenceKind.meant(by: $0.rawValue) ?? [] })
                == Set(DifferenceKind.allCases))
    }

    @Test("A rank that no rule gives is no difference, and one that a rule gives is")
    func idleRanks() throws {
        func idle(_ first: String, _ second: String) throws -> [String]? {
            PolicyDifference.idleRanksOfEquals(
                try PolicyFile.parse(first, file: "a"), try PolicyFile.parse(second, file: "b"))
        }
        let text = Self.text(Self.strong())
        let ranks = "[\"strong\", \"weak\"]"
        for more in [
            "[\"spare\", \"strong\", \"weak\"]", "[\"strong\", \"spare\", \"weak\"]",
            "[\"strong\", \"weak\", \"spare\"]",
        ] {
            #expect(try idle(text, text.replacing(ranks, with: more)) == ["spare"])
        }
        #expect(try idle(text, text) == [])
        #expect(try idle(text, text.replacing("rank = \"strong\"", with: "rank = \"weak\"")) == nil)
        // Without a rule for everybody, others have the weakest.
        let some = Self.text("[[rank]]\nname = \"S\"\napp = \"s\"\nrank = \"weak\"\n")
        #expect(try idle(some, some.replacing(ranks, with: "[\"strong\", \"weak\", \"spare\"]")) == nil)
    }
}
