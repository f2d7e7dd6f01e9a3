import Glibc
import System

/// The user's list of programs that the V4L2 door is on for, `~/.config/camarb/apps`, as the door itself reads it: a name or a whole
/// path a line, `*` for all; lines that begin with `#` are the user's remarks and stay where they are.
struct DoorList {
    /// The door reads no further.
    static let linesMax = 4096
    static let all = "*"

    let path: String
    private(set) var lines: [String]

    static func read() throws(Failure) -> DoorList {
        let path = try userPath()
        guard access(path, F_OK) == 0 else { return DoorList(path: path, lines: []) }
        // Behind links, as a folder of settings that lies elsewhere has it: the link is to stay.
        guard let whole = resolved(path) else { throw Failure.file(path, "cannot be read", errno) }
        let lines = try readText(path).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return DoorList(path: whole, lines: lines.last == "" ? lines.dropLast() : lines)
    }

    private static func userPath() throws(Failure) -> String {
        if let folder = environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") { return "\(folder)/camarb/apps" }
        guard let home = environment("HOME") else {
            throw Failure(.file, "Where your list is cannot be said: neither $HOME nor $XDG_CONFIG_HOME is set.")
        }
        return "\(home)/.config/camarb/apps"
    }

    var entries: [String] { lines.map(\.trimmed).filter { Self.isEntry($0) } }
    var isForAll: Bool { entries.contains(Self.all) }
    func has(_ program: DoorName) -> Bool { entries.contains { program.isMeant(by: $0) } }
    private static func isEntry(_ line: String) -> Bool { !line.isEmpty && !line.hasPrefix("#") }

    mutating func add(_ entry: String) throws(Failure) {
        guard lines.count < Self.linesMax else {
            throw Failure(.file, "\(path) has \(lines.count) lines, and the door reads at most \(Self.linesMax).")
        }
        lines.append(entry)
    }

    mutating func remove(_ program: DoorName) {
        lines.removeAll { Self.isEntry($0.trimmed) && program.isMeant(by: $0.trimmed) }
    }

    mutating func removeAll() { lines.removeAll { Self.isEntry($0.trimmed) } }

    /// Reads the user's list, changes it and writes it in one step: a reader meanwhile sees the old list or the new
    /// one, and of two changes at once the second begins with the result of the first.
    static func change(_ change: (inout DoorList) throws(Failure) -> Void) throws(Failure) -> DoorList {
        let path = try userPath()
        let folder = String(path.prefix(upTo: path.lastIndex(of: "/") ?? path.startIndex))
        try makeFolders(folder)
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw Failure.file(folder, "cannot be opened", errno) }
        defer { close(lock) }
        var list = try read()
        let before = list.lines
        try change(&list)
        if list.lines != before { try writeTextAtOnce(list.lines.map { $0 + "\n" }.joined(), to: list.path) }
        return list
    }

    private static func makeFolders(_ folder: String) throws(Failure) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            // As a user's settings are made: nobody else's business.
            try makeFolder(path, mode: 0o700)
        }
    }
}

/// A program as the door knows it: by the name it is started by, by its file's name, and by the whole path of that.
struct DoorName: Hashable {
    var names: [String]
    var file: String?

    /// Whether a line of the list is about it, by the door's own rule.
    func isMeant(by entry: String) -> Bool {
        entry == DoorList.all || (entry.contains("/") ? entry == file : names.contains(entry))
    }
}
