import Arbiter
import Exploration
import PolicyFile
import Scenario
import Testing

/// Statements that are not true, about two, three and four apps, ten each.
@Suite("False statements")
struct FalseStatementTests {
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
        [[rank]]
        name = "A"
        app = "a.service"
        rank = "alarm"
        [[rank]]
        name = "B"
        app = "b.service"
        rank = "call"
        [[rank]]
        name = "C"
        app = "c.service"
        rank = "booth"
        [[rank]]
        name = "D"
        app = "d.service"
        rank = "other"
        [contention]
        tie = "holder"
        sharing = "SHARING"
        """

    /// Which app plays which part, and the kind of sharing under which that happens.
    private static let aboutTwo = [
        "holder = { app = \"a.service\" }\nwaiting = { app = \"b.service\" }",
        "holder = { app = \"b.service\" }\nwaiting = { app = \"c.service\" }",
        "holder = { app = \"c.service\" }\nwaiting = { app = \"d.service\" }",
        "holder = { app = \"a.service\" }\nwaiting = { app = \"d.service\" }",
        "holder = { app = \"d.service\", duty = \"off\" }\nwaiting = {}",
        "restricted = { app = \"b.service\" }\nwaiting = { app = \"d.service\" }",
        "restricted = { duty = \"off\" }\ninterrupted = { duty = \"on\" }",
        "recording = { app = \"c.service\" }\nwaiting = { app = \"d.service\" }",
        "holder = { app = \"b.service\", bid = \"standing\" }\ninterrupted = { app = \"d.service\", microphone = \"taken\" }",
        "running = { app = \"a.service\" }\ninterrupted = { app = \"c.service\" }",
    ]

    private static let aboutThree = [
        "holder = { app = \"a.service\" }\nwaiting = { app = \"b.service\" }\ninterrupted = { app = \"c.service\" }",
        "holder = { app = \"b.service\" }\nwaiting = { app = \"c.service\" }\ninterrupted = { app = \"d.service\" }",
        "holder = { app = \"a.service\" }\nwaiting = { app = \"c.service\" }\ninterrupted = { app = \"d.service\" }",
        "holder = { app = \"a.service\" }\nwaiting = { app = \"b.service\" }\ninterrupted = { app = \"d.service\" }",
        "running = { app = \"c.service\" }\nwaiting = { app = \"d.service\" }\ninterrupted = {}",
        "restricted = { app = \"a.service\" }\nwaiting = { app = \"b.service\" }\ninterrupted = { app = \"c.service\" }",
        "recording = { app = \"a.service\" }\nwaiting = { app = \"c.service\" }\ninterrupted = { app = \"b.service\" }",
        "holder = { duty = \"off\" }\nwaiting = { duty = \"on\" }\ninterrupted = { app = \"d.service\", microphone = \"taken\" }",
        "holder = {}\nwaiting = { app = \"c.service\", duty = \"off\" }\ninterrupted = { app = \"b.service\" }",
        "restricted = { app = \"c.service\" }\nwaiting = { app = \"d.service\", duty = \"off\" }\ninterrupted = {}",
    ]

    /// Two of four run beside the holder, which only a shared camera allows, and a call has the fourth one's microphone.
    private static let aboutFour = ["restricted", "running"].flatMap { beside in
        ["abc", "acb", "bca", "bac", "cab"].map { order in
            let apps = order.map { "{ app = \"\($0).service\" }" }
            return "holder = \(apps[0])\n\(beside) = \(apps[1])\nsharer = \(apps[2])\n"
                + "interrupted = { app = \"d.service\" }"
        }
    }

    private static func verify(_ parts: String, sharing: String) throws -> PolicyWalk.Report {
        let text = policy.replacing("SHARING", with: sharing) + "\n[[never]]\nname = \"false\"\n\(parts)\n"
        let parsed = try PolicyFile.parse(text, file: "four")
        return try PolicyWalk(parsed, clients: 2, cameras: 1, scope: .policy).run(
            SearchBounds(statesMax: 400_000), policyLine: "\"\"\"\n\(text)\n\"\"\"")
    }

    private static func isBroken(_ parts: String, sharing: String) throws {
        let report = try verify(parts, sharing: sharing)
        let finding = try #require(report.finding, "\(parts)\nholds, \(report.states) states")
        #expect(finding.statement == "false")
        #expect(try Scenario.parse(finding.scenario, file: "finding", policies: ".").run().passed)
    }

    @Test("A false statement about two apps is broken", arguments: aboutTwo)
    func two(_ parts: String) throws { try Self.isBroken(parts, sharing: "none") }

    @Test("A false statement about three apps is broken, also in worlds of two", arguments: aboutThree)
    func three(_ parts: String) throws { try Self.isBroken(parts, sharing: "none") }

    @Test("A false statement about four apps is broken, also in worlds of two", arguments: aboutFour)
    func four(_ parts: String) throws { try Self.isBroken(parts, sharing: "read-only") }
}
