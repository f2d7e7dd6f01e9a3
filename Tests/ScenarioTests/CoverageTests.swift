import Arbiter
import ArbiterProtocol
import Scenario
import Testing

/// A scenario under the policy that `policy` writes, and what it reaches of it.
func coverage(_ policy: String, _ events: String) throws -> PolicyCoverage {
    let text = """
        # Some apps and some cameras.

        policy \"""
        name = "example"
        \(policy)
        \"""
        camera back
        camera front
        camera wide

        \(events)
        """
    let scenario = try Scenario.parse(text, file: "example.scenario", policies: "policies")
    let coverages = scenario.runWithCoverage().coverages
    #expect(coverages.count == 1)
    return try #require(coverages.first)
}

private func gaps(_ coverage: PolicyCoverage) -> [String] {
    coverage.gaps.map { $0.sentence(in: coverage.policy) }
}

/// A client with a session, which starts.
func starts(_ app: String, at time: String = "0s", on camera: String = "back") -> String {
    "\(time)   connect \(app)\n     session \(app) camera=\(camera)\n     start \(app)\n"
}

/// Apps that are ranked by their names, the strongest first; the last rank is everybody else's.
func ranked(_ apps: String...) -> String {
    let rules = apps.dropLast().map { "[[rank]]\nname = \"\($0)\"\napp = \"\($0)\"\nrank = \"\($0)\"\n" }
    return "ranks = \(apps)\n" + rules.joined()
}

/// Cameras that each cost so much.
func costs(_ cost: Int, _ cameras: String...) -> String {
    cameras.map { "[[camera]]\nid = \"\($0)\"\ncost = \(cost)\n" }.joined()
}

private let twoApps = starts("photos") + starts("notes")

@Suite("Rule coverage")
struct CoverageTests {
    @Test("A rule is reached when it fires, and once more when it is seen not to match")
    func rules() throws {
        let policy = """
            [[cause]]
            name = "Too hot"
            when = { pressure = "serious" }
            cause = "video-device-not-available-due-to-system-pressure"
            """
        let cool = try coverage(policy, starts("photos"))
        #expect(gaps(cool).contains("[[cause]] \"Too hot\": no scenario made it fire"))
        #expect(!gaps(cool).contains { $0.contains("saw it not match") })

        let hot = try coverage(policy, "0s   pressure critical\n" + starts("photos"))
        #expect(hot.fired.contains(.causeRule("Too hot")))
        #expect(gaps(hot).contains("[[cause]] \"Too hot\": no scenario saw it not match"))
    }

