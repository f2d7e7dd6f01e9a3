import Arbiter
import ArbiterProtocol
import Exploration
import PolicyFile
import Testing

/// What each shipped policy says that needs more than three clients and two cameras.
private let needs: [(String, [SizeArgument.Gap])] = [
    ("android.toml", [.cameras]), ("call-corks.toml", []), ("desktop.toml", []), ("harmonyos.toml", []),
    ("ios9.toml", []), ("ipados16.toml", []), ("kiosk.toml", []), ("login-session.toml", []),
    ("v4l2.toml", []), ("windows.toml", []),
]

/// That three clients and two cameras are enough, as docs/policy.md argues, and for which policies they are not.
@Suite("The size of small worlds")
struct SizeTests {
    /// A few of those that `make small-worlds` walks for minutes.
    @Test("What random policies keep with three clients and two cameras, they keep with one more of either")
    func random() {
        var tally = SizeTrial.Tally()
        #if DEBUG
            let count = 4
        #else
            let count = 40
        #endif
        // So few states that it takes seconds: most policies of this size have more, and are passed over.
        let trial = SizeTrial(seed: 1, statesMax: 1500)
        for number in 0..<count { tally.add(trial.run(number)) }
        for finding in tally.findings where finding.gaps.isEmpty {
            Issue.record("policy \(finding.number) at \(finding.size): \(finding.message)\n\(finding.scenario)")
        }
        #expect(tally.policies == count && tally.broken > 0)
        print("walked \(tally.states) states of \(count) random policies at several sizes, \(tally.tooLarge) too large")
    }

    private func isBroken(_ text: String, _ size: SizeTrial.Size) throws -> Bool {
        let policy = try PolicyFile.parse(text, file: "p")
        let report = try PolicyWalk(policy, clients: size.clients, cameras: size.cameras, scope: .policy).run(
            SearchBounds(statesMax: 400_000), policyLine: "p")
        #expect(report.cutOffBy == nil)
        return report.finding != nil
    }

    private func gaps(_ text: String) throws -> [SizeArgument.Gap] {
        SizeArgument(try PolicyFile.parse(text, file: "p"), clients: 3, cameras: 2).gaps
    }

    @Test("A budget that only three cameras exceed is broken with three of them, and it is said before")
    func budget() throws {
        let text = """
            name = "p"
            sources = []
            ranks = ["high", "low"]
            [[rank]]
            name = "A has the first before all others"
            app = "a.service"
            camera = "x"
            rank = "high"
            [[rank]]
            name = "The second"
            camera = "y"
            rank = "high"
            [[rank]]
            name = "The third"
            camera = "z"
            rank = "high"
            [contention]
            budget = 100
            [[camera]]
            id = "x"
            cost = 40
            [[camera]]
            id = "y"
            cost = 40
            [[camera]]
            id = "z"
            cost = 40
            [[never]]
            name = "A waits for its camera"
            waiting = { app = "a.service", camera = "x" }
            """
        #expect(try gaps(text) == [.budget])
        #expect(try !isBroken(text, SizeTrial.smaller))
        #expect(try isBroken(text, SizeTrial.Size(3, 3)))
        // Two that exceed it are walked. Three that touch each other are still one more than that.
        #expect(try gaps(text.replacing("cost = 40", with: "cost = 60")) == [.cameras])
    }

    @Test("Two who are kept out, and nobody who has the camera, may need more, and it is said before")
    func ownSessions() throws {
        let text = """
            name = "p"
            sources = []
            ranks = ["everyone"]
            [contention]
            order = ["newest"]
            tie = "newcomer"
            loser = "evict"
            cool-down = "0s"
            [[never]]
            name = "one waits and another is interrupted"
            waiting = {}
            interrupted = {}
            """
        #expect(try gaps(text) == [.statement])
        #expect(try !isBroken(text, SizeTrial.smaller))
        // With somebody who has the camera, or about one app, three are enough.
        #expect(try gaps(text.replacing("interrupted", with: "holder")).isEmpty)
        #expect(try gaps(text.replacing("interrupted = {}", with: "")).isEmpty)
    }

    @Test("Apps in front are counted, and a third is needed beside two that are judged")
    func foregroundApps() throws {
        let text = """
            name = "p"
            sources = ["shell"]
            ranks = ["everyone"]
            [contention]
            order = ["newest"]
            [[never]]
            name = "one waits for another while two others are in front"
            holder = { presence = "background", foreground-apps = "several" }
            waiting = { presence = "background", foreground-apps = "several" }
            """
        #expect(try gaps(text) == [.foregroundApps])
        #expect(try !isBroken(text, SizeTrial.smaller))
        #expect(try isBroken(text, SizeTrial.Size(4, 2)))
    }

    @Test("Of the shipped policies, the argument names what each says that needs more", arguments: needs)
    func shippedPolicies(_ name: String, _ gaps: [SizeArgument.Gap]) throws {
        let policy = try PolicyFile.load(path: "\(Self.root)/policies/\(name)")
        #expect(SizeArgument(policy, clients: 3, cameras: 2).gaps == gaps)
    }

    private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        .joined(separator: "/")
}
