public import Scenario

extension ExploredWorld {
    /// The worlds that are walked deep: each about one part of the contract, small enough to be walked whole
    /// or nearly so.
    public static func deep() throws(ScenarioError) -> [ExploredWorld] {
        [
            try handover(), try minHold(), try lease(), try eviction(), try refusal(), try sameApp(), try onOpen(),
            try conflict(), try chain(), try budget(), try presence(), try faults(), try restart(), try recording(),
            try configuration(), try switching(), try hardCauses(), try reload(),
        ]
    }

    /// A policy with three ranks; `weak` gets the given privileges.
    static func ranked(_ weak: String, _ contention: String = "", _ more: String = "") -> String {
        """
        policy \"""
        name = "ranked"
        ranks = ["strong", "middle", "weak"]
        [[rank]]
        name = "Strong"
        app = "strong"
        rank = "strong"
        \(contention.contains("override") ? "override = true" : "")
        [[rank]]
        name = "Middle"
        app = "middle"
        rank = "middle"
        [[rank]]
        name = "Weak"
        \(weak.contains("deny") ? "" : "rank = \"weak\"")
        \(weak)
        [contention]
        \(contention.replacing("override", with: ""))
        \(more)
        \"""

        """
    }

    /// Three clients; each has a session of its own name.
    private static func three(_ cameras: (String, String, String)) -> String {
        """
        0s   connect weak
             connect middle
             connect strong
             session weak camera=\(cameras.0)
             session middle camera=\(cameras.1)
             session strong camera=\(cameras.2)

        """
    }

    private static let startAndStop = [
        "start weak", "stop weak", "start middle", "stop middle", "start strong", "stop strong",
    ]

