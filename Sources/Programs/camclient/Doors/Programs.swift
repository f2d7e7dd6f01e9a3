import Glibc
import System
import WorkbenchCommands

/// A program that uses cameras, as its files show it, and whether the V4L2 door reaches it.
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

    var entry: String { runsAs ?? name.names[0] }

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
                // A script of its package, which starts the program itself.
                name = DoorName(names: [known.file ?? known.names[0]], file: nil)
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
}

/// Looks for programs that use cameras: those of the desktop, those of a known name, and those of `$PATH` whose file links a library
/// for cameras or contains /dev/video. Libraries that a program loads when it runs are not seen.
struct ProgramSearch {
    private static let filesMax = 16_384
    /// Larger programs are browsers and the like, which are known by name.
    private static let searchedBytesMax = 4 << 20
    private static let nodeLibraries = [
        "libv4l1.so", "libv4l2.so", "libavdevice.so", "libcheese", "libgviewv4l2core", "libopencv_videoio",
    ]

    private let folders: [String]
    private var found: [DoorName: InstalledProgram] = [:]

    init() {
        let path = environment("PATH") ?? "/usr/local/bin:/usr/bin:/bin"
        // /bin and /usr/bin are one folder on Debian.
        var seen: Set<String> = []
        folders = path.split(separator: ":").map(String.init).filter { folder in
            folder.hasPrefix("/") && resolved(folder).map { seen.insert($0).inserted } ?? false
        }
    }

    mutating func programs() -> [InstalledProgram] {
        for entry in DesktopEntry.installed() { look(at: entry) }
        let files = folders.lazy.flatMap { folder in namesInFolder(folder).sorted().map { "\(folder)/\($0)" } }
        for path in files.prefix(Self.filesMax) { look(at: path, entry: nil) }
        return found.values.sorted { ($0.name.names[0], $0.name.file ?? "") < ($1.name.names[0], $1.name.file ?? "") }
    }

    func path(of name: String) -> String? { folders.lazy.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 } }

    private mutating func look(at entry: DesktopEntry) {
        if let sandbox = entry.sandbox {
            guard !entry.reasons.isEmpty else { return }
            let name = DoorName(names: [entry.id], file: nil)
            found[name] = InstalledProgram(
                name: name, title: entry.title, desktopID: entry.id, reasons: entry.reasons, usesPipeWire: true,
                outOfReach: "sandboxed by \(sandbox)")
        } else if let command = entry.command.first, let path = command.contains("/") ? command : path(of: command) {
            look(at: path, entry: entry)
        }
    }

    private mutating func look(at path: String, entry: DesktopEntry?) {
        guard let program = program(at: path, entry: entry), !program.reasons.isEmpty else { return }
        // One program under several names is shown once: by the desktop's name, else by its file's, else by the first.
        let isOwn = program.name.file != nil && program.runsAs == nil
        let key = DoorName(names: isOwn ? [] : program.name.names, file: isOwn ? program.name.file : nil)
        if let before = found[key] {
            guard before.desktopID == nil, before.name.names.count > 1, program.name.names.count == 1 else { return }
        }
        found[key] = program
    }

    func program(at path: String, entry: DesktopEntry?) -> InstalledProgram? {
        guard let file = resolved(path).flatMap(ProgramFile.init(path:)) else { return nil }
        let known = KnownProgram.of(path.fileName) ?? KnownProgram.of(file.path.fileName)
        let asksBroker = file.libraries.contains { $0.hasPrefix("libcamarb.so") }
        var reasons = (known == nil ? [] : ["known by name"]) + (entry?.reasons ?? [])
        if asksBroker { reasons.append("links libcamarb") }
        reasons += file.libraries.filter { name in Self.nodeLibraries.contains { name.hasPrefix($0) } }
            .map { "links \($0)" }
        if file.kind != .other,
            let word = file.names(["/dev/video", "cv2.VideoCapture"], within: Self.searchedBytesMax)
        {
            reasons.append("names \(word)")
        }
        var program = InstalledProgram(
            name: DoorName(names: [path.fileName], file: file.path), title: entry?.title, desktopID: entry?.id,
            reasons: reasons, asksBroker: asksBroker, usesNodes: known?.usesNodes ?? true,
            usesPipeWire: known?.usesPipeWire ?? false)
        program.setReach(file, known, self)
        return program
    }
}

/// Programs that use cameras although their files do not show it: those that load libraries when they need them, and those that a
/// script starts.
struct KnownProgram {
    var names: [String]
    var file: String?
    var usesNodes = true
    var usesPipeWire = false

    private static func both(_ names: String..., file: String? = nil) -> KnownProgram {
        KnownProgram(names: names, file: file, usesPipeWire: true)
    }

