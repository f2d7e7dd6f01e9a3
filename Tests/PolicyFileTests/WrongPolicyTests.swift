import Arbiter
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

    static let cases: [Case] = [
        Case(
            claim: "Rules name themselves, facts, ranks and times as they are meant",
            text: """
                name = "k"
                ranks = ["safety", "call", "booth"]
                # A rule needs a name.
                [[cause]]
                when = { presence = "background" }
                cause = "video-device-not-available-in-background"
                # A cause rule's facts stand inside when.
                [[cause]]
                name = "Hidden"
                presence = "background"
                cause = "video-device-not-available-in-background"
                # A fact has a closed set of values, and a layout is no presence.
                [[cause]]
                name = "Two"
                when = { foreground-apps = "two", focused = "true", presense = "background", presence = "split" }
                cause = "video-device-not-available-with-multiple-foreground-apps"
                # A cause's short name is not its name, and access is a list of rights.
                [[cause]]
                name = "Away"
                when = { presence = "background" }
                cause = "in-background"
                access = ["preview", "fotos", "preview"]
                # A number is a user's, in whole.
                [[cause]]
                name = "Nobody"
                when = { user = "root", login-session = 1979-05-27 }
                cause = "video-device-not-available-in-background"
                # A rank rule has no when: it names its facts directly. A duration has a unit and bounds.
                [[rank]]
                name = "Calls"
                when = { app = "intercom.service" }
                rank = "call"
                grace = 5
                min-hold = "10 s"
                lease = "100ms"
                # Two rules have two names.
                [[rank]]
                name = "Calls"
                rank = "booth"
                grace = "2min"
                # A rule that denies ranks nobody.
                [[rank]]
                name = "Denied"
                deny = true
                rank = "call"
                lease = "3min"
                """,
            expected: """
                4:1+9 a [[cause]] rule has no "name"; add name = "…"; every verdict names its rule
                10:1+8 unknown key "presence" in rule "Hidden"; facts go inside when = { … }
                15:28+5 "foreground-apps" in "when" of rule "Two" is "two"; it takes "none", "one" or "several"
                15:45+6 "focused" in "when" of rule "Two" is "true"; it takes true or false; write true without quotes
                15:53+8 unknown key "presense" in "when" of rule "Two"; did you mean "presence"?
                15:89+7 "presence" in "when" of rule "Two" is "split"; it takes "background" or "foreground"; write layout = "split"
                21:9+15 "cause" in rule "Away" is "in-background"; it takes "video-device-not-available-in-background", "audio-device-in-use-by-another-client", "video-device-not-available-with-multiple-foreground-apps" or "video-device-not-available-due-to-system-pressure"; did you mean "video-device-not-available-in-background"?
                22:22+7 "access" in rule "Away" has "fotos" in it; it takes a list of "preview", "photo", "record" and "configure"
                22:31+9 "access" in rule "Away" names "preview" twice
                26:17+6 "user" in "when" of rule "Nobody" is "root"; it takes a whole number from 0 to 4294967294
                26:41+10 "login-session" in "when" of rule "Nobody" is a date; it takes "none", "active" or "inactive"
                31:1+4 unknown key "when" in rule "Calls"; a rank rule names its facts directly: app = "…" on a line of its own
                33:9+1 "grace" in rule "Calls" is the number 5; it takes a duration such as "250ms", "5s", "3min" or "1h"; did you mean "5s"?
                34:12+6 "min-hold" in rule "Calls" is "10 s"; it takes a duration such as "250ms", "5s", "3min" or "1h"; did you mean "10s"?
                35:9+7 "lease" in rule "Calls" is "100ms"; it takes a duration from "1s" to "24h"
                38:8+7 a second rule is named "Calls"; every verdict names its rule, so names are unique; the first is in line 30
                40:9+6 "grace" in rule "Calls" is "2min"; it takes a duration from "0s" to "1min"
                45:1+4 "rank" in rule "Denied" means nothing beside deny = true
                46:1+5 "lease" in rule "Denied" means nothing beside deny = true
                """),
        Case(
            claim: "Tables and the top of a file take their own keys and values",
            text: """
                nmae = "k"
                sources = ["shel"]
                ranks = ["a", 2, "a", ""]
                pressure-settle = "99999999999999999999min"
                # A speaker is named by a whole unit.
                [shell]
                unit = "gnome-shell"
                [agent]
                unit = "camagent.service"
                units = []
                [contention]
                tie = "newcommer"
                sharing = "all"
                lease = "3min"
                # Names and numbers of users, each once, and no words of its own.
                [access]
                seat = "yes"
                users = ["", 4294967295, true, "alice", 1000, "alice", 1000]
                groups = "video"
                services = [""]
                identity = "certain"
                apps = "asks"
                user = "bob"
                # Levels that grow, within what a machine's figures can be.
                [pressure]
                watch = "yes"
                memory = { fair = 10, serious = 10, critical = 101 }
                processor = 80
                temperature = { fair = nan, hot = 90, serious = "85" }
                throttling = "severe"
                temprature = {}
                # A camera does not conflict with itself, is listed once, and has an id.
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
                7:8+13 "unit" in [shell] is "gnome-shell"; it takes the whole name of a service or a scope of systemd's; did you mean "gnome-shell.service"?
                10:1+5 unknown key "units" in [agent]; did you mean "unit"?
                12:7+11 "tie" in [contention] is "newcommer"; it takes "newcomer" or "holder"; did you mean "newcomer"?
                13:11+5 "sharing" in [contention] is "all", which this version does not serve yet; it takes "none" or "read-only"
                14:1+5 unknown key "lease" in [contention]; it goes into a [[rank]] rule
                17:8+5 "seat" in [access] is "yes"; it takes true or false
                18:10+2 a name in "users" in [access] is empty
                18:14+10 "users" in [access] has 4294967295 in it; a number is from 0 to 4294967294
                18:26+4 "users" in [access] has true in it; it takes a list of names and numbers, as in ["alice", 1001]
                18:47+7 "users" in [access] names "alice" twice
                18:56+4 "users" in [access] names the number 1000 twice
                19:10+7 "groups" in [access] is "video"; it takes a list of names and numbers, as in ["alice", 1001]
                20:13+2 a unit in "services" in [access] is empty
                21:12+9 "identity" in [access] is "certain"; it takes "any" or "strong"
                22:8+6 "apps" in [access] is "asks"; it takes "all" or "ask"; did you mean "ask"?
                23:1+4 unknown key "user" in [access]; did you mean "users"?
                26:9+5 "watch" in [pressure] is "yes"; it takes true or false
                27:33+2 "serious" in "memory" of [pressure] is 10, which is not above "fair"; a harder pressure begins at a higher figure
                27:48+3 "critical" in "memory" of [pressure] is 101; it takes a number from 0.1 to 100
                28:13+2 "processor" in [pressure] is the number 80; it takes levels in braces, as in { fair = 30, serious = 60, critical = 80 }
                29:24+3 "fair" in "temperature" of [pressure] is nan; it takes a number from 20 to 150
                29:29+3 unknown key "hot" in "temperature" of [pressure]; known here: fair, serious, critical
                29:49+4 "serious" in "temperature" of [pressure] is "85"; it takes a number from 20 to 150
                30:14+8 "throttling" in [pressure] is "severe"; it takes "nominal", "fair", "serious" or "critical"
                31:1+10 unknown key "temprature" in [pressure]; did you mean "temperature"?
                35:23+6 "conflicts" of camera "back" has the camera itself in it
                37:6+6 a second [[camera]] table has the id "back"
                38:1+10 a [[camera]] table has no "id"; add id = "…"; camclient devices lists them
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