    private static func handover() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "handover",
            ranked("grace = \"5s\"") + "camera back\n"
                + """
                0s   connect weak
                     connect strong
                     session weak camera=back
                     session strong camera=back

                """,
            moves: [
                "start weak", "stop weak", "start strong", "stop strong", "connect middle",
                "session middle camera=back",
                "start middle", "disconnect middle", "record weak", "stop-record weak", "ready weak", "sleep", "wake",
            ])
    }

    private static func minHold() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "min-hold",
            ranked("grace = \"2s\"\nmin-hold = \"5s\"", "override") + "camera back\n" + three(("back", "back", "back")),
            moves: startAndStop + ["ready weak", "privacy back on", "privacy back off"])
    }

    private static func lease() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "lease",
            ranked("lease = \"10s\"", "cool-down = \"3s\"\ntie = \"newcomer\"") + "camera back\n"
                + """
                0s   connect weak
                     connect other
                     session weak camera=back
                     session other camera=back

                """,
            moves: ["start weak", "stop weak", "start other", "stop other", "sleep", "wake"])
    }

    private static func eviction() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "eviction",
            ranked("grace = \"2s\"", "loser = \"evict\"\ncool-down = \"3s\"") + "camera back\n"
                + three(("back", "back", "back")),
            moves: startAndStop + ["record weak", "ready weak", "unplug back", "plug back"])
    }

    private static func refusal() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "refusal",
            ranked("grace = \"2s\"", "newcomer = \"refuse\"") + "camera back\n" + three(("back", "back", "back")),
            moves: startAndStop + [
                "lower strong weak", "held-outside back on", "held-outside back off", "close middle",
            ])
    }

    private static func sameApp() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "same-app",
            ranked("", "tie = \"newcomer\"") + "camera back\n"
                + """
                0s   connect weak
                     connect weak-2 app=weak
                     connect middle
                     session weak camera=back
                     session inset of weak camera=back
                     session weak-2 camera=back
                     session middle camera=back

                """,
            moves: [
                "start weak", "stop weak", "start inset", "stop inset", "start weak-2", "stop weak-2", "start middle",
                "stop middle", "disconnect weak-2",
            ])
    }

    private static func onOpen() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "on-open",
            ranked("grace = \"2s\"", "re-decide = \"open\"\norder = [\"operator\"]") + "camera back\n"
                + three(("back", "back", "back")),
            moves: startAndStop + ["operator weak", "operator none", "lower strong weak"])
    }

    private static func conflict() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "conflict",
            ranked("grace = \"2s\"", "", "[[camera]]\nid = \"front\"\nconflicts = [\"back\"]")
                + "camera back\ncamera front\n" + three(("back", "front", "back")),
            moves: startAndStop + ["unplug front", "plug front", "disconnect strong"])
    }

    private static func chain() throws(ScenarioError) -> ExploredWorld {
        // The middle camera excludes both others, which is more than two cameras: the row of §9 that needs three.
        try ExploredWorld(
            "chain",
            ranked("", "", "[[camera]]\nid = \"b\"\nconflicts = [\"a\", \"c\"]") + "camera a\ncamera b\ncamera c\n"
                + three(("a", "b", "c")), moves: startAndStop + ["unplug c", "plug c"])
    }

    private static func budget() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "budget",
            ranked("", "budget = 3", "[[camera]]\nid = \"back\"\ncost = 2\n[[camera]]\nid = \"front\"\ncost = 2")
                + "camera back\ncamera front\n" + three(("back", "front", "back")),
            moves: startAndStop + ["privacy back on", "privacy back off", "close strong"])
    }

    private static func presence() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "presence",
            """
            policy \"""
            name = "several-in-front"
            sources = ["shell", "self-declared"]
            [[cause]]
            name = "In the background"
            when = { presence = "background" }
            cause = "video-device-not-available-in-background"
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
                "presence call gone",
                "record photos", "shell gone", "shell attach", "declare-presence call fullscreen",
            ])
    }

    private static func faults() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "faults", ranked("grace = \"2s\"") + "camera back\n" + three(("back", "back", "back")),
            moves: [
                "start weak", "stop weak", "start middle", "stop middle", "record weak", "unplug back", "plug back",
                "close weak",
            ], whims: ["crash", "fail"])
    }

    private static func restart() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "restart",
            ranked("") + "camera back\n"
                + """
                0s   reserve back weak
                     connect middle
                     session middle camera=back

                """,
            moves: [
                "connect weak", "session weak camera=back reestablished", "start weak", "stop weak", "disconnect weak",
                "start middle", "stop middle", "reserve back middle", "privacy all on", "privacy all off",
            ], whims: ["crash"])
    }

    private static func recording() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "recording",
            ranked("grace = \"2s\"", "order = [\"recording\"]\ntie = \"newcomer\"") + "camera back\n"
                + """
                0s   connect weak
                     connect other
                     session weak camera=back
                     session other camera=back

                """,
            moves: [
                "start weak", "stop weak", "record weak", "stop-record weak", "photo weak", "start other", "stop other",
                "record other", "stop-record other", "disconnect other",
            ], whims: ["disk-full", "crash"])
    }

    private static func configuration() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "configuration", ranked("") + "camera back\n" + three(("back", "back", "back")),
            moves: [
                "start weak", "stop weak", "start middle", "stop middle", "begin weak", "commit weak",
                "configure weak videoZoomFactor=2", "configure weak videoZoomFactor=99",
                "configure middle frameRate=24",
                "unplug back", "plug back", "plug back format=\"420v 640x480@15\"",
            ], whims: ["refuse"])
    }

    private static func switching() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "switching", ranked("grace = \"2s\"") + "camera back\ncamera front\n" + three(("back", "back", "front")),
            moves: [
                "start weak", "stop weak", "start middle", "stop middle", "start strong", "stop strong", "record weak",
                "configure weak camera=front", "configure weak camera=back", "configure middle camera=front",
                "unplug front",
                "plug front",
            ])
    }

    private static func hardCauses() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
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
                "start photos", "stop photos", "start call", "record photos", "microphone call taken",
                "microphone call released", "pressure critical", "pressure serious", "pressure nominal",
                "login-session c1 locked", "login-session c1 active", "sensitive photos", "continue photos", "sleep",
                "wake",
            ])
    }

    private static func reload() throws(ScenarioError) -> ExploredWorld {
        let longer = ranked("grace = \"8s\"\nlease = \"30s\"").dropFirst("policy ".count)
        let denying = ranked("deny = true").dropFirst("policy ".count)
        return try ExploredWorld(
            "reload",
            ranked("grace = \"5s\"\nlease = \"20s\"", "cool-down = \"3s\"") + "camera back\n"
                + three(("back", "back", "back")),
            moves: [
                "start weak", "stop weak", "start middle", "stop middle", "record weak", "policy-reload \(longer)",
                "policy-reload \(denying)", "policy-reload built-in", "ready weak",
            ])
    }
}
