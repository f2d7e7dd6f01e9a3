import Arbiter
import ArbiterProtocol
import Campaigns
import PolicyFile
import Scenario
import Testing
import Workbench

/// A walk takes states that differ in nothing but what is left of leases for one. What it finds has to be what a walk
/// finds that counts them.
@Suite("Walking without counting leases")
struct LeaseWalkTests {
    private static let statesMax = isDebug ? 3000 : 60_000

    /// The times of a test's policy.
    struct Times: CustomTestStringConvertible {
        var lease: Int
        var otherLease = 0
        var grace = 0
        var minHold = 0
        var coolDown = 0
        var rest = ""

        var testDescription: String {
            "lease \(lease) s, other \(otherLease) s, grace \(grace) s, min-hold \(minHold) s, cool-down \(coolDown) s"
        }

        /// Two apps that a rule names, with times, and everybody else.
        var text: String {
            func seconds(_ key: String, _ value: Int) -> String { value > 0 ? "\(key) = \"\(value)s\"\n" : "" }
            return """
                name = "times"
                ranks = ["call", "booth", "other"]
                [[rank]]
                name = "call"
                app = "call.service"
                rank = "call"
                \(seconds("lease", otherLease))
                [[rank]]
                name = "booth"
                app = "booth.service"
                rank = "booth"
                \(seconds("lease", lease))\(seconds("grace", grace))\(seconds("min-hold", minHold))
                [contention]
                tie = "newcomer"
                cool-down = "\(coolDown)s"
                \(rest)
                """
        }
    }

    /// Leases that are shorter than the other times, as long, and longer; a common step of one second and of five.
    private static let times = [
        Times(lease: 10), Times(lease: 20, grace: 5, minHold: 10, coolDown: 10),
        Times(lease: 5, otherLease: 10, grace: 5, coolDown: 5),
        Times(lease: 15, otherLease: 30, grace: 10, minHold: 5, coolDown: 20),
        Times(lease: 5, otherLease: 5, grace: 10, minHold: 15, coolDown: 10),
        Times(lease: 4, otherLease: 7, grace: 2, minHold: 3, coolDown: 5),
        Times(
            lease: 10, otherLease: 15, grace: 5, coolDown: 5,
            rest: """
                budget = 1
                [[camera]]
                id = "back"
                cost = 1
                conflicts = ["front"]
                [[camera]]
                id = "front"
                cost = 1
                """),
    ]

    @Test("Every state that a walk reaches which counts leases is reached by one that does not", arguments: times)
    func coverage(_ times: Times) throws {
        let policy = try PolicyFile.parse(times.text, file: "times")
        for (cameras, scope) in [(2, WalkScope.policy), (1, .everything)] {
            let walk = try PolicyWalk(policy, clients: 2, cameras: cameras, scope: scope)
            // In debug builds not every world is small enough.
            guard let found = walk.lostWithoutLeases(statesMax: Self.statesMax) else { continue }
            #expect(found.lost == 0 && found.states > 0)
            #expect(found.states <= found.counted)
        }
    }

    /// Which app has the camera while which one waits, and what must hold in the end: each of them is broken under some
    /// times.
    private static let statements = [
        "holder = { app = \"booth.service\" }\nwaiting = { app = \"call.service\" }",
        "holder = { app = \"call.service\" }\nwaiting = { app = \"booth.service\" }",
        "holder = { bid = \"new\" }\nwaiting = { app = \"call.service\" }",
        "holder = { app = \"other.service\" }\nwaiting = { app = \"booth.service\" }",
        "holder = { app = \"other.service\" }\nwaiting = { app = \"call.service\", bid = \"standing\" }",
    ]

