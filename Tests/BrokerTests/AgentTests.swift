import ArbiterProtocol
import Glibc
import Testing

@Suite struct AgentTests {
    private static func place(_ app: String, _ presence: String, focused: Bool = false) -> WireDictionary {
        ["app": .string(app), "presence": .string(presence), "focused": .boolean(focused)]
    }

    @Test func whatASourceKnowsWindowsFromIsInTheStatusUntilItDetaches() throws {
        let process = try BrokerProcess()
        let agent = try process.client()
        refused(.notTrusted, "Attach") { try agent.shell("DescribeSource", .string("sway")) }
        func sources() throws -> [String] { try agent.status().speakers.map(\.source) }
        try agent.shell("AttachPlacing", .string("agent"), .dictionaries([]))
        try agent.shell("WatchMicrophones", .boolean(true))
        let longest = String(repeating: "ä", count: 127) + "x"
        for (words, shown) in [(longest, longest), ("", ""), ("sway\n\u{1b}[31m1.7", "sway  [31m1.7")] {
            try agent.shell("DescribeSource", .string(words))
            #expect(try sources() == [shown, ""])
        }
        refused(.invalidValue, "words", "255") { try agent.shell("DescribeSource", .string(longest + "x")) }
        #expect(try sources() == ["sway  [31m1.7", ""])
        try agent.shell("Detach", .string("agent"))
        try agent.shell("Attach", .string("agent"))
        #expect(try sources() == ["", ""])
    }

    @Test func aWrongPlaceRefusesAllOfThemAndAttachesNothing() throws {
        let process = try BrokerProcess()
        let agent = try process.client()
        func attach(_ apps: WireDictionary...) throws {
            try agent.shell("AttachPlacing", .string("agent"), .dictionaries(apps))
        }
        refused(.invalidValue, "sideways", "slide-over") {
            try attach(Self.place("a", "fullscreen"), Self.place("b", "sideways"))
        }
        refused(.invalidArguments, "apps[0]", "focused") {
            try attach(["app": .string("a"), "presence": .string("split")])
        }
        refused(.invalidValue, "king", "agent") { try agent.shell("AttachPlacing", .string("king"), .dictionaries([])) }
        refused(.invalidValue, "king", "agent") { try agent.shell("Detach", .string("king")) }
        refused(.notTrusted, "Attach") { try agent.place("a", "split", false) }
        #expect(try agent.status().unknown == [.windows, .microphones])
    }
}
