import Bus
import Testing

@Suite("Match rules")
struct SignalRulesTests {
    /// The rules that it keeps.
    private func rules(_ rules: [String]) -> SignalRules {
        var kept = SignalRules()
        for rule in rules {
            let isKept = kept.add(rule)
            #expect(isKept)
        }
        return kept
    }

    @Test("A rule is met where all that it says of a signal is so, a namespace by a path and all below it")
    func each() {
        let rule = "type='signal',sender=':1.0',interface='org.camarb.Session1',member='WasInterrupted'"
        let (below, session) = ("path_namespace='/org/camarb/session'", "/org/camarb/session")
        for (rule, path, interface, member, isMet) in [
            (rule, "/org/camarb/session/1", "org.camarb.Session1", "WasInterrupted", true),
            (rule, "/org/camarb/session/1", "org.camarb.Session1", "DidStopRunning", false),
            (rule, "/org/camarb/session/1", "org.camarb.Broker1", "WasInterrupted", false),
            ("path='/a/b'", "/a/b", "x.y", "Z", true), ("path='/a/b'", "/a/b/c", "x.y", "Z", false),
            ("", "/a", "x.y", "Z", true), (below, session, "x.y", "M", true), (below, session + "/7", "x.y", "M", true),
            (below, session + "s", "x.y", "M", false), ("path_namespace='/'", "/a", "x.y", "M", true),
            // Values are quoted as the specification has it.
            ("member=Plain", "/a", "x.y", "Plain", true), ("member='A',interface='x.y'", "/a", "x.y", "A", true),
            ("member='a,b'", "/a", "x.y", "a,b", true), (#"member='Don'\''t'"#, "/a", "x.y", "Don't", true),
            (#"member=a\b"#, "/a", "x.y", #"a\b"#, true),
        ] as [(String, String, String, String, Bool)] {
            let kept = rules([rule])
            #expect(kept.want(path: path, interface: interface, member: member) == isMet, "\(rule): \(path) \(member)")
        }
        // One whose quotes do not end.
        #expect(rules(["member='a", "member='b'"]).want(path: "/a", interface: "x.y", member: "a"))
    }

    @Test("A monitor with rules wants what they say, one without any and one with too many everything")
    func ofMonitors() throws {
        let rules = try #require(SignalRules(all: ["member='A'", "type='method_call'"]))
        let calls = try #require(SignalRules(all: ["type='method_call'"]))
        #expect(rules.want(path: "/a", interface: "x.y", member: "A"))
        #expect(!rules.want(path: "/a", interface: "x.y", member: "B"))
        #expect(!calls.want(path: "/a", interface: "x.y", member: "A"))
        #expect(SignalRules(all: []) == nil)
        #expect(SignalRules(all: Array(repeating: "member='A'", count: SignalRules.rulesMax + 1)) == nil)
    }

    @Test("Rules have so many bytes together, and are so many; one that is removed makes room")
    func bounds() {
        var rules = SignalRules()
        func rule(_ number: Int) -> String { "path='/\(number)/\(String(repeating: "x", count: 1000))'" }
        var count = 0
        while rules.add(rule(count)) { count += 1 }
        #expect(count == SignalRules.bytesMax / 1003)
        rules.remove(rule(0))
        #expect(rules.add(rule(3)) == true)
        var many = self.rules((0..<SignalRules.rulesMax).map { "member='M\($0)'" })
        #expect(many.add("member='OneMore'") == false)
    }

    @Test("One of several rules is enough, and what is removed holds as often as it was added")
    func several() {
        var rules = rules(["member='A'", "member='B'", "member='A'"])
        func wants(_ member: String) -> Bool { rules.want(path: "/a", interface: "x.y", member: member) }
        #expect(wants("A") && wants("B") && !wants("C"))
        rules.remove("member='A'")
        #expect(wants("A"))
        rules.remove("member='A'")
        rules.remove("member='never added'")
        #expect(!wants("A") && wants("B"))
    }

    @Test("Rules about the bus that is not there, and about calls, say nothing of our signals")
    func others() {
        for rule in [
            "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',member='NameOwnerChanged'",
            "interface='org.freedesktop.DBus'", "type='method_call'", "type='error'",
        ] { #expect(rules([rule]).isEmpty, "\(rule)") }
    }
}