    private static let all: [KnownProgram] =
        [
            both("chromium"), both("google-chrome", "google-chrome-stable", file: "chrome"),
            both("brave-browser", "brave-browser-stable", file: "brave"),
            both("vivaldi", "vivaldi-stable", file: "vivaldi-bin"),
            both("microsoft-edge", "microsoft-edge-stable", file: "msedge"), both("opera"), both("firefox"),
            both("firefox-esr"), both("librewolf"), both("thunderbird"), both("obs"), both("gst-launch-1.0"),
            both("element-desktop"), both("signal-desktop"), both("discord", "Discord", file: "Discord"),
            both("slack"), both("teams-for-linux"),
            KnownProgram(names: ["snapshot"], usesNodes: false, usesPipeWire: true),
            KnownProgram(names: ["epiphany", "epiphany-browser"], usesNodes: false, usesPipeWire: true),
        ]
        + [
            "zoom", "skypeforlinux", "telegram-desktop", "linphone", "ekiga", "jami", "qtox", "cheese", "guvcview",
            "kamoso", "webcamoid", "motion", "fswebcam", "streamer", "xawtv", "camorama", "luvcview", "zbarcam",
            "ffmpeg", "ffplay", "mpv", "vlc", "mplayer", "v4l2-ctl", "v4l2-compliance", "qv4l2", "uvccapture",
            "mjpg_streamer",
        ].map { KnownProgram(names: [$0]) }

    static func of(_ name: String) -> KnownProgram? { all.first { $0.names.contains(name) || $0.file == name } }
}

/// The camera-related keys of an application's `.desktop` file (the Desktop Entry Specification).
struct DesktopEntry {
    var id: String
    var title = ""
    var command: [String] = []
    var sandbox: String?
    private var categories: [String] = []
    private var words = ""

    private static let entriesMax = 4096
    private static let bytesMax = 1 << 20

    /// All entries of the user's desktop, each id once: of two the earlier folder's, as the specification has it.
    static func installed() -> [DesktopEntry] {
        let home = environment("XDG_DATA_HOME") ?? environment("HOME").map { "\($0)/.local/share" }
        let shared = environment("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        // Flatpaks and snaps have theirs in folders that the login session may not list.
        let folders =
            [home].compactMap { $0 } + shared.split(separator: ":").map(String.init)
            + (home.map { ["\($0)/flatpak/exports/share"] } ?? [])
            + ["/var/lib/flatpak/exports/share", "/var/lib/snapd/desktop"]
        var (found, seen) = ([DesktopEntry](), Set<String>())
        for folder in folders where folder.hasPrefix("/") {
            let applications = "\(folder)/applications"
            for name in namesInFolder(applications).sorted() where name.hasSuffix(".desktop") {
                let id = String(name.dropLast(".desktop".count))
                guard found.count < entriesMax, seen.insert(id).inserted else { continue }
                if let entry = DesktopEntry(id: id, path: "\(applications)/\(name)") { found.append(entry) }
            }
        }
        return found
    }

    private init?(id: String, path: String) {
        guard let file = FileBytes(path) else { return nil }
        self.id = id
        var isMain = false
        for line in String(decoding: file.read(at: 0, Self.bytesMax), as: UTF8.self).split(separator: "\n") {
            if line.hasPrefix("[") {
                isMain = line == "[Desktop Entry]"
                continue
            }
            guard isMain, let equals = line.firstIndex(of: "=") else { continue }
            let value = String(line[line.index(after: equals)...]).trimmed
            let key = String(line[..<equals]).trimmed
            switch key.prefix(while: { $0 != "[" }) {
            case "Name", "GenericName", "Comment", "Keywords":
                if key == "Name" { title = value }
                words += " " + value.lowercased()
            case "Exec": command = Self.command(value)
            case "Categories": categories = value.split(separator: ";").map(String.init)
            case "X-Flatpak": sandbox = "flatpak"
            case "X-SnapInstanceName": sandbox = "snap"
            case "Hidden": if value == "true" { return nil }
            default: break
            }
        }
        guard let first = command.first else { return nil }
        if first.fileName == "flatpak" { sandbox = "flatpak" }
        if first.hasPrefix("/snap/") || first.fileName == "snap" { sandbox = "snap" }
    }

    private static func command(_ text: String) -> [String] {
        var all = CommandWords(text.replacing("\\\\", with: "\\"))
        let words = (all?.takeRest() ?? []).filter { !$0.hasPrefix("%") }
        // `env NAME=VALUE… PROGRAM` is that program.
        guard words.first?.fileName == "env" else { return words }
        return Array(words.dropFirst().drop { $0.contains("=") || $0.hasPrefix("-") })
    }

    var reasons: [String] {
        let named = categories.filter { ["WebBrowser", "VideoConference"].contains($0) }.map { "category \($0)" }
        let word = ["webcam", "camera"].first(where: words.contains)
        return named + (word.map { ["its description says \($0)"] } ?? [])
    }
}