    @Test("A statement is found broken exactly where a walk that counts leases finds it broken, and as soon")
    func statements() throws {
        var broken = 0
        var kept = 0
        for times in Self.times.prefix(6) {
            for statement in Self.statements {
                let text = times.text + "\n[[never]]\nname = \"never\"\n\(statement)\n"
                let reports = try [false, true].map {
                    try verify(text, countsLeases: $0, statesMax: Self.statesMax)
                }
                // Cut off, neither says anything.
                guard reports.allSatisfy({ $0.cutOffBy == nil }) else { continue }
                #expect(reports[0].finding?.statement == reports[1].finding?.statement)
                #expect(reports[0].finding?.scenario == reports[1].finding?.scenario)
                if reports[1].finding == nil { kept += 1 } else { broken += 1 }
            }
        }
        #expect(broken > 3 && kept > 3)
    }

    @Test("What only a lease that ends too soon would break is looked for again with leases counted, and holds")
    func spurious() throws {
        // Neither of the two interrupts the other, so each has the whole of its lease after the other's: twenty seconds
        // later the other's cool-down is long over. Only a lease that was used up before it began has both wait.
        let times = Times(lease: 20, otherLease: 20, minHold: 5, coolDown: 10)
        var policy = try PolicyFile.parse(
            times.text.replacing("rank = \"booth\"", with: "rank = \"call\"").replacing("newcomer", with: "holder"),
            file: "times")
        policy.statements = [
            Statement(
                name: "both wait",
                .never([
                    .init(.holder, when: []), .init(.waiting, when: [.app("call.service")]),
                    .init(.waiting, when: [.app("booth.service")]),
                ]))
        ]
        let report = try PolicyWalk(policy, clients: 3, cameras: 1, scope: .policy).run(policyLine: "times")
        #expect(report.isComplete && report.recounted == 1)
        // With a cool-down that outlasts the booth's lease it is broken, and found.
        policy.contention.coolDown = .seconds(25)
        let broken = try PolicyWalk(policy, clients: 3, cameras: 1, scope: .policy).run(policyLine: "times")
        #expect(broken.finding?.statement == "both wait")
    }

    /// The changes of a second policy, with the leases of the first.
    private static let changes = [
        ("[\"call\", \"booth\", \"other\"]", "[\"booth\", \"call\", \"other\"]"),
        ("tie = \"newcomer\"", "tie = \"holder\""),
        ("tie = \"newcomer\"", "tie = \"newcomer\"\nnewcomer = \"refuse\""),
        ("tie = \"newcomer\"", "tie = \"newcomer\"\nre-decide = \"open\""),
    ]

    @Test("Two policies differ as they do with leases counted, and what is not allowed is found as soon")
    func differences() throws {
        var whole = 0
        for times in Self.times.prefix(6) {
            for (said, instead) in Self.changes {
                let policies = try [times.text, times.text.replacing(said, with: instead)].map {
                    try PolicyFile.parse($0, file: "times")
                }
                for allowed in [Set(DifferenceKind.allCases), [.winner, .timing], []] {
                    let reports = try [false, true].map { counts in
                        try PolicyDifference(
                            policies[0], policies[1], clients: 2, cameras: 1, scope: .policy, countsLeases: counts
                        ).run(SearchBounds(statesMax: Self.statesMax), allowed: allowed)
                    }
                    guard reports.allSatisfy({ $0.cutOffBy == nil }) else { continue }
                    let (without, counted) = (reports[0], reports[1])
                    #expect(without.forbidden == counted.forbidden)
                    #expect(without.witness?.inputs == counted.witness?.inputs)
                    let (found, all) = (Set(without.differences.map(\.kind)), Set(counted.differences.map(\.kind)))
                    #expect(found.isSubset(of: all) && all.isSubset(of: found.union(without.perhaps)))
                    #expect(without.isExhausted == counted.isExhausted)
                    #expect(allowed.isSuperset(of: without.perhaps) && counted.perhaps.isEmpty)
                    if counted.isExhausted { whole += 1 }
                }
            }
        }
        #expect(whole > 20)
    }
}
