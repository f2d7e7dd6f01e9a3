import Scenario

/// The deep worlds in which several sessions share a camera.
extension ExploredWorld {
    /// Sharers watch beside the holder.
    static func addShared(_ worlds: inout [ExploredWorld]) throws(ScenarioError) {
        // Every session that loses watches; the strongest configures.
        try worlds.add(
            "sharing",
            ranked("grace = \"2s\"", "sharing = \"read-only\"").replacing(
                "[contention]", with: "\(inTheBackground)\n[contention]"
            ).replacing("ranks =", with: "sources = [\"shell\"]\nranks =") + together,
            moves: startAndStop + [
                "record weak", "presence weak background", "presence weak fullscreen", "disconnect middle",
            ], faults: ["crash"])
        // Only starts are decided: one session controls, the others watch or are refused.
        try worlds.add(
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
            moves: startAndStop + [
                "configure strong sharingMode=exclusiveControl", "configure strong sharingMode=sharedReadOnly",
                "unplug back", "plug back",
            ], faults: ["fail"])
        // Sessions that watch lose the camera with its holder.
        try worlds.add(
            "shared-conflict",
            ranked(
                "", "sharing = \"read-only\"\nloser = \"evict\"\ncool-down = \"1s\"",
                "[[camera]]\nid = \"front\"\nconflicts = [\"back\"]") + "camera back\ncamera front\n"
                + three("back", "back", "front"),
            moves: startAndStop + ["configure middle camera=front", "configure middle camera=back", "record middle"])
        try addCommitted(&worlds)
    }

    /// Control passes with commits, and each session has its own picture.
    private static func addCommitted(_ worlds: inout [ExploredWorld]) throws(ScenarioError) {
        // A recording goes on where its session loses control.
        try worlds.add(
            "committing",
            ranked("grace = \"2s\"", "sharing = \"all\"\nsharers = [\"preview\", \"record\"]") + together,
            moves: startAndStop + [
                "configure weak videoZoomFactor=2", "configure strong videoZoomFactor=1", "record weak",
                "stop-record weak", "unplug back", "plug back",
            ], faults: ["crash"])
        // And is not taken from it, where it could not.
        try worlds.add(
            "committing-beside-recordings",
            ranked("min-hold = \"3s\"\nlease = \"10s\"", "sharing = \"all\"\ncool-down = \"3s\"") + together,
            moves: startAndStop + [
                "configure weak videoZoomFactor=2", "configure strong videoZoomFactor=1 formatMatch=exact",
                "record strong", "stop-record strong", "configure middle sharingMode=sharedReadOnly",
                "configure middle sharingMode=exclusiveControl",
            ])
        try worlds.add(
            "wishes",
            ranked("", "sharing = \"all\"\nserve = \"largest\"\nsharers = [\"preview\", \"photo\", \"record\"]")
                + "camera back format=\"420v 1920x1080@30\" format=\"420v 640x480@60\"\n"
                + three("back", "back", "back"),
            moves: startAndStop + [
                "configure weak activeFormat=\"420v 640x480@60\"", "configure weak activeFormat=\"420v 1920x1080@30\"",
                "configure middle activeFormat=\"420v 640x480@60\" formatMatch=exact", "configure middle frameRate=15",
                "configure middle videoZoomFactor=1", "record weak", "stop-record weak",
            ])
    }
}
