import Arbiter
import ArbiterProtocol
import PolicyFile
import Scenario
import Testing

/// Which of a policy's facts, order keys and choices scenarios show to decide.
@Suite("What decides")
struct FactCoverageTests {
    /// What nobody has to reach, with the reason.
    private func unreachable(_ policy: String) throws -> [String] {
        let policy = try PolicyFile.parse("name = \"example\"\n\(policy)", file: "example")
        return PolicyCoverage(policy).unreachable.map { "\($0.gap.claim(in: policy)): \($0.why)" }
    }

    // MARK: Facts

    private static let hotAndFocused = """
        sources = ["shell"]
        [[cause]]
        name = "Hot in front"
        when = { pressure = "critical", focused = true }
        cause = "video-device-not-available-due-to-system-pressure"
        """

    /// Both facts of the rule, and of each whether it was seen to decide, and to be the only one missing.
    private func table(_ situations: String...) throws -> [String] {
        let begin = starts("photos").replacing("connect photos", with: "connect photos presence=fullscreen")
        let found = try coverage(Self.hotAndFocused, "0s   shell attach\n" + begin + situations.joined())
        let facts: [FactTest] = [.pressure(atLeast: .critical), .focused(true)]
        return facts.map { test in
            let clause = PolicyClause.fact(rule: "Hot in front", test)
            return (found.fired.contains(clause) ? "T" : "–") + (found.unmatched.contains(clause) ? "F" : "–")
        }
    }

    @Test("A rule of two facts takes three situations: both hold, and each alone is missing")
    func twoFacts() throws {
        let (cool, hot) = ("1s   pressure nominal\n", "2s   pressure critical\n")
        let focused = "3s   presence photos fullscreen focused\n"
        // Neither holds: that shows nothing of either.
        #expect(try table(cool) == ["––", "––"])
        #expect(try table(hot) == ["––", "–F"])
        #expect(try table(focused) == ["–F", "––"])
        #expect(try table(focused, "4s   pressure critical\n") == ["TF", "T–"])
        #expect(try table(hot, focused) == ["T–", "TF"])
        #expect(try table(hot, focused, "4s   pressure nominal\n9s\n") == ["TF", "TF"])
    }

