import Scenario

/// The deep worlds in which several sessions share a camera.
extension ExploredWorld {
    private static let inTheBackground = """
        [[cause]]
        name = "In the background"
        when = { presence = "background" }
        cause = "video-device-not-available-in-background"
        """

    /// Every session that loses watches; the strongest one configures.
    static func sharing() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "sharing",
            ranked("grace = \"2s\"", "sharing = \"read-only\"").replacing(
                "[contention]", with: "\(inTheBackground)\n[contention]"
            ).replacing("ranks =", with: "sources = [\"shell\"]\nranks =") + "camera back\n"
                + three(("back", "back", "back")),
            moves: [
                "start weak", "stop weak", "start middle", "stop middle", "start strong", "stop strong", "record weak",
                "presence weak background", "presence weak fullscreen", "disconnect middle",
            ], whims: ["crash"])
    }

    /// Decided when a session starts: one controls, the others asked to watch or are refused.
    static func watching() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "watching",
            """
            policy \"""
            name = "watching"
            [contention]
            newcomer = "refuse"
            same-app = "refuse"
            re-decide = "open"
            sharing = "read-only"
            \"""
            camera back
            0s   connect weak
                 connect middle
                 connect strong
                 session weak camera=back
                 session middle camera=back sharingMode=sharedReadOnly videoZoomFactor=2
                 session strong camera=back sharingMode=sharedReadOnly

            """,
            moves: [
                "start weak", "stop weak", "start middle", "stop middle", "start strong", "stop strong",
                "configure strong sharingMode=exclusiveControl", "configure strong sharingMode=sharedReadOnly",
                "unplug back", "plug back",
            ], whims: ["fail"])
    }

    /// A shared camera and one that excludes it: sessions that watch lose the camera with its holder.
    static func sharedConflict() throws(ScenarioError) -> ExploredWorld {
        try ExploredWorld(
            "shared-conflict",
            ranked(
                "", "sharing = \"read-only\"\nloser = \"evict\"\ncool-down = \"1s\"",
                "[[camera]]\nid = \"front\"\nconflicts = [\"back\"]")
                + "camera back\ncamera front\n" + three(("back", "back", "front")),
            moves: [
                "start weak", "stop weak", "start middle", "stop middle", "start strong", "stop strong",
                "configure middle camera=front", "configure middle camera=back", "record middle",
            ])
    }
}
