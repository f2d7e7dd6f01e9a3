import Glibc
import System

/// What an application's `.desktop` file says of it, as far as that is about cameras (the Desktop Entry Specification).
struct DesktopEntry {
    var id: String
    var title = ""
    var command: [String] = []
    var categories: [String] = []
    var words = ""
    var sandbox: String?

    /// All that the user's desktop shows, each id once: of two the earlier folder's, as the specification has it.
    static func installed() -> [DesktopEntry] {
        let home = environment("XDG_DATA_HOME") ?? environment("HOME").map { "\($0)/.local/share" }
        let shared = environment("XDG_DATA_DIRS") ?? "/usr/local/share:/usr/share"
        // Where flatpaks and snaps put theirs, also where the session does not say so.
        let folders =
            [home].compactMap { $0 } + shared.split(separator: ":").map(String.init)
            + (home.map { ["\($0)/flatpak/exports/share"] } ?? [])
            + ["/var/lib/flatpak/exports/share", "/var/lib/snapd/desktop"]
        var found: [DesktopEntry] = []
        var seen: Set<String> = []
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

    /// A desktop has some hundreds.
    private static let entriesMax = 4096
    private static let bytesMax = 1 << 20

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
        var words = (all?.takeRest() ?? []).filter { !$0.hasPrefix("%") }
        // `env NAME=VALUE… PROGRAM` is that program.
        if words.first?.fileName == "env" {
            words = Array(words.dropFirst().drop { $0.contains("=") || $0.hasPrefix("-") })
        }
        return words
    }
}
