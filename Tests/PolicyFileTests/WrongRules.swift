extension WrongPolicyTests {
    static let rules: [Case] = [
        Case(
            claim: "A misspelt key in a rule is underlined, with the key that was meant",
            text: """
                name = "k"
                ranks = ["booth"]

                [[rank]]
                name = "Photo booth"
                rank = "booth"
                garce = "5s"

                """,
            expected: """
                p.toml:7:1: unknown key "garce" in rule "Photo booth"
                  garce = "5s"
                  ^^^^^  did you mean "grace"?
                """),
        Case(
            claim: "Every problem of a file is reported in one run, in the order of the file",
            text: """
                nmae = "k"
                sources = ["shel"]

                [contention]
                tie = "newcommer"
                lease = "3min"

                """,
            expected: """
                p.toml:1:1: unknown key "nmae"
                  nmae = "k"
                  ^^^^  did you mean "name"?
                p.toml:2:12: "sources" has "shel" in it; it takes a list of "shell", "agent", "login-session" and "self-declared"
                  sources = ["shel"]
                             ^^^^^^  did you mean "shell"?
                p.toml:5:7: "tie" in [contention] is "newcommer"; it takes "newcomer" or "holder"
                  tie = "newcommer"
                        ^^^^^^^^^^^  did you mean "newcomer"?
                p.toml:6:1: unknown key "lease" in [contention]
                  lease = "3min"
                  ^^^^^  it goes into a [[rank]] rule
                """),
        Case(
            claim: "A rule needs a name",
            text: """
                name = "k"
                [[cause]]
                when = { presence = "background" }
                cause = "video-device-not-available-in-background"

                """,
            expected: """
                p.toml:2:1: a [[cause]] rule has no "name"
                  [[cause]]
                  ^^^^^^^^^  add name = "…"; every verdict names its rule
                """),
        Case(
            claim: "Two rules have two names",
            text: """
                name = "k"
                ranks = ["a"]
                [[rank]]
                name = "Everybody"
                rank = "a"
                [[rank]]
                name = "Everybody"
                app = "x.service"
                rank = "a"

                """,
            expected: """
                p.toml:7:8: a second rule is named "Everybody"; every verdict names its rule, so names are unique
                  name = "Everybody"
                         ^^^^^^^^^^^  the first is in line 4
                """),
        Case(
            claim: "A rank that is not in the list does not exist",
            text: """
                name = "k"
                ranks = ["safety", "call", "booth"]
                [[rank]]
                name = "The intercom"
                app = "intercom.service"
                rank = "cal"

                """,
            expected: """
                p.toml:6:8: "rank" in rule "The intercom" is "cal"; it takes "safety", "call" or "booth"
                  rank = "cal"
                         ^^^^^  did you mean "call"?
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
                p.toml:4:8: "rank" in rule "The intercom" is "call", but the policy has no "ranks"
                  rank = "call"
                         ^^^^^^  add ranks = ["call"] above the first table, the strongest first
                """),
        Case(
            claim: "A rank rule has no when: it names its facts directly",
            text: """
                name = "k"
                ranks = ["call"]
                [[rank]]
                name = "The intercom"
                when = { app = "intercom.service" }
                rank = "call"

                """,
            expected: """
                p.toml:5:1: unknown key "when" in rule "The intercom"
                  when = { app = "intercom.service" }
                  ^^^^  a rank rule names its facts directly: app = "…" on a line of its own
                """),
        Case(
            claim: "A cause rule's facts stand inside when",
            text: """
                name = "k"
                [[cause]]
                name = "In the background"
                presence = "background"
                cause = "video-device-not-available-in-background"

                """,
            expected: """
                p.toml:4:1: unknown key "presence" in rule "In the background"
                  presence = "background"
                  ^^^^^^^^  facts go inside when = { … }
                """),
        Case(
            claim: "A fact has a closed set of values",
            text: """
                name = "k"
                [[cause]]
                name = "Two"
                when = { foreground-apps = "two", focused = "true", presense = "background" }
                cause = "video-device-not-available-with-multiple-foreground-apps"

                """,
            expected: """
                p.toml:4:28: "foreground-apps" in "when" of rule "Two" is "two"; it takes "none", "one" or "several"
                  when = { foreground-apps = "two", focused = "true", presense = "background" }
                                             ^^^^^
                p.toml:4:45: "focused" in "when" of rule "Two" is "true"; it takes true or false
                  when = { foreground-apps = "two", focused = "true", presense = "background" }
                                                              ^^^^^^  write true without quotes
                p.toml:4:53: unknown key "presense" in "when" of rule "Two"
                  when = { foreground-apps = "two", focused = "true", presense = "background" }
                                                                      ^^^^^^^^  did you mean "presence"?
                """),
        Case(
            claim: "A layout is no presence",
            text: """
                name = "k"
                [[cause]]
                name = "Beside"
                when = { presence = "split" }
                cause = "video-device-not-available-with-multiple-foreground-apps"

                """,
            expected: """
                p.toml:4:21: "presence" in "when" of rule "Beside" is "split"; it takes "background" or "foreground"
                  when = { presence = "split" }
                                      ^^^^^^^  write layout = "split"
                """),
        Case(
            claim: "A policy cannot raise a cause that is a fact of the machine",
            text: """
                name = "k"
                [[cause]]
                name = "Asleep"
                when = { presence = "background" }
                cause = "system-sleep"

                """,
            expected: """
                p.toml:5:9: "cause" in rule "Asleep" is "system-sleep", a fact that holds under every policy; a rule may raise "video-device-not-available-in-background", "audio-device-in-use-by-another-client", "video-device-not-available-with-multiple-foreground-apps" or "video-device-not-available-due-to-system-pressure"
                  cause = "system-sleep"
                          ^^^^^^^^^^^^^^
                """),
        Case(
            claim: "The camera's holder is contention's business, not a cause rule's",
            text: """
                name = "k"
                [[cause]]
                name = "Taken"
                when = { microphone = "taken" }
                cause = "video-device-in-use-by-another-client"

                """,
            expected: """
                p.toml:5:9: "cause" in rule "Taken" is "video-device-in-use-by-another-client", which [contention] decides; a rule may raise "video-device-not-available-in-background", "audio-device-in-use-by-another-client", "video-device-not-available-with-multiple-foreground-apps" or "video-device-not-available-due-to-system-pressure"
                  cause = "video-device-in-use-by-another-client"
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
                """),
        Case(
            claim: "A cause's short name is not its name",
            text: """
                name = "k"
                [[cause]]
                name = "Away"
                when = { presence = "background" }
                cause = "in-background"

                """,
            expected: """
                p.toml:5:9: "cause" in rule "Away" is "in-background"; it takes "video-device-not-available-in-background", "audio-device-in-use-by-another-client", "video-device-not-available-with-multiple-foreground-apps" or "video-device-not-available-due-to-system-pressure"
                  cause = "in-background"
                          ^^^^^^^^^^^^^^^  did you mean "video-device-not-available-in-background"?
                """),
        Case(
            claim: "Access is a list of rights",
            text: """
                name = "k"
                [[cause]]
                name = "Away"
                when = { presence = "background" }
                cause = "video-device-not-available-in-background"
                access = ["preview", "fotos", "preview"]

                """,
            expected: """
                p.toml:6:22: "access" in rule "Away" has "fotos" in it; it takes a list of "preview", "photo", "record" and "configure"
                  access = ["preview", "fotos", "preview"]
                                       ^^^^^^^
                p.toml:6:31: "access" in rule "Away" names "preview" twice
                  access = ["preview", "fotos", "preview"]
                                                ^^^^^^^^^
                """),
        Case(
            claim: "A duration has a unit",
            text: """
                name = "k"
                ranks = ["a"]
                [[rank]]
                name = "Booth"
                rank = "a"
                grace = 5
                min-hold = "10 s"
                lease = "100ms"

                """,
            expected: """
                p.toml:6:9: "grace" in rule "Booth" is the number 5; it takes a duration such as "250ms", "5s", "3min" or "1h"
                  grace = 5
                          ^  did you mean "5s"?
                p.toml:7:12: "min-hold" in rule "Booth" is "10 s"; it takes a duration such as "250ms", "5s", "3min" or "1h"
                  min-hold = "10 s"
                             ^^^^^^  did you mean "10s"?
                p.toml:8:9: "lease" in rule "Booth" is "100ms"; it takes a duration from "1s" to "24h"
                  lease = "100ms"
                          ^^^^^^^
                """),
    ]
}
