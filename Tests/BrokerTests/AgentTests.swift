import ArbiterProtocol
import Glibc
import Testing

/// What a user's agent and the broker say to each other beside facts about apps.
@Suite struct AgentTests {
    private static func place(_ app: String, _ presence: String, focused: Bool = false) -> WireDictionary {
        ["app": .string(app), "presence": .string(presence), "focused": .boolean(focused)]
    }

    private func placement(_ client: TestClient, _ app: String) throws -> (Presence, Bool)? {
        try client.status().sessions.first { $0.app == .app(app) }.map { ($0.presence, $0.focused) }
    }

    @Test func statusSaysWhatNobodyTellsUntilSomebodyDoes() throws {
        let process = try BrokerProcess()
        let agent = try process.client()
        #expect(try agent.status().unknown == [.windows, .microphones])
        try agent.shell("AttachPlacing", .string("agent"), .dictionaries([]))
        #expect(try agent.status().unknown == [.microphones])
        for _ in 1...2 { try agent.shell("WatchMicrophones", .boolean(true)) }
        #expect(try agent.status().unknown == [])
        try agent.shell("Detach", .string("agent"))
        #expect(try agent.status().unknown == [.windows])
        let asker = try process.client()
        agent.close()
        try process.wait("the agent to be gone") { try asker.status().unknown == [.windows, .microphones] }
    }

    @Test func whatASourceKnowsWindowsFromIsInTheStatusUntilItDetaches() throws {
        let process = try BrokerProcess()
        let agent = try process.client()
        refused(.notTrusted, "Attach") { try agent.shell("DescribeSource", .string("sway")) }
        try agent.shell("AttachPlacing", .string("agent"), .dictionaries([]))
        try agent.shell("WatchMicrophones", .boolean(true))
        #expect(try agent.status().speakers.map(\.source) == ["", ""])
        let longest = String(repeating: "ä", count: 127) + "x"
        for words in ["sway 1.7", longest, ""] {
            try agent.shell("DescribeSource", .string(words))
            #expect(
                try agent.status().speakers.map { [$0.role, $0.source] } == [["agent", words], ["microphones", ""]])
        }
        // It is shown on terminals.
        try agent.shell("DescribeSource", .string("sway\n\u{1b}[31m1.7"))
        #expect(try agent.status().speakers.first?.source == "sway  [31m1.7")
        refused(.invalidValue, "words", "255") { try agent.shell("DescribeSource", .string(longest + "x")) }
        #expect(try agent.status().speakers.first?.source == "sway  [31m1.7")
        try agent.shell("Detach", .string("agent"))
        try agent.shell("Attach", .string("agent"))
        #expect(try agent.status().speakers.first?.source == "")
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
        refused(.invalidValue, "king", "agent") {
            try agent.shell("AttachPlacing", .string("king"), .dictionaries([]))
        }
        refused(.invalidValue, "king", "agent") { try agent.shell("Detach", .string("king")) }
        refused(.notTrusted, "Attach") { try agent.place("a", "split", false) }
        #expect(try agent.status().unknown == [.windows, .microphones])
    }

    @Test func anAgentSpeaksForItsOwnUserEvenWhenItIsRoots() throws {
        let process = try BrokerProcess()
        let agent = try process.client(as: "agent")
        _ = try process.client("photos").session()
        #expect(try placement(agent, "photos")! == (.background, false))
        // The place is taken, as root may, and believed by nobody: the agent is no source for that user.
        try agent.place("photos@4242", "fullscreen", true)
        #expect(try placement(agent, "photos")! == (.background, false))
    }

    @Test func anAgentMaySeeMoreAppsInItsLifeThanItMayPlaceAtOnce() throws {
        let process = try BrokerProcess()
        let agent = try process.client(as: "agent")
        for number in 0..<1100 {
            for presence in ["split", "background"] { try agent.place("window-\(number)", presence, false) }
        }
    }

    @Test func clientsAreListedToWhoAsksWhoIsThenToldOfChanges() throws {
        let process = try BrokerProcess()
        let agent = try process.client()
        let quiet = try process.client()
        func apps() throws -> [String] { try agent.apps().compactMap { $0["app"]?.string } }
        func changes(_ client: TestClient) -> Int { client.signals.count { $0.member == "ClientsChanged" } }
        #expect(try apps() == [])
        let photos = try process.client("photos")
        try process.wait("news of the first client") { changes(agent) > 0 }
        #expect(try apps() == ["photos"])
        #expect(try agent.apps().first?["process"]?.uint64 == UInt64(getpid()))
        let before = changes(agent)
        photos.close()
        try process.wait("news of its end") { changes(agent) > before }
        #expect(try apps() == [])
        _ = try quiet.status()
        #expect(changes(quiet) == 0)
    }
}
