extension WrongPolicyTests {
    static let tables: [Case] = [
        Case(
            claim: "Durations have bounds",
            text: """
                name = "k"
                pressure-settle = "99999999999999999999min"
                ranks = ["a"]
                [[rank]]
                name = "Booth"
                rank = "a"
                grace = "2min"

                """,
            expected: """
                p.toml:2:19: "pressure-settle" is "99999999999999999999min"; it takes a duration from "0s" to "10min"
                  pressure-settle = "99999999999999999999min"
                                    ^^^^^^^^^^^^^^^^^^^^^^^^^
                p.toml:7:9: "grace" in rule "Booth" is "2min"; it takes a duration from "0s" to "1min"
                  grace = "2min"
                          ^^^^^^
                """),
        Case(
            claim: "[access] takes names and numbers of users, each once, and no words of its own",
            text: """
                name = "k"
                [access]
                seat = "yes"
                users = ["", 4294967295, true, "alice", 1000, "alice", 1000]
                groups = "video"
                services = [""]
                identity = "certain"
                user = "bob"

                """,
            expected: """
                p.toml:3:8: "seat" in [access] is "yes"; it takes true or false
                  seat = "yes"
                         ^^^^^
                p.toml:4:10: a name in "users" in [access] is empty
                  users = ["", 4294967295, true, "alice", 1000, "alice", 1000]
                           ^^
                p.toml:4:14: "users" in [access] has 4294967295 in it; a number is from 0 to 4294967294
                  users = ["", 4294967295, true, "alice", 1000, "alice", 1000]
                               ^^^^^^^^^^
                p.toml:4:26: "users" in [access] has true in it; it takes a list of names and numbers, as in ["alice", 1001]
                  users = ["", 4294967295, true, "alice", 1000, "alice", 1000]
                                           ^^^^
                p.toml:4:47: "users" in [access] names "alice" twice
                  users = ["", 4294967295, true, "alice", 1000, "alice", 1000]
                                                                ^^^^^^^
                p.toml:4:56: "users" in [access] names the number 1000 twice
                  users = ["", 4294967295, true, "alice", 1000, "alice", 1000]
                                                                         ^^^^
                p.toml:5:10: "groups" in [access] is "video"; it takes a list of names and numbers, as in ["alice", 1001]
                  groups = "video"
                           ^^^^^^^
                p.toml:6:13: a unit in "services" in [access] is empty
                  services = [""]
                              ^^
                p.toml:7:12: "identity" in [access] is "certain"; it takes "any" or "strong"
                  identity = "certain"
                             ^^^^^^^^^
                p.toml:8:1: unknown key "user" in [access]
                  user = "bob"
                  ^^^^  did you mean "users"?
                """),
        Case(
            claim: "[pressure] takes levels that grow, within what a machine's figures can be",
            text: """
                name = "k"
                [pressure]
                watch = "yes"
                memory = { fair = 10, serious = 10, critical = 101 }
                processor = 80
                temperature = { fair = nan, hot = 90, serious = "85" }
                throttling = "severe"
                temprature = {}

                """,
            expected: """
                p.toml:3:9: "watch" in [pressure] is "yes"; it takes true or false
                  watch = "yes"
                          ^^^^^
                p.toml:4:33: "serious" in "memory" of [pressure] is 10, which is not above "fair"; a harder pressure begins at a higher figure
                  memory = { fair = 10, serious = 10, critical = 101 }
                                                  ^^
                p.toml:4:48: "critical" in "memory" of [pressure] is 101; it takes a number from 0.1 to 100
                  memory = { fair = 10, serious = 10, critical = 101 }
                                                                 ^^^
                p.toml:5:13: "processor" in [pressure] is the number 80; it takes levels in braces, as in { fair = 30, serious = 60, critical = 80 }
                  processor = 80
                              ^^
                p.toml:6:24: "fair" in "temperature" of [pressure] is nan; it takes a number from 20 to 150
                  temperature = { fair = nan, hot = 90, serious = "85" }
                                         ^^^
                p.toml:6:29: unknown key "hot" in "temperature" of [pressure]
                  temperature = { fair = nan, hot = 90, serious = "85" }
                                              ^^^  known here: fair, serious, critical
                p.toml:6:49: "serious" in "temperature" of [pressure] is "85"; it takes a number from 20 to 150
                  temperature = { fair = nan, hot = 90, serious = "85" }
                                                                  ^^^^
                p.toml:7:14: "throttling" in [pressure] is "severe"; it takes "nominal", "fair", "serious" or "critical"
                  throttling = "severe"
                               ^^^^^^^^
                p.toml:8:1: unknown key "temprature" in [pressure]
                  temprature = {}
                  ^^^^^^^^^^  did you mean "temperature"?
                """),
        Case(
            claim: "Sharing everything is not served yet",
            text: """
                name = "k"
                [contention]
                sharing = "all"

                """,
            expected: """
                p.toml:3:11: "sharing" in [contention] is "all", which this version does not serve yet; it takes "none" or "read-only"
                  sharing = "all"
                            ^^^^^
                """),
        Case(
            claim: "A speaker is named by a whole unit",
            text: """
                name = "k"
                [shell]
                unit = "gnome-shell"
                [agent]
                unit = "camagent.service"
                units = []

                """,
            expected: """
                p.toml:3:8: "unit" in [shell] is "gnome-shell"; it takes the whole name of a service or a scope of systemd's
                  unit = "gnome-shell"
                         ^^^^^^^^^^^^^  did you mean "gnome-shell.service"?
                p.toml:6:1: unknown key "units" in [agent]
                  units = []
                  ^^^^^  did you mean "unit"?
                """),
        Case(
            claim: "Newest and oldest contradict each other",
            text: """
                name = "k"
                [contention]
                order = ["focused", "newest", "oldest"]
                budget = -1
                backfill = "yes"

                """,
            expected: """
                p.toml:3:9: "order" in [contention] has both "newest" and "oldest"; the second could never decide
                  order = ["focused", "newest", "oldest"]
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                p.toml:4:10: "budget" in [contention] is -1; it takes a whole number from 0 to 1000000
                  budget = -1
                           ^^
                p.toml:5:12: "backfill" in [contention] is "yes"; it takes true or false
                  backfill = "yes"
                             ^^^^^
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
                p.toml:3:1: "rank" is a table; it takes tables that begin with [[rank]]
                  [rank]
                  ^^^^^^  write [[rank]]
                """),
        Case(
            claim: "A key behind a header belongs to that table",
            text: """
                name = "k"
                [contention]
                tie = "holder"
                summary = "Too late."

                """,
            expected: """
                p.toml:4:1: unknown key "summary" in [contention]
                  summary = "Too late."
                  ^^^^^^^  it goes to the top of the file, above the first table
                """),
        Case(
            claim: "A camera does not conflict with itself, and is listed once",
            text: """
                name = "k"
                [[camera]]
                id = "back"
                conflicts = ["front", "back"]
                cost = 1.5
                [[camera]]
                id = "back"
                [[camera]]
                cost = 3

                """,
            expected: """
                p.toml:4:23: "conflicts" of camera "back" has the camera itself in it
                  conflicts = ["front", "back"]
                                        ^^^^^^
                p.toml:5:8: "cost" of camera "back" is the number 1.5; it takes a whole number from 0 to 1000000
                  cost = 1.5
                         ^^^
                p.toml:7:6: a second [[camera]] table has the id "back"
                  id = "back"
                       ^^^^^^
                p.toml:8:1: a [[camera]] table has no "id"
                  [[camera]]
                  ^^^^^^^^^^  add id = "…"; camclient devices lists them
                """),
        Case(
            claim: "A key is given once",
            text: """
                name = "k"
                [[cause]]
                name = "Away"
                name = "Again"

                """,
            expected: """
                p.toml:4:8: this is not TOML: cannot redefine existing string 'name'
                  name = "Again"
                         ^
                """),
        Case(
            claim: "Text that is no TOML has its place",
            text: """
                name = "k

                """,
            expected: """
                p.toml:1:10: this is not TOML: unescaped control characters other than TAB (U+0009) are explicitly prohibited
                  name = "k
                           ^  is a closing quote missing?
                """),
        Case(
            claim: "A word that resembles nothing gets the list of what is known",
            text: """
                name = "k"
                [[camera]]
                id = "back"
                resolution = "4k"

                """,
            expected: """
                p.toml:4:1: unknown key "resolution" of camera "back"
                  resolution = "4k"
                  ^^^^^^^^^^  known here: id, conflicts, cost
                """),
        Case(
            claim: "An empty file lacks a name",
            text: """

                """,
            expected: """
                p.toml:1:1: the policy has no "name"
                  
                  ^  begin the file with name = "…"; status and logs show it
                """),
        Case(
            claim: "Ranks are names",
            text: """
                name = "k"
                ranks = ["a", 2, "a", ""]

                """,
            expected: """
                p.toml:2:15: "ranks" has the number 2 in it; it takes a list of names, the strongest first
                  ranks = ["a", 2, "a", ""]
                                ^
                p.toml:2:18: "ranks" names "a" twice
                  ranks = ["a", 2, "a", ""]
                                   ^^^
                p.toml:2:23: a name in "ranks" is empty
                  ranks = ["a", 2, "a", ""]
                                        ^^
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
                p.toml:2:9: "ranks" is empty; it takes a list of names, the strongest first
                  ranks = []
                          ^^
                """),
        Case(
            claim: "A name is one line",
            text: """
                name = "two\\nlines"

                """,
            expected: """
                p.toml:1:8: "name" is "two�lines"; it takes one line without control characters
                  name = "two\\nlines"
                         ^^^^^^^^^^^^
                """),
        Case(
            claim: "A caret stands under its word behind tabs and umlauts",
            text: """
                name = "k"
                [contention]
                \ttie = "näh"

                """,
            expected: """
                p.toml:3:8: "tie" in [contention] is "näh"; it takes "newcomer" or "holder"
                  \ttie = "näh"
                  \t      ^^^^^
                """),
        Case(
            claim: "A number is a user's, in whole",
            text: """
                name = "k"
                [[cause]]
                name = "Nobody"
                when = { user = "root", login-session = 1979-05-27 }
                cause = "video-device-not-available-in-background"

                """,
            expected: """
                p.toml:4:17: "user" in "when" of rule "Nobody" is "root"; it takes a whole number from 0 to 4294967294
                  when = { user = "root", login-session = 1979-05-27 }
                                  ^^^^^^
                p.toml:4:41: "login-session" in "when" of rule "Nobody" is a date; it takes "none", "active" or "inactive"
                  when = { user = "root", login-session = 1979-05-27 }
                                                          ^^^^^^^^^^
                """),
        Case(
            claim: "A rule that denies ranks nobody",
            text: """
                name = "k"
                ranks = ["a"]
                [[rank]]
                name = "No browser"
                deny = true
                rank = "a"
                lease = "3min"

                """,
            expected: """
                p.toml:6:1: "rank" in rule "No browser" means nothing beside deny = true
                  rank = "a"
                  ^^^^
                p.toml:7:1: "lease" in rule "No browser" means nothing beside deny = true
                  lease = "3min"
                  ^^^^^
                """),
    ]
}