    @Test("A name in [access] is reached when an app's right to a camera rests on it, and on nothing before it")
    func access() throws {
        let policy = """
            [access]
            users = [1002]
            groups = [44, 100]
            services = ["door.service", "intercom.service"]
            """
        let found = try coverage(
            policy,
            """
            0s   connect student user=1003 login=none groups=44
                 session student camera=back
                 start student
                 connect door.service login=none
                 session door.service camera=back
                 start door.service
                 connect liar app=intercom.service user=1004 login=none claimed
                 session liar camera=back
                 start liar
            """)
        #expect(found.firedShare(of: .access).reached == 2)
        #expect(found.firedShare(of: .access).all == 5)
        #expect(
            gaps(found).prefix(3) == [
                "[access] user 1002: no scenario has a camera by it",
                "[access] group 100: no scenario has a camera by it",
                "[access] service \"intercom.service\": no scenario has a camera by it",
            ])
    }

    @Test("A demand for strong identities is reached when a weak one is refused")
    func strong() throws {
        let policy = "[access]\nidentity = \"strong\""
        let strong = try coverage(policy, starts("photos"))
        #expect(gaps(strong).first == "[access] identity: strong: no scenario has a weak one refused")
        let weak = try coverage(policy, starts("photos").replacing("connect photos", with: "connect photos weak"))
        #expect(weak.fired.contains(.access(.strong)))
    }

    @Test("A rule behind the one that answered was not asked")
    func hidden() throws {
        let rule = "cause = \"video-device-not-available-due-to-system-pressure\""
        let found = try coverage(
            """
            [[cause]]
            name = "First"
            when = {}
            access = ["preview"]
            \(rule)
            [[cause]]
            name = "Second"
            when = { pressure = "critical" }
            \(rule)
            """, twoApps)
        #expect(found.fired.contains(.causeRule("First")))
        #expect(!found.fired.contains(.causeRule("Second")) && !found.unmatched.contains(.causeRule("Second")))
    }

    @Test("A rule that reads nothing cannot fail to match, and nobody asks for that")
    func always() throws {
        let found = try coverage(
            """
            ranks = ["one"]
            [[rank]]
            name = "Everybody"
            rank = "one"
            """, twoApps)
        #expect(found.unmatchedShare(of: .rankRules).all == 0)
        #expect(found.firedShare(of: .rankRules).percent == 100)
    }

    @Test("The key that decided is reached, and those before it were equal")
    func order() throws {
        let found = try coverage("[contention]\norder = [\"operator\", \"newest\", \"focused\"]", twoApps)
        #expect(found.fired.contains(.order(.newest)))
        #expect(!found.fired.contains(.order(.operatorChosen)))
        #expect(found.unmatched.contains(.order(.operatorChosen)))
        #expect(!found.clauses.contains(.order(.focused)), "nothing behind newest is ever compared")
        #expect(!found.clauses.contains(.choice(.tie)), "no two claims began with one start")
    }

    @Test("Choices are reached when they decide: an app comes second, waits, is refused, is interrupted or evicted")
    func choices() throws {
        let kept = try coverage("[contention]\ntie = \"holder\"", twoApps)
        #expect(kept.fired.isSuperset(of: [.choice(.tie), .choice(.newcomer)]))
        #expect(!kept.clauses.contains(.choice(.loser)), "no claim is stronger than the holder's")

        let refused = try coverage("[contention]\ntie = \"holder\"\nnewcomer = \"refuse\"", twoApps)
        #expect(refused.fired.isSuperset(of: [.choice(.tie), .choice(.newcomer)]))

        let evicted = try coverage("[contention]\ntie = \"newcomer\"\nloser = \"evict\"", twoApps)
        #expect(evicted.fired.isSuperset(of: [.choice(.tie), .choice(.loser)]))
        #expect(!evicted.fired.contains(.choice(.coolDown)))
    }

    @Test("A grace, a min-hold, a lease and an immediate rank are reached one by one")
    func rankChoices() throws {
        let policy = """
            ranks = ["alarm", "call", "booth"]
            [[rank]]
            name = "Alarm"
            app = "alarm"
            rank = "alarm"
            immediate = true
            [[rank]]
            name = "Call"
            app = "call"
            rank = "call"
            [[rank]]
            name = "Booth"
            rank = "booth"
            grace = "5s"
            min-hold = "10s"
            lease = "30s"
            """
        func reached(_ events: String) throws -> Set<PolicyClause.RankChoice> {
            let found = try coverage(policy, starts("booth") + events)
            return Set(
                PolicyClause.RankChoice.allCases.filter { choice in
                    found.fired.contains { if case .rankChoice(_, choice) = $0 { true } else { false } }
                })
        }
        #expect(try reached("").isEmpty)
        #expect(try reached(starts("call", at: "1s")) == [.minHold])
        #expect(try reached(starts("call", at: "20s")) == [.grace])
        #expect(try reached(starts("call", at: "1s") + "12s\n") == [.minHold, .grace])
        #expect(try reached("31s\n") == [.lease])
        #expect(try reached(starts("alarm", at: "1s")) == [.immediate])
        #expect(try reached(starts("alarm", at: "31s")) == [.lease], "nothing stood in its way")
    }

    @Test("A denied start reaches the rule that denies it")
    func deny() throws {
        let found = try coverage(
            """
            [[rank]]
            name = "Not notes"
            app = "notes"
            deny = true
            """, twoApps)
        #expect(found.fired.isSuperset(of: [.rankRule("Not notes"), .rankChoice(rule: "Not notes", .deny)]))
        #expect(found.unmatched.contains(.rankRule("Not notes")))
    }

    @Test("Conflicts and the budget are reached by a session that loses to another camera")
    func otherCameras() throws {
        let events = starts("photos") + starts("notes", on: "front")
        let conflict = try coverage(
            "[contention]\ntie = \"newcomer\"\n[[camera]]\nid = \"back\"\nconflicts = [\"front\"]", events)
        #expect(conflict.fired.isSuperset(of: [.conflicts(CameraID("back")), .choice(.loser)]))

        let sixty = costs(60, "back", "front")
        let waiting = try coverage("[contention]\nbudget = 100\n\(sixty)", events)
        #expect(waiting.fired.isSuperset(of: [.choice(.budget), .choice(.newcomer)]))
        let room = try coverage("[contention]\nbudget = 200\n\(sixty)", events)
        #expect(!room.fired.contains(.choice(.budget)))
        let exceeding = try coverage(
            "[contention]\ntie = \"newcomer\"\norder = [\"newest\"]\nbudget = 100\nstrongest-may-exceed = true\n\(sixty)",
            events)
        #expect(exceeding.fired.contains(.choice(.strongestMayExceed)))
    }

    @Test("Sharing is reached when somebody runs beside the holder")
    func sharing() throws {
        let shared = try coverage("[contention]\nsharing = \"read-only\"", twoApps)
        #expect(shared.fired.contains(.choice(.sharing)))
        let alone = try coverage(
            "[contention]\nsharing = \"read-only\"", twoApps.replacing("     start notes\n", with: ""))
        #expect(gaps(alone).contains("sharing: read-only: no scenario made it decide anything"))
    }

    @Test("An attribute in the order list is a key like any other")
    func attributes() throws {
        let policy = """
            [[attribute]]
            name = "score"
            values = ["high", "low"]
            default = "low"
            [contention]
            order = ["score"]
            tie = "holder"
            """
        let equal = try coverage(policy, twoApps)
        #expect(gaps(equal).contains("order: score: no scenario would come out otherwise without it"))
        #expect(equal.unmatched.contains(.order(.attribute("score"))))
        let stronger = try coverage(policy, twoApps + "1s   attribute notes score high\n")
        #expect(stronger.fired.isSuperset(of: [.order(.attribute("score")), .choice(.loser)]))
    }

    @Test("A group without rules is not covered by being empty")
    func empty() throws {
        let found = try coverage("[contention]\ntie = \"holder\"", twoApps)
        #expect(found.firedShare(of: .causeRules).percent == nil)
        var tally = CoverageTally()
        tally.expect(.init(path: "example.toml", policy: found.policy))
        let report = try #require(tally.policies.first).report { _ in nil }
        #expect(report[0] == "example.toml: 0.0 %, 0 of 3, in 0 scenarios")
        #expect(report[2] == "  [access]          none: nothing to cover")
        #expect(report[3] == "  [[cause]] rules   none: nothing to cover")
        #expect(report.last == "  example.toml: same-app: newest: no scenario made it decide anything")
    }

    @Test("Counting does not change what happens")
    func unchanged() throws {
        let text = "# A claim.\n\npolicy built-in\ncamera back\n\n" + twoApps
        let scenario = try Scenario.parse(text, file: "example.scenario", policies: "policies")
        #expect(scenario.runWithCoverage().outcome.actual == scenario.run().actual)
    }
}
