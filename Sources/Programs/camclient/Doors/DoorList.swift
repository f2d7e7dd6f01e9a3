import CLinux
import Glibc
import System
import WorkbenchCommands

/// A program as the door knows it: by the name of its start, by its file's name, and by the file's whole path.
struct DoorName: Hashable {
    var names: [String]
    var file: String?

    /// The door's own rule for a line of the list.
    func isMeant(by entry: String) -> Bool {
        entry == DoorList.all || (entry.contains("/") ? entry == file : names.contains(entry))
    }
}

/// The user's list of programs that have the V4L2 door, `~/.config/camarb/apps`, which the door itself reads: a name or a whole
/// path a line, `*` for all; lines that begin with `#` are the user's remarks and stay in their place.
struct DoorList {
    private static let linesMax = 4096
    static let all = "*"

    private let path: String
    private var lines: [String]

    static func read() throws(Failure) -> DoorList {
        let path = try userPath()
        guard access(path, F_OK) == 0 else { return DoorList(path: path, lines: []) }
        // A link to a list in another folder stays.
        guard let whole = resolved(path) else { throw Failure.file(path, "cannot be read", errno) }
        let lines = try readText(path).split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        return DoorList(path: whole, lines: lines.last == "" ? lines.dropLast() : lines)
    }

    private static func userPath() throws(Failure) -> String {
        if let folder = environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") { return "\(folder)/camarb/apps" }
        guard let home = environment("HOME") else {
            throw Failure(.file, "The place of your list is not known: neither $HOME nor $XDG_CONFIG_HOME is set.")
        }
        return "\(home)/.config/camarb/apps"
    }

    var entries: [String] { lines.map(\.trimmed).filter(Self.isEntry) }
    var isForAll: Bool { entries.contains(Self.all) }
    func has(_ program: DoorName) -> Bool { entries.contains(where: program.isMeant) }
    private static func isEntry(_ line: String) -> Bool { !line.isEmpty && !line.hasPrefix("#") }

    mutating func add(_ entry: String) throws(Failure) {
        guard lines.count < Self.linesMax else {
            throw Failure(.file, "\(path) has \(lines.count) lines, and the door reads at most \(Self.linesMax).")
        }
        lines.append(entry)
    }

    mutating func remove(where isMeant: (String) -> Bool = { _ in true }) {
        lines.removeAll { Self.isEntry($0.trimmed) && isMeant($0.trimmed) }
    }

    /// Changes the user's list in one step: a reader meanwhile sees the old list or the new one, and of two changes at once the
    /// second begins with the result of the first.
    static func change(_ change: (inout DoorList) throws(Failure) -> Void) throws(Failure) -> DoorList {
        let (folder, _) = place(of: try userPath())
        var made = ""
        for part in folder.split(separator: "/") {
            made += "/" + part
            try makeFolder(made, mode: 0o700)
        }
        let lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else { throw Failure.file(folder, "cannot be opened", errno) }
        defer { close(lock) }
        var list = try read()
        let before = list.lines
        try change(&list)
        if list.lines != before { try writeTextAtOnce(list.lines.map { $0 + "\n" }.joined(), to: list.path) }
        return list
    }
}

/// Whether udev keeps the machine's cameras for the broker: two rules of camarb's, which a link of the same name in /etc to
/// /dev/null switches off, see udev(7).
enum MachineProtection {
    private static let rules = ["72-camarb.rules", "74-camarb.rules"]
    private static let administrators = "/etc/udev/rules.d"
    private static let installed = ["/lib/udev/rules.d", "/usr/lib/udev/rules.d", "/usr/local/lib/udev/rules.d"]
    private static let nothing = "/dev/null"

    static var isInstalled: Bool {
        rules.allSatisfy { rule in installed.contains { access("\($0)/\(rule)", F_OK) == 0 } }
    }

    static var isOn: Bool { isInstalled && rules.contains { target("\(administrators)/\($0)") != nothing } }

    static func set(_ isOn: Bool) throws(Failure) {
        guard isInstalled else {
            throw Failure(
                .answerIsNo, "camarb's rules for udev are not installed: the cameras are as the distribution has them.")
        }
        let paths = rules.map { "\(administrators)/\($0)" }
        if !isOn, let path = paths.first(where: { access($0, F_OK) == 0 && target($0) != nothing }) {
            throw Failure(.file, "\(path) is an administrator's own; it is left alone, and nothing was changed.")
        }
        for path in paths {
            if isOn, target(path) == nothing {
                guard unlink(path) == 0 else { throw Failure.file(path, "cannot be removed", errno) }
            } else if !isOn, target(path) == nil {
                guard mkdir(administrators, 0o755) == 0 || errno == EEXIST, symlink(nothing, path) == 0 else {
                    throw Failure.file(path, "cannot be made", errno)
                }
            }
        }
        try run("udevadm", "control", "--reload")
        // "add", since only then the distribution's rule gives nodes to their group.
        try run(
            "udevadm", "trigger", "--settle", "--action=add", "--subsystem-match=video4linux", "--subsystem-match=media"
        )
    }

