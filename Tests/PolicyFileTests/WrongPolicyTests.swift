import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

/// Beside those of `Tests/wrong-policies`, which are shown as they are told.
@Suite("Wrong policies")
struct WrongPolicyTests {
    struct Case: CustomTestStringConvertible {
        var claim: String
        var text: String
        /// A problem a line: its place, how much is underlined, and what is said.
        var expected: String
        var testDescription: String { claim }
    }

    @Test("Each wrong policy gets exactly its messages", arguments: cases)
    func message(wrong: Case) {
        let error = #expect(throws: FileProblems.self) { try parse(wrong.text) }
        let said = (error?.problems ?? []).map { problem in
            let hint = problem.hint.isEmpty ? "" : "; \(problem.hint)"
            return "\(problem.line):\(problem.column)+\(problem.length) \(problem.message)\(hint)"
        }
        #expect(said.joined(separator: "\n") == wrong.expected)
    }

    @Test("A caret stands under its word behind tabs and umlauts")
    func caret() {
        #expect(
            problems("name = \"k\"\n[contention]\n\ttie = \"näh\"\n") == """
                p.toml:3:8: "tie" in [contention] is "näh"; it takes "newcomer" or "holder"
                  \ttie = "näh"
                  \t      ^^^^^
                """)
    }

    /// Each problem of a case is another claim: of names, closed sets of values, lists, times, levels and tables.
    static let cases: [Case] = [
        Case(
            claim: "Rules name themselves, facts, ranks and times as they are meant",
            text: """
                name = "k"
                ranks = ["safety", "call", "booth"]
                [[cause]]
                when = { presence = "background" }
                cause = "video-device-not-available-in-background"
                [[cause]]
                name = "Hidden"
                presence = "background"
                cause = "video-device-not-available-in-background"
                [[cause]]
                name = "Two"
                when = { foreground-apps = "two", focused = "true", presense = "background", presence = "split" }
                cause = "video-device-not-available-with-multiple-foreground-apps"
                [[cause]]
                name = "Away"
                when = { presence = "background" }
                cause = "in-background"
                access = ["preview", "fotos", "preview"]
                [[cause]]
                name = "Nobody"
                when = { user = "root", login-session = 1979-05-27 }
                cause = "video-device-not-available-in-background"
                [[rank]]
                name = "Calls"
                when = { app = "intercom.service" }
                rank = "call"
                grace = 5
                min-hold = "10 s"
                lease = "100ms"
                [[rank]]
                name = "Calls"
                rank = "booth"
                grace = "2min"
                [[rank]]
                name = "Denied"
                deny = true
                rank = "call"
                lease = "3min"
                """,
            expected: """
                3:1+9 a [[cause]] rule has no "name"; add name = "…"; every verdict names its rule
                8:1+8 unknown key "presence" in rule "Hidden"; facts go inside when = { … }
                12:28+5 "foreground-apps" in "when" of rule "Two" is "two"; it takes "none", "one" or "several"
                12:45+6 "focused" in "when" of rule "Two" is "true"; it takes true or false; write true without quotes
                12:53+8 unknown key "presense" in "when" of rule "Two"; did you mean "presence"?
                12:89+7 "presence" in "when" of rule "Two" is "split"; it takes "background" or "foreground"; write layout = "split"
                17:9+15 "cause" in rule "Away" is "in-background"; it takes "video-device-not-available-in-background", "audio-device-in-use-by-another-client", "video-device-not-available-with-multiple-foreground-apps" or "video-device-not-available-due-to-system-pressure"; did you mean "video-device-not-available-in-background"?
                18:22+7 "access" in rule "Away" has "fotos" in it; it takes a list of "preview", "photo", "record" and "configure"
                18:31+9 "access" in rule "Away" names "preview" twice
                21:17+6 "user" in "when" of rule "Nobody" is "root"; it takes a whole number from 0 to 4294967294
                21:41+10 "login-session" in "when" of rule "Nobody" is a date; it takes "none", "active" or "inactive"
                25:1+4 unknown key "when" in rule "Calls"; a rank rule names its facts directly: app = "…" on a line of its own
                27:9+1 "grace" in rule "Calls" is the number 5; it takes a duration such as "250ms", "5s", "3min" or "1h"; did you mean "5s"?
                28:12+6 "min-hold" in rule "Calls" is "10 s"; it takes a duration such as "250ms", "5s", "3min" or "1h"; did you mean "10s"?
                29:9+7 "lease" in rule "Calls" is "100ms"; it takes a duration from "1s" to "24h"
                31:8+7 a second rule is named "Calls"; every verdict names its rule, so names are unique; the first is in line 24
                33:9+6 "grace" in rule "Calls" is "2min"; it takes a duration from "0s" to "1min"
                37:1+4 "rank" in rule "Denied" means nothing beside deny = true
                38:1+5 "lease" in rule "Denied" means nothing beside deny = true
                """),
        Case(
            claim: "Tables and the top of a file take their own keys and values",
            text: """
                nmae = "k"
                sources = ["shel"]
                ranks = ["a", 2, "a", ""]
                pressure-settle = "99999999999999999999min"
                [shell]
                unit = "gnome-shell"
                [agent]
                unit = "camagent.service"
                units = []
                [contention]
                tie = "newcommer"
                sharing = "exclusive"
                lease = "3min"
                [access]
                seat = "yes"
                users = ["", 4294967295, true, "alice", 1000, "alice", 1000]
                groups = "video"
                services = [""]
                identity = "certain"
                apps = "asks"
                user = "bob"
                [pressure]
                watch = "yes"
                memory = { fair = 10, serious = 10, critical = 101 }
                processor = 80
                temperature = { fair = nan, hot = 90, serious = "85" }
                throttling = "severe"
                temprature = {}
                [[camera]]
                id = "back"
                conflicts = ["front", "back"]
                [[camera]]
                id = "back"
                [[camera]]
                cost = 3
                """,
            expected: """
                1:1+4 unknown key "nmae"; did you mean "name"?
                2:12+6 "sources" has "shel" in it; it takes a list of "shell", "agent", "login-session" and "self-declared"; did you mean "shell"?
                3:15+1 "ranks" has the number 2 in it; it takes a list of names, the strongest first
                3:18+3 "ranks" names "a" twice
                3:23+2 a name in "ranks" is empty
                4:19+25 "pressure-settle" is "99999999999999999999min"; it takes a duration from "0s" to "10min"
                6:8+13 "unit" in [shell] is "gnome-shell"; it takes the whole name of a service or a scope of systemd's; did you mean "gnome-shell.service"?
                9:1+5 unknown key "units" in [agent]; did you mean "unit"?
                11:7+11 "tie" in [contention] is "newcommer"; it takes "newcomer" or "holder"; did you mean "newcomer"?
                12:11+11 "sharing" in [contention] is "exclusive"; it takes "none", "all" or "read-only"
                13:1+5 unknown key "lease" in [contention]; it goes into a [[rank]] rule
                15:8+5 "seat" in [access] is "yes"; it takes true or false
                16:10+2 a name in "users" in [access] is empty
                16:14+10 "users" in [access] has 4294967295 in it; a number is from 0 to 4294967294
                16:26+4 "users" in [access] has true in it; it takes a list of names and numbers, as in ["alice", 1001]
                16:47+7 "users" in [access] names "alice" twice
                16:56+4 "users" in [access] names the number 1000 twice
                17:10+7 "groups" in [access] is "video"; it takes a list of names and numbers, as in ["alice", 1001]
                18:13+2 a unit in "services" in [access] is empty
                19:12+9 "identity" in [access] is "certain"; it takes "any" or "strong"
                20:8+6 "apps" in [access] is "asks"; it takes "all" or "ask"; did you mean "ask"?
                21:1+4 unknown key "user" in [access]; did you mean "users"?
                23:9+5 "watch" in [pressure] is "yes"; it takes true or false
                24:33+2 "serious" in "memory" of [pressure] is 10, which is not above "fair"; a harder pressure begins at a higher figure
                24:48+3 "critical" in "memory" of [pressure] is 101; it takes a number from 0.1 to 100
                25:13+2 "processor" in [pressure] is the number 80; it takes levels in braces, as in { fair = 30, serious = 60, critical = 80 }
                26:24+3 "fair" in "temperature" of [pressure] is nan; it takes a number from 20 to 150
                26:29+3 unknown key "hot" in "temperature" of [pressure]; known here: fair, serious, critical
                26:49+4 "serious" in "temperature" of [pressure] is "85"; it takes a number from 20 to 150
                27:14+8 "throttling" in [pressure] is "severe"; it takes "nominal", "fair", "serious" or "critical"
                28:1+10 unknown key "temprature" in [pressure]; did you mean "temperature"?
                31:23+6 "conflicts" of camera "back" has the camera itself in it
                33:6+6 a second [[camera]] table has the id "back"
                34:1+10 a [[camera]] table has no "id"; add id = "…"; camclient devices lists them
                """),
        Case(
            claim: "A statement says who plays which part",
            text: """
                name = "p"
                [[never]]
                name = "n"
                app = "b"
                [[never]]
                holder = {}
                [[never]]
                name = "n"
                holder = { presense = "background" }
                [[always]]
                name = "a"
                when = {}
                is = "runing"
                [[always]]
                name = "b"
                is = "running"
                """,
            expected: """
                2:1+9 nobody plays a part in statement "n"; say who must never be what, as in holder = { presence = "background" }; {} is anybody
                4:1+3 unknown key "app" in statement "n"; say who has that fact, as in holder = { app = … }
                5:1+9 a [[never]] statement has no "name"; add name = "…"; `camclient policy verify` names the statement that is broken
                8:8+3 a second statement is named "n"; `camclient policy verify` names what is broken, so names are unique; the first is in line 3
                9:12+8 unknown key "presense" in "holder" of statement "n"; did you mean "presence"?
                13:6+8 "is" in statement "a" is "runing"; it takes "holder", "running", "restricted", "recording", "sharer", "waiting" or "interrupted"; did you mean "running"?
                14:1+10 no "when" in statement "b"; say of whom, as in when = { app = "intercom.service" }; {} is everybody who asks to run
                """),
        Case(
            claim: "A value that is none of an attribute's is reported with those it has",
            text: """
                name = "p"
                [[attribute]]
                name = "duty"
                values = ["on", "off"]
                [[cause]]
                name = "c"
                when = { duty = "offf" }
                cause = "video-device-not-available-in-background"
                """,
            expected: """
                7:17+6 "duty" in "when" of rule "c" is "offf"; it takes "on" or "off"; did you mean "off"?
                """),
        Case(
            claim: "A rank rule needs the list of ranks",
            text: """
                name = "k"
                [[rank]]
                name = "The intercom"
                rank = "call"
                """,
            expected: """
                4:8+6 "rank" in rule "The intercom" is "call", but the policy has no "ranks"; add ranks = ["call"] above the first table, the strongest first
                """),
        Case(
            claim: "An empty list of ranks ranks nobody",
            text: """
                name = "k"
                ranks = []
                [[rank]]
                name = "Booth"
                rank = "a"
                """,
            expected: """
                2:9+2 "ranks" is empty; it takes a list of names, the strongest first
                """),
        Case(
            claim: "A table of a list has two brackets",
            text: """
                name = "k"
                ranks = ["a"]
                [rank]
                name = "Booth"
                rank = "a"
                """,
            expected: """
                3:1+6 "rank" is a table; it takes tables that begin with [[rank]]; write [[rank]]
                """),
    ]
}
