import Arbiter
import ArbiterProtocol
import Explain
import PolicyFile
import Testing
import Workbench

/// A small world has one client of each kind. Two clients are of one kind when no rule ever tells them apart.
@Suite("Kinds of clients")
struct KindsTests {
    /// Whatever else may be the case at a time.
    private static func situations(_ facts: Facts) -> [Facts] {
        var all = [facts]
        all.vary(\.presence, [.background] + Presence.Layout.allCases.map { .foreground($0) })
        all.vary(\.isFocused, [false, true])
        all.vary(\.foregroundApps, Facts.ForegroundApps.allCases)
        all.vary(\.microphoneTaken, [false, true])
        all.vary(\.pressure, SystemPressure.allCases)
        all.vary(\.isRecording, [false, true])
        all.vary(\.bidIsNew, [false, true])
        all.vary(\.operatorChosen, [false, true])
        return all
    }

    /// A policy's results, but for the names of its rules.
    private static func answers(_ policy: Policy, _ facts: Facts) -> String {
        var rank = policy.rank(facts)
        rank.name = ""
        rank.when = []
        let limits = policy.answers(facts).filter { $0.access != .all }.map {
            "\($0.cause.rawValue):\($0.access.rawValue)"
        }
        return "\(limits.sorted()) \(rank)"
    }

    @Test("Clients of one kind get the same answers from every rule in every situation", arguments: Checkout.shipped)
    func alike(_ name: String) throws {
        let policy = try Checkout.policy(name)
        for kind in PolicyWalk.kinds(of: policy) where kind.count > 1 {
            let all = kind.map { Self.situations($0).map { Self.answers(policy, $0) } }
            #expect(all.allSatisfy { $0 == all[0] })
        }
    }

    @Test("A rule that an earlier one hides tells no kinds apart, and one that it does not hide does")
    func hidden() throws {
        // An app that opted in, and a call, are both exempt; pickers and others beside another app are not, and sound
        // is a fact.
        let policy = try Checkout.policy("ipados16.toml")
        let kinds = PolicyWalk.kinds(of: policy)
        #expect(kinds.count == 6 && kinds.flatMap { $0 }.count == 12)
        var open = policy
        open.causeRules.removeAll { $0.name == "A call goes on beside other apps" }
        #expect(
            !PolicyWalk.kinds(of: open).contains { kind in
                kind.contains { $0.client == .voip && !$0.multitasking } && kind.contains(where: \.multitasking)
            })
    }

    @Test("Two clients of a named app are not two apps, however alike the rules treat them")
    func identity() throws {
        let rules = ["a", "b"].map { "[[rank]]\nname = \"\($0)\"\napp = \"\($0).service\"\nrank = \"one\"\n" }
        let policy = try PolicyFile.parse("name = \"p\"\nranks = [\"one\"]\n" + rules.joined(), file: "p")
        #expect(PolicyWalk.kinds(of: policy).map { $0.map(\.app) } == [["a.service"], ["b.service"], [nil]])
    }
}
