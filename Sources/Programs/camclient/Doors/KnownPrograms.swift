/// Programs that are known to use cameras although their files do not say so: those that load what they need when they need it, and
/// those that a script starts.
struct KnownProgram {
    /// What it is started by.
    var names: [String]
    /// What the program's own file is called, where that is another name.
    var file: String?
    var usesNodes = true
    var usesPipeWire = false

    private static func nodes(_ names: String...) -> [KnownProgram] { names.map { KnownProgram(names: [$0]) } }
    private static func both(_ names: [String], file: String? = nil) -> KnownProgram {
        KnownProgram(names: names, file: file, usesPipeWire: true)
    }

    static let all: [KnownProgram] =
        [
            both(["chromium"]), both(["google-chrome", "google-chrome-stable"], file: "chrome"),
            both(["brave-browser", "brave-browser-stable"], file: "brave"),
            both(["vivaldi", "vivaldi-stable"], file: "vivaldi-bin"),
            both(["microsoft-edge", "microsoft-edge-stable"], file: "msedge"), both(["opera"]),
            both(["firefox"]), both(["firefox-esr"]), both(["librewolf"]), both(["thunderbird"]),
            both(["obs"]), both(["gst-launch-1.0"]), both(["element-desktop"]), both(["signal-desktop"]),
            both(["discord", "Discord"], file: "Discord"), both(["slack"]), both(["teams-for-linux"]),
            KnownProgram(names: ["snapshot"], usesNodes: false, usesPipeWire: true),
            KnownProgram(names: ["epiphany", "epiphany-browser"], usesNodes: false, usesPipeWire: true),
        ]
        + nodes(
            "zoom", "skypeforlinux", "telegram-desktop", "linphone", "ekiga", "jami", "qtox", "cheese", "guvcview",
            "kamoso", "webcamoid", "motion", "fswebcam", "streamer", "xawtv", "camorama", "luvcview", "zbarcam",
            "ffmpeg", "ffplay", "mpv", "vlc", "mplayer", "v4l2-ctl", "v4l2-compliance", "qv4l2", "uvccapture",
            "mjpg_streamer")

    static func of(_ name: String) -> KnownProgram? { all.first { $0.names.contains(name) || $0.file == name } }
}
