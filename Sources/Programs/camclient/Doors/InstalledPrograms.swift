import Glibc
import System

/// A program that uses cameras, as far as can be seen without running it, and what the V4L2 door can do for it.
struct InstalledProgram {
    var name: DoorName
    var title: String?
    var desktopID: String?
    var reasons: [String]
    var asksBroker = false
    var usesNodes = true
    var usesPipeWire = false
    var outOfReach: String?
    var runsAs: String?
}

/// Looks for programs that use cameras: those that the desktop shows, those of a known name, and those of `$PATH` whose file links a
/// library for cameras or names /dev/video. What a program loads when it runs, and what it starts, is not seen.
struct ProgramSearch {
    /// Files of `$PATH` that are looked at: a large installation has a few thousand.
    private static let filesMax = 16_384
    /// Programs that name a device do so among their constants; larger ones are browsers and the like, which are known by name.
    private static let searchedBytesMax = 4 << 20
    /// Libraries that only programs link that use cameras' nodes.
    private static let nodeLibraries = [
        "libv4l1.so", "libv4l2.so", "libavdevice.so", "libcheese", "libgviewv4l2core", "libopencv_videoio",
    ]

    private let folders: [String]
    private var found: [DoorName: InstalledProgram] = [:]

    init() {
        let path = environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        // Two of them are one folder on Debian.
        var seen: Set<String> = []
        folders = path.split(separator: ":").map(String.init).filter { folder in
            folder.hasPrefix("/") && resolved(folder).map { seen.insert($0).inserted } ?? false
        }
    }

    mutating func programs() -> [InstalledProgram] {
        for entry in DesktopEntry.installed() { look(at: entry) }
        var count = 0
        for folder in folders {
            for name in namesInFolder(folder).sorted() where count < Self.filesMax {
                count += 1
                look(at: "\(folder)/\(name)", entry: nil)
            }
        }
        return found.values.sorted { ($0.name.names[0], $0.name.file ?? "") < ($1.name.names[0], $1.name.file ?? "") }
    }

    func path(of name: String) -> String? { folders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 } }

    private mutating func look(at entry: DesktopEntry) {
        if let sandbox = entry.sandbox {
            let reasons = Self.reasons(of: entry)
            guard !reasons.isEmpty else { return }
            let name = DoorName(names: [entry.id], file: nil)
            found[name] = InstalledProgram(
                name: name, title: entry.title, desktopID: entry.id, reasons: reasons, usesPipeWire: true,
                outOfReach: "sandboxed by \(sandbox)")
            return
        }
        guard let command = entry.command.first else { return }
        if let path = command.contains("/") ? command : path(of: command) { look(at: path, entry: entry) }
    }

    private static func reasons(of entry: DesktopEntry) -> [String] {
        var reasons = entry.categories.filter { ["WebBrowser", "VideoConference"].contains($0) }.map {
            "category \($0)"
        }
        if let word = ["webcam", "camera"].first(where: entry.words.contains) {
            reasons.append("its description says \(word)")
        }
        return reasons
    }

    private mutating func look(at path: String, entry: DesktopEntry?) {
        guard let program = program(at: path, entry: entry), !program.reasons.isEmpty else { return }
        // One program under several names is shown once: by the desktop's name, else by its file's, else by the first.
        let isOwn = program.name.file != nil && program.runsAs == nil
        let key = DoorName(names: isOwn ? [] : program.name.names, file: isOwn ? program.name.file : nil)
        guard let before = found[key] else {
            found[key] = program
            return
        }
        guard before.desktopID == nil, before.name.names.count > 1, program.name.names.count == 1 else { return }
        found[key] = program
    }

    func program(at path: String, entry: DesktopEntry?) -> InstalledProgram? {
        guard let file = resolved(path).flatMap(ProgramFile.init(path:)) else { return nil }
        let known = KnownProgram.of(path.fileName) ?? KnownProgram.of(file.path.fileName)
        var reasons = known == nil ? [] : ["known by name"]
        reasons += entry.map(Self.reasons) ?? []
        let asksBroker = file.libraries.contains { $0.hasPrefix("libcamarb.so") }
        if asksBroker { reasons.append("links libcamarb") }
        let linked = file.libraries.filter { name in Self.nodeLibraries.contains { name.hasPrefix($0) } }
        reasons += linked.map { "links \($0)" }
        if file.kind != .other,
            let word = file.names(["/dev/video", "cv2.VideoCapture"], within: Self.searchedBytesMax)
        {
            reasons.append("names \(word)")
        }
        var program = InstalledProgram(
            name: DoorName(names: [path.fileName], file: file.path), title: entry?.title, desktopID: entry?.id,
            reasons: reasons,
            asksBroker: asksBroker, usesNodes: known?.usesNodes ?? true, usesPipeWire: known?.usesPipeWire ?? false)
        program.setReach(file, known, self)
        return program
    }
}

extension InstalledProgram {
    fileprivate mutating func setReach(_ file: ProgramFile, _ known: KnownProgram?, _ search: ProgramSearch) {
        if file.path.fileName != name.names[0] { name.names.append(file.path.fileName) }
        if file.path.hasPrefix("/snap/") || file.path.fileName == "snap" { outOfReach = "sandboxed by snap" }
        if file.isPrivileged { outOfReach = "setuid, or with capabilities of its own" }
        switch file.kind {
        case .dynamic: break
        case .isStatic: outOfReach = "static"
        case .foreign: outOfReach = "for another kind of processor"
        case .other: outOfReach = "no program that can be looked into"
        case .script(let interpreter):
            if let known {
                // A script of its package that starts the program itself, from wherever that lies.
                let own = known.file ?? known.names[0]
                name = DoorName(names: [own], file: nil)
                return
            }
            let runs = interpreter.contains("/") ? interpreter : search.path(of: interpreter)
            guard let runs, let whole = resolved(runs) else {
                outOfReach = "a script of what is not there"
                return
            }
            runsAs = runs.fileName
            name = DoorName(names: name.names + [runs.fileName, whole.fileName], file: whole)
        }
    }

    var entry: String { runsAs ?? name.names[0] }
}

/// Programs that are known to use cameras although their files do not say so: those that load what they need when they need it, and
/// those that a script starts.
struct KnownProgram {
    var names: [String]
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