    @Test("A fact does not decide where another rule says the same without it")
    func sameAnswer() throws {
        let rule = "cause = \"video-device-not-available-due-to-system-pressure\""
        let policy = """
            [[cause]]
            name = "Critical"
            when = { pressure = "critical" }
            \(rule)
            [[cause]]
            name = "Serious"
            when = { pressure = "serious" }
            \(rule)
            """
        let found = try coverage(policy, starts("photos") + "1s   pressure critical\n2s   pressure serious\n10s\n")
        #expect(found.fired.contains(.causeRule("Critical")), "it answered")
        #expect(!found.fired.contains(.fact(rule: "Critical", .pressure(atLeast: .critical))))
        #expect(found.fired.contains(.fact(rule: "Serious", .pressure(atLeast: .serious))))
        let proven = try unreachable(policy)
        #expect(
            proven.prefix(1) == [
                "\"Critical\" decides by pressure = \"critical\": without the rule the answer would be the same"
            ])
    }

    @Test("What no session can show is proven, with the rule or the facts that stand against it, and not counted")
    func proofs() throws {
        let proven = try unreachable(
            """
            sources = ["shell"]
            ranks = ["call", "other"]
            [[rank]]
            name = "Anybody focused"
            focused = true
            rank = "call"
            [[rank]]
            name = "Focused in front"
            focused = true
            presence = "foreground"
            rank = "other"
            [[cause]]
            name = "Seen and focused"
            when = { presence = "foreground", focused = true }
            cause = "video-device-not-available-in-background"
            """)
        #expect(proven.contains("[[rank]] \"Focused in front\" answers: \"Anybody focused\" answers before it then"))
        #expect(
            proven.contains(
                "\"Seen and focused\" would decide but for presence = \"foreground\": an app in the background has no focus"
            ), "\(proven)")
        let shares = PolicyCoverage(
            try PolicyFile.parse("name = \"e\"\n\(Self.hotAndFocused)", file: "e"))
        #expect(shares.firedShare(of: .facts).all == 2 && shares.unmatchedShare(of: .facts).all == 2)
    }

    // MARK: Order and cool-down

    @Test("An order key that decided counts only where what follows it would have said otherwise")
    func turned() throws {
        let events = starts("photos") + starts("notes", at: "1s")
        let idle = try coverage("[contention]\norder = [\"newest\"]\ntie = \"newcomer\"", events)
        #expect(!idle.fired.contains(.order(.newest)), "the newcomer would have had the camera all the same")
        let turning = try coverage("[contention]\norder = [\"newest\"]\ntie = \"holder\"", events)
        #expect(turning.fired.contains(.order(.newest)))
        #expect(
            PolicyCoverage.Gap(clause: .order(.newest), lack: .neverFired).sentence(in: idle.policy)
                == "order: newest: no scenario would come out otherwise without it")
    }

    @Test("A cool-down counts where an app waits because of it, and not where it would have waited anyway")
    func coolDown() throws {
        func policy(_ tie: String) -> String {
            """
            ranks = ["all"]
            [[rank]]
            name = "All"
            rank = "all"
            lease = "10s"
            [contention]
            tie = "\(tie)"
            cool-down = "30s"
            """
        }
        let events =
            starts("photos") + starts("notes", at: "5s") + "12s  start photos\n"
        #expect(try !coverage(policy("holder"), events).fired.contains(.choice(.coolDown)))
        // The holder's lease ends, the other has the camera, and what was cut may not take it back at once.
        let alone = starts("photos") + "10s\n" + starts("notes", at: "11s") + "12s  start photos\n"
        #expect(try coverage(policy("newcomer"), alone).fired.contains(.choice(.coolDown)))
    }

    // MARK: Across cameras

    private static let booth = """
        ranks = ["call", "booth"]
        [[rank]]
        name = "Call"
        app = "call"
        rank = "call"
        [[rank]]
        name = "Booth"
        rank = "booth"
        grace = "5s"
        min-hold = "10s"
        """
    private static let conflict = "[[camera]]\nid = \"back\"\nconflicts = [\"front\"]\n"

    @Test("A grace and a min-hold count once more where the app that is to follow is on another camera")
    func across() throws {
        func reached(_ camera: String, _ tables: String) throws -> [PolicyClause] {
            let found = try coverage(
                "\(Self.booth)\n\(tables)",
                starts("booth") + starts("call", at: "1s", on: camera) + "12s\n")
            let both: [PolicyClause.RankChoice] = [.grace, .minHold]
            #expect(found.fired.isSuperset(of: both.map { .rankChoice(rule: "Booth", $0) }))
            return both.map { .acrossCameras(rule: "Booth", $0) }.filter(found.fired.contains)
        }
        #expect(try reached("back", Self.conflict).isEmpty)
        #expect(try reached("front", Self.conflict).count == 2)
        #expect(try reached("front", "[contention]\nbudget = 100\n" + costs(60, "back", "front")).count == 2)
        let apart = try coverage(Self.booth, starts("booth"))
        #expect(!apart.clauses.contains { if case .acrossCameras = $0 { true } else { false } })
    }

    @Test("Backfill counts when a weaker app is served while a stronger one waits for another camera")
    func backfill() throws {
        let policy = """
            \(ranked("one", "two", "three"))
            [contention]
            order = []
            backfill = true
            [[camera]]
            id = "back"
            conflicts = ["front"]
            [[camera]]
            id = "front"
            conflicts = ["wide"]
            """
        // The second waits for the first, which excludes it; what the third wants excludes only the second.
        let events = starts("one") + starts("two", at: "1s", on: "front")
        let before = try coverage(policy, events)
        #expect(before.clauses.contains(.choice(.backfill)) && !before.fired.contains(.choice(.backfill)))
        let served = try coverage(policy, events + starts("three", at: "2s", on: "wide"))
        #expect(served.fired.contains(.choice(.backfill)))
    }

    @Test("Who gives way counts when the other choice would have sent away another holder")
    func givesWay() throws {
        func policy(_ choice: String) -> String {
            """
            \(ranked("one", "two", "three"))
            [contention]
            budget = 100
            gives-way = "\(choice)"
            \(costs(50, "back", "front", "wide"))
            """
        }
        func events(_ first: String, _ second: String) -> String {
            starts(first, on: "back") + starts(second, at: "1s", on: "front")
                + starts("one", at: "2s", on: "wide")
        }
        for choice in ["weakest", "longest-held"] {
            // The weakest came first: both choices send it away.
            let same = try coverage(policy(choice), events("three", "two"))
            #expect(!same.fired.contains(.choice(.givesWay)))
            let other = try coverage(policy(choice), events("two", "three"))
            #expect(other.fired.contains(.choice(.givesWay)), "\(choice)")
        }
    }

    @Test("With whom a camera is shared counts when another user's session watches, or may not")
    func shareWith() throws {
        let events = """
            0s   connect photos
                 session photos camera=back
                 start photos
                 connect mirror user=1001
                 session mirror camera=back sharingMode=sharedReadOnly
                 start mirror
            """
        for choice in ["user", "everyone"] {
            let policy = "[contention]\nsharing = \"read-only\"\nshare-with = \"\(choice)\""
            #expect(try coverage(policy, events).fired.contains(.choice(.shareWith)), "\(choice)")
            let own = try coverage(policy, events.replacing(" user=1001", with: ""))
            #expect(!own.fired.contains(.choice(.shareWith)), "\(choice)")
        }
    }
}
