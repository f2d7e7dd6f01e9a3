import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import Workbench

/// That three clients and two cameras are enough, as docs/policy.md argues, and for which policies they are not.
@Suite("The size of small worlds")
struct SizeTests {
    private func isBroken(_ text: String, _ size: (clients: Int, cameras: Int) = (3, 2)) throws -> Bool {
        let report = try verify(text, clients: size.clients, cameras: size.cameras, statesMax: 400_000)
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
            \(["x", "y", "z"].map { "[[camera]]\nid = \"\($0)\"\ncost = 40\n" }.joined())
            [[never]]
            name = "A waits for its camera"
            waiting = { app = "a.service", camera = "x" }
            """
        #expect(try gaps(text) == [.budget])
        #expect(try !isBroken(text))
        #expect(try isBroken(text, (3, 3)))
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
        #expect(try !isBroken(text))
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
        #expect(try !isBroken(text))
        #expect(try isBroken(text, (4, 2)))
    }

    @Test("Of the shipped policies, the argument names what each says that needs more", arguments: Checkout.shipped)
    func shippedPolicies(_ name: String) throws {
        let needed: [SizeArgument.Gap] = name == "android.toml" ? [.cameras] : []
        #expect(SizeArgument(try Checkout.policy(name), clients: 3, cameras: 2).gaps == needed)
    }
}