    private static func target(_ path: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(path, &bytes, bytes.count)
        return count < 0 ? nil : String(decoding: bytes[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    private static func run(_ words: String...) throws(Failure) {
        var arguments = words.map { strdup($0) } + [nil]
        var environment = [strdup("PATH=/usr/sbin:/usr/bin:/sbin:/bin"), nil]
        defer { for word in arguments + environment { free(word) } }
        var child = pid_t()
        let error = posix_spawnp(&child, words[0], nil, nil, &arguments, &environment)
        guard error == 0 else { throw Failure.file(words[0], "cannot be started", error) }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            throw Failure(
                .file,
                "\(words.joined(separator: " ")) failed; its own words stand above. The rules are switched all the same."
            )
        }
    }
}

/// A program's file, read without running it: its kind, its libraries, and the words in it.
struct ProgramFile {
    enum Kind: Hashable {
        /// Loaded by the program loader, which the door needs.
        case dynamic
        case isStatic
        case foreign
        case script(interpreter: String)
        case other
    }

    let path: String
    private(set) var kind = Kind.other
    private(set) var libraries: [String] = []
    /// The program loader preloads nothing into a program with rights that its user has not.
    let isPrivileged: Bool

    /// Longer tables are not a program's.
    private static let tableBytesMax = 16 << 20
    private static let headersMax = 128

    init?(path: String) {
        self.path = path
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG, status.st_mode & 0o111 != 0 else {
            return nil
        }
        isPrivileged = status.st_mode & (S_ISUID | S_ISGID) != 0 || camarb_file_has_capabilities(path)
        guard let file = FileBytes(path) else { return nil }
        let head = file.read(at: 0, 256)
        if head.starts(with: "#!".utf8) {
            let line = head.dropFirst(2).prefix { $0 != UInt8(ascii: "\n") }
            let words = String(decoding: line, as: UTF8.self).split(whereSeparator: \.isWhitespace).map(String.init)
            // `env` looks for the program in PATH, after its own flags.
            let named = words.first?.fileName == "env" ? words.dropFirst().first { !$0.hasPrefix("-") } : words.first
            kind = .script(interpreter: named ?? "")
        } else if head.starts(with: [0x7f, 0x45, 0x4c, 0x46]) {
            readLinks(file, head)
        }
    }

    private static var machine: UInt64 {
        #if arch(x86_64)
            62
        #elseif arch(arm64)
            183
        #else
            0
        #endif
    }

    /// Reads the program headers and the dynamic section of an ELF file, see elf(5).
    private mutating func readLinks(_ file: FileBytes, _ head: [UInt8]) {
        // 64 bits, lowest byte first, this processor: as the door's own library.
        guard head.count >= 64, head[4] == 2, head[5] == 1, head.number(at: 18, 2) == Self.machine else {
            kind = .foreign
            return
        }
        let size = Int(head.number(at: 54, 2))
        let count = min(Int(head.number(at: 56, 2)), Self.headersMax)
        guard size >= 56 else { return }
        let table = file.read(at: head.number(at: 32, 8), size * count)
        var loads: [(address: UInt64, offset: UInt64, bytes: UInt64)] = []
        var dynamic: [UInt8] = []
        kind = .isStatic
        for start in stride(from: 0, to: table.count - size + 1, by: size) {
            let (offset, bytes) = (table.number(at: start + 8, 8), table.number(at: start + 32, 8))
            switch table.number(at: start, 4) {
            case 1: loads.append((table.number(at: start + 16, 8), offset, bytes))
            case 2: dynamic = file.read(at: offset, Int(min(bytes, UInt64(Self.tableBytesMax))))
            case 3: kind = .dynamic
            default: break
            }
        }
        var needed: [Int] = []
        var names = (address: UInt64(0), bytes: UInt64(0))
        for start in stride(from: 0, to: dynamic.count - 15, by: 16) {
            let value = dynamic.number(at: start + 8, 8)
            switch dynamic.number(at: start, 8) {
            case 1: needed.append(Int(truncatingIfNeeded: value))
            case 5: names.address = value
            case 10: names.bytes = value
            default: break
            }
        }
        guard let load = loads.first(where: { names.address >= $0.address && names.address - $0.address < $0.bytes })
        else { return }
        let text = file.read(
            at: load.offset &+ (names.address - load.address), Int(min(names.bytes, UInt64(Self.tableBytesMax))))
        libraries = needed.filter { text.indices.contains($0) }.map { start in
            String(decoding: text[start...].prefix { $0 != 0 }, as: UTF8.self)
        }
    }

    func names(_ words: [String], within bytesMax: Int) -> String? {
        guard let bytes = FileBytes(path)?.read(at: 0, bytesMax) else { return nil }
        return words.first { word in bytes.withUnsafeBytes { camarb_bytes_have($0.baseAddress, $0.count, word) } }
    }
}
