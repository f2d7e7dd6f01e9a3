package import Scenario

extension ExploredWorld {
    /// Events come in groups, and every two groups meet in one world, so that every pair of event kinds meets.
    package static func meetings() throws(ScenarioError) -> [ExploredWorld] {
        var worlds: [ExploredWorld] = []
        for (index, first) in groups.enumerated() {
            for second in groups[(index + 1)...] {
                try worlds.add(
                    "\(first.name) × \(second.name)", meeting, moves: basics + first.moves + second.moves,
                    faults: first.faults + second.faults)
            }
        }
        return worlds
    }

    /// Two apps of different ranks, a visitor, two cameras; some rule reads every fact.
    private static let meeting = """
        policy \"""
        name = "meeting"
        sources = ["shell", "agent", "self-declared"]
        ranks = ["call", "app"]
        [[attribute]]
        name = "duty"
        values = ["on", "off"]
        [[mode]]
        name = "night"
        at = "22:00-06:00"
        [access]
        apps = "ask"
        \(inTheBackground)
        [[cause]]
        name = "Too hot to show and to record"
        when = { pressure = "serious" }
        cause = "video-device-not-available-due-to-system-pressure"
        access = ["photo", "configure"]
        [[cause]]
        name = "Somebody is on the phone"
        when = { microphone = "taken", uses-audio = true }
        cause = "audio-device-in-use-by-another-client"
        [[rank]]
        name = "The call at night"
        app = "call"
        mode = "night"
        rank = "call"
        immediate = true
        [[rank]]
        name = "The call"
        app = "call"
        rank = "call"
        [[rank]]
        name = "Everybody"
        rank = "app"
        grace = "5s"
        [contention]
        order = ["operator", "duty", "focused"]
        tie = "newcomer"
        \"""
        camera back format="420v 1920x1080@30" zoom=4 iso=34..2176 exposure=0.000013..0.5
        camera front
        0s   login-session c1 active
             answer photos allow
             answer call allow
             connect photos login=c1
             connect call
             session photos camera=back audio
             session call camera=back
             start photos
             recorder back streaming
             attach-microphone photos

        """

    private static let basics = ["start photos", "stop photos", "start call"]

    private struct Group {
        var name: String
        var moves: [String]
        var faults: [String] = []
    }

    private static let groups = [
        Group(
            name: "outputs",
            moves: [
                "stream photos", "photo photos", "bracket photos exposureDurations=1/60,1/30 isos=100,100",
                "attach-microphone photos", "record photos", "pause-record photos", "resume-record photos",
                "append-metadata photos", "stop-record photos",
            ], faults: ["disk-full"]),
        Group(
            name: "configuration",
            moves: [
                "begin photos", "commit photos", "configure photos videoZoomFactor=2",
                "configure photos videoZoomFactor=3 videoZoomRampRate=2",
            ], faults: ["refuse", "trouble"]),
        Group(
            name: "presence",
            moves: [
                "shell attach", "shell gone", "presence photos fullscreen", "presence photos gone",
                "declare-presence photos background", "operator photos", "attribute photos duty on",
            ]),
        Group(
            name: "machine",
            moves: [
                "mode night", "mode none", "calendar night", "calendar none", "unplug back", "plug back",
                "privacy back on", "held-outside back on", "pressure serious", "pressure nominal", "sleep", "wake",
                "login-session c1 locked", "login-session c1 ended",
            ]),
        Group(
            name: "clients",
            moves: [
                "stop call", "disconnect call", "close photos", "lower call app", "lower photos duty off",
                "ready photos", "sensitive photos", "continue photos", "connect visitor",
                "declare visitor multitasking", "session visitor camera=front", "start visitor",
            ]),
        Group(
            name: "broker",
            moves: [
                "policy-reload built-in", "reserve back photos", "reserve front photos grant=7 recording=3",
                "session keeper of photos camera=front", "reclaim keeper grant=7", "microphone call taken",
            ], faults: ["crash", "fail"]),
        Group(
            name: "user",
            moves: [
                "answer photos none", "answer photos deny", "answer photos deny by permission-store",
                "answer-question 1 allow", "answer-question 1 deny", "questions watched", "stop-app photos",
                "own-privacy on", "own-privacy off", "forget-answers",
            ]),
    ]
}
