public import Scenario

extension ExploredWorld {
    /// The worlds that are walked deep: each about one part of the contract, small enough to be walked whole
    /// or nearly so.
    public static func deep() throws(ScenarioError) -> [ExploredWorld] {
        [
            try handover(), try minHold(), try lease(), try eviction(), try refusal(), try sameApp(), try onOpen(),
            try conflict(), try chain(), try budget(), try presence(), try faults(), try restart(), try recording(),
            try configuration(), try switching(), try hardCauses(), try reload(), try sharing(), try watching(),
            try sharedConflict(), try questions(),
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
        \(contention.contains("immediate") ? "immediate = true" : "")
        [[rank]]
        name = "Middle"
        app = "middle"
        rank = "middle"
        [[rank]]
        name = "Weak"
        \(weak.contains("deny") ? "" : "rank = \"weak\"")
        \(weak)
        [contention]
        \(contention.replacing("immediate", with: ""))
        \(more)
        \"""

        """
    }

    /// Three clients; each has a session of its own name.
    static func three(_ cameras: (String, String, String)) -> String {
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
            ranked("grace = \"2s\"\nmin-hold = \"5s\"", "immediate") + "camera back\n"
                + three(("back", "back", "back")),
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
}
