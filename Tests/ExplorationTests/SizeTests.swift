import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import Workbench

/// That three clients and two cameras are enough, as docs/policy.md argues, and for which policies they are not.
@Suite("The size of small worlds")
struct SizeTests {
    private func isBroken(_ text: String, clients: Int = 3, cameras: Int = 2) throws -> Bool {
        let report = try verify(text, clients: clients, cameras: cameras, statesMax: 400_000)
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
            \(["y", "z"].map { "[[rank]]\nname = \"\($0)\"\ncamera = \"\($0)\"\nrank = \"high\"\n" }.joined())
            [contention]
            budget = 100
            \(["x", "y", "z"].map { "[[camera]]\nid = \"\($0)\"\ncost = 40\n" }.joined())
            [[never]]
            name = "A waits for its camera"
            waiting = { app = "a.service", camera = "x" }
            """
        #expect(try gaps(text) == [.budget])
        #expect(try !isBroken(text))
        #expect(try isBroken(text, cameras: 3))
        // Two that exceed it are walked. Three that touch each other are still one more than that.
        #expect(try gaps(text.replacing("cost = 40", with: "cost = 60")) == [.cameras])
    }

    @Test("Two who are kept out, and nobody who has the camera, may need more, and it is said before")
    func ownSessions() throws {
        let text = """
            name = "p"
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
        let hidden = "{ presence = \"background\", foreground-apps = \"several\" }"
        let text = """
            name = "p"
            sources = ["shell"]
            [contention]
            order = ["newest"]
            [[never]]
            name = "one waits for another while two others are in front"
            holder = \(hidden)
            waiting = \(hidden)
            """
        #expect(try gaps(text) == [.foregroundApps])
        #expect(try !isBroken(text))
        #expect(try isBroken(text, clients: 4))
    }

    @Test("Of the shipped policies, the argument names what each says that needs more", arguments: Checkout.shipped)
    func shippedPolicies(_ name: String) throws {
        let needed: [SizeArgument.Gap] = name == "android.toml" ? [.cameras] : []
        #expect(SizeArgument(try Checkout.policy(name), clients: 3, cameras: 2).gaps == needed)
    }
}
