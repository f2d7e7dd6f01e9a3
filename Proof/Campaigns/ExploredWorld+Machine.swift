import Scenario

/// The deep worlds that are about presence, the machine and recorders rather than about winning.
extension ExploredWorld {
    static func addMachine(_ worlds: inout [ExploredWorld]) throws(ScenarioError) {
        try worlds.add(
            "presence",
            """
            policy \"""
            name = "several-in-front"
            sources = ["shell", "self-declared"]
            \(inTheBackground)
            [[cause]]
            name = "Picker beside another app"
            when = { foreground-apps = "several", client = "picker" }
            cause = "video-device-not-available-with-multiple-foreground-apps"
            access = ["preview", "photo"]
            [[cause]]
            name = "Several apps in front"
            when = { foreground-apps = "several" }
            cause = "video-device-not-available-with-multiple-foreground-apps"
            [contention]
            order = ["focused", "newest"]
            tie = "newcomer"
            \"""
            camera back
            0s   connect photos kind=picker
                 connect call
                 session photos camera=back
                 session call camera=back
                 shell attach

            """,
            moves: [
                "start photos", "stop photos", "start call", "presence photos fullscreen focused",
                "presence photos background", "presence call split", "presence call split focused",
                "presence call gone", "record photos", "shell gone", "shell attach", "declare-presence call fullscreen",
            ])
        try worlds.add(
            "faults", ranked("grace = \"2s\"") + together,
            moves: [
                "start weak", "stop weak", "start middle", "stop middle", "record weak", "unplug back", "plug back",
                "close weak",
            ], faults: ["crash", "fail"])
        try worlds.add(
            "restart",
            ranked("") + "camera back\n" + """
                0s   reserve back weak grant=7 recording=3
                     connect middle
                     session middle camera=back

                """,
            moves: [
                "connect weak", "session weak camera=back reestablished", "start weak", "reclaim weak grant=7",
                "stop weak", "disconnect weak", "start middle", "stop middle", "reserve back middle", "privacy all on",
                "privacy all off",
            ], faults: ["crash"])
    }

    static func addSettings(_ worlds: inout [ExploredWorld]) throws(ScenarioError) {
        try worlds.add(
            "recording",
            ranked("grace = \"2s\"", "order = [\"recording\"]\ntie = \"newcomer\"") + "camera back\n"
                + clients(["weak": "back", "other": "back"]),
            moves: [
                "start weak", "stop weak", "record weak", "stop-record weak", "photo weak", "start other", "stop other",
                "record other", "stop-record other", "disconnect other",
            ], faults: ["disk-full", "crash"])
        try worlds.add(
            "configuration", ranked("") + together,
            moves: [
                "start weak", "stop weak", "start middle", "stop middle", "begin weak", "commit weak",
                "configure weak videoZoomFactor=2", "configure weak videoZoomFactor=99",
                "configure middle frameRate=24", "unplug back", "plug back", "plug back format=\"420v 640x480@15\"",
            ], faults: ["refuse"])
        try worlds.add(
            "switching", ranked("grace = \"2s\"") + "camera back\ncamera front\n" + three("back", "back", "front"),
            moves: startAndStop + [
                "record weak", "configure weak camera=front", "configure weak camera=back",
                "configure middle camera=front", "unplug front", "plug front",
            ])
    }

    static func addPressure(_ worlds: inout [ExploredWorld]) throws(ScenarioError) {
        try worlds.add(
            "hard-causes",
            """
            policy \"""
            name = "hot-or-on-the-phone"
            [[cause]]
            name = "Too hot"
            when = { pressure = "critical" }
            cause = "video-device-not-available-due-to-system-pressure"
            [[cause]]
            name = "Too hot to record"
            when = { pressure = "serious" }
            cause = "video-device-not-available-due-to-system-pressure"
            access = ["preview", "photo"]
            [[cause]]
            name = "Somebody is on the phone"
            when = { microphone = "taken", uses-audio = true }
            cause = "audio-device-in-use-by-another-client"
            [contention]
            tie = "newcomer"
            \"""
            camera back
            0s   login-session c1 active
                 connect photos login=c1
                 connect call
                 session photos camera=back audio
                 session call camera=back

            """,
            moves: [
                "start photos", "stop photos", "start call", "attach-microphone photos", "record photos",
                "microphone call taken", "microphone call released", "pressure critical", "pressure serious",
                "pressure nominal", "login-session c1 locked", "login-session c1 active", "sensitive photos",
                "continue photos", "sleep", "wake",
            ])
        let longer = ranked("grace = \"8s\"\nlease = \"30s\"").dropFirst("policy ".count)
        let denying = ranked("deny = true").dropFirst("policy ".count)
        try worlds.add(
            "reload", ranked("grace = \"5s\"\nlease = \"20s\"", "cool-down = \"3s\"") + together,
            moves: [
                "start weak", "stop weak", "start middle", "stop middle", "record weak", "policy-reload \(longer)",
                "policy-reload \(denying)", "policy-reload built-in", "ready weak",
            ])
    }

    static func addQuestions(_ worlds: inout [ExploredWorld]) throws(ScenarioError) {
        try worlds.add(
            "questions",
            """
            policy \"""
            name = "asks"
            [access]
            apps = "ask"
            \"""
            camera back
            camera front
            0s   connect photos
                 connect notes
                 session photos camera=back
                 session notes camera=back
                 session second of notes camera=front

            """,
            moves: [
                "start photos", "stop photos", "start notes", "start second", "disconnect notes",
                "answer-question 1 allow", "answer-question 2 deny", "answer photos none", "answer notes allow",
                "answer photos deny by permission-store", "answer photos none by permission-store", "questions watched",
                "stop-app photos", "own-privacy on", "own-privacy off", "forget-answers", "sleep", "wake",
            ])
    }
}
