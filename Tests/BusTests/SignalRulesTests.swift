import Bus
import Testing

@Suite("Match rules")
struct SignalRulesTests {
    private static let session = "org.camarb.Session1"

    /// What it keeps of these.
    private func rules(_ rules: [String]) -> SignalRules {
        var kept = SignalRules()
        for rule in rules {
            let isKept = kept.add(rule)
            #expect(isKept)
        }
        return kept
    }

    private func want(_ rules: [String], _ path: String, _ interface: String, _ member: String) -> Bool {
        self.rules(rules).want(path: path, interface: interface, member: member)
    }

    @Test("A rule is met where all that it says of a signal is so")
    func each() {
        let rule = "type='signal',sender=':1.0',interface='org.camarb.Session1',member='WasInterrupted'"
        #expect(want([rule], "/org/camarb/session/1", Self.session, "WasInterrupted"))
        #expect(!want([rule], "/org/camarb/session/1", Self.session, "DidStopRunning"))
        #expect(!want([rule], "/org/camarb/session/1", "org.camarb.Broker1", "WasInterrupted"))
        #expect(want(["path='/a/b'"], "/a/b", "x.y", "Z") && !want(["path='/a/b'"], "/a/b/c", "x.y", "Z"))
        #expect(want([""], "/a", "x.y", "Z"))
    }

    @Test("A namespace is a path and all below it, and no other that begins alike")
    func namespaces() {
        let rule = "path_namespace='/org/camarb/session'"
        #expect(want([rule], "/org/camarb/session", Self.session, "M"))
        #expect(want([rule], "/org/camarb/session/7", Self.session, "M"))
        #expect(!want([rule], "/org/camarb/sessions", Self.session, "M"))
        #expect(want(["path_namespace='/'"], "/a", Self.session, "M"))
    }

    @Test("A monitor with rules wants what they say, one without any and one with too many everything")
    func ofMonitors() throws {
        let rules = try #require(SignalRules(all: ["member='A'", "type='method_call'"]))
        #expect(rules.want(path: "/a", interface: "x.y", member: "A"))
        #expect(!rules.want(path: "/a", interface: "x.y", member: "B"))
        let calls = try #require(SignalRules(all: ["type='method_call'"]))
        #expect(!calls.want(path: "/a", interface: "x.y", member: "A"))
        #expect(SignalRules(all: []) == nil)
        #expect(SignalRules(all: Array(repeating: "member='A'", count: SignalRules.rulesMax + 1)) == nil)
    }

    @Test("Rules have so many bytes together, and one that is removed makes room")
    func bytes() {
        var rules = SignalRules()
        func rule(_ number: Int) -> String { "path='/\(number)/\(String(repeating: "x", count: 1000))'" }
        var count = 0
        while rules.add(rule(count)) { count += 1 }
        #expect(count == SignalRules.bytesMax / 1003 && !rules.add(rule(count)))
        rules.remove(rule(0))
        let isKept = rules.add(rule(3))
        #expect(isKept)
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

    @Test("Values are quoted as the specification has it")
    func quoting() {
        #expect(want(["member=Plain"], "/a", "x.y", "Plain"))
        #expect(want(["member='A',interface='x.y'"], "/a", "x.y", "A"))
        #expect(want(["member='a,b'"], "/a", "x.y", "a,b"))
        #expect(want([#"member='Don'\''t'"#], "/a", "x.y", "Don't"))
        #expect(want([#"member=a\b"#], "/a", "x.y", #"a\b"#))
        #expect(want(["member='a", "member='b'"], "/a", "x.y", "a"))
    }

    @Test("There is a bound")
    func bound() {
        var rules = rules((0..<SignalRules.rulesMax).map { "member='M\($0)'" })
        let isKept = rules.add("member='OneMore'")
        #expect(!isKept)
    }
}
