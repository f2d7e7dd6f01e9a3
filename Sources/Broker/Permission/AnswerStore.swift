import ArbiterProtocol
import Glibc
import Loop
import Machine

/// What users said of their apps, kept from one broker to the next: a file for each user, in a folder that is the broker's
/// alone.
///
/// A file is read when the first client of its user comes, and written as a whole, in one step, when something is said:
/// a broker that is killed meanwhile leaves the old one or the new one. It is then synced beside the loop, so that it
/// survives a loss of power a moment later. A line that no broker wrote is reported in the journal and skipped; the
/// others count.
final class AnswerStore {
    /// As many answers as the core takes, with names as long as they may be.
    static let bytesMax = 512 * 1024

    /// Nil: nothing is kept.
    private let folder: String?
    private let journal: Journal
    private var users: [UInt32: Said] = [:]
    /// Whose file could not be read, which is said once.
    private var unread: Set<UInt32> = []
    /// Whose file was written and may not be on the disk yet, once each, in the order of writing.
    private var unsynced: [UInt32] = []
    private let side: SideWork

    /// What one user said.
    struct Said {
        fileprivate var byKey: [Key: KeptAnswer] = [:]
        /// The privacy switch for all of its sessions.
        var isPrivate = false

        /// In the order of their names.
        var answers: [KeptAnswer] {
            byKey.values.sorted { ($0.app, $0.isClaimed ? 1 : 0) < ($1.app, $1.isClaimed ? 1 : 0) }
        }

        /// As a file has it.
        var text: String { (isPrivate ? privateLine + "\n" : "") + answers.map { $0.line + "\n" }.joined() }
    }

    private static let privateLine = "private"

    fileprivate struct Key: Hashable {
        var app: String
        var isClaimed: Bool
    }

    /// - Parameter isKept: false in a simulation, which leaves nothing behind.
    /// - Throws: where there is no descriptor left for work beside the loop.
    init(journal: Journal, isKept: Bool, on loop: EventLoop) throws(SystemFault) {
        self.journal = journal
        side = try SideWork(on: loop)
        folder = isKept ? Self.usualFolder : nil
    }

    /// The service manager's, for a service; else where a user's programs keep what they know.
    private static var usualFolder: String? {
        func path(_ name: String) -> String? {
            getenv(name).map { String(cString: $0) }.flatMap { $0.hasPrefix("/") ? $0 : nil }
        }
        // Several folders are told with colons between.
        if let state = path("STATE_DIRECTORY") { return String(state.prefix { $0 != ":" }) + "/answers" }
        if let state = path("XDG_STATE_HOME") { return state + "/camarb/answers" }
        return path("HOME").map { $0 + "/.local/state/camarb/answers" }
    }

    // MARK: Reading

    /// What was kept for a user; nil: it was read already, or it cannot be read, and is tried again with the next client.
    func load(_ user: UInt32) -> Said? {
        guard users[user] == nil else { return nil }
        guard let folder else {
            users[user] = Said()
            return nil
        }
        do throws(SystemFault) {
            let said = try read("\(folder)/\(user)")
            users[user] = said
            return said
        } catch {
            if unread.insert(user).inserted {
                journal.send(
                    .warning,
                    "what user \(user) said of apps cannot be read from \(folder), and is left as it is: \(error)")
            }
            return nil
        }
    }

    private func read(_ path: String) throws(SystemFault) -> Said {
        // A FIFO of that name would make the broker wait for its writer, for ever.
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        if descriptor < 0, errno == ENOENT { return Said() }
        guard descriptor >= 0 else { throw SystemFault("open \(path)", errno) }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw SystemFault("stat \(path)", errno) }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SystemFault("read \(path), which is no regular file", EINVAL)
        }
        var bytes = [UInt8](repeating: 0, count: min(Self.bytesMax, max(0, Int(status.st_size))))
        let count = Glibc.read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw SystemFault("read \(path)", errno) }
        var said = Said()
        for (number, line) in bytes.prefix(count).split(separator: UInt8(ascii: "\n")).enumerated() {
            let line = String(decoding: line, as: UTF8.self)
            if line == Self.privateLine {
                said.isPrivate = true
            } else if let answer = KeptAnswer(line: line) {
                said.byKey[Key(app: answer.app, isClaimed: answer.isClaimed)] = answer
            } else {
                journal.send(.warning, "\(path): line \(number + 1) is passed over: it is nothing that a broker wrote.")
            }
        }
        return said
    }

    /// Since when an answer stands; "" where that is not known.
    func since(_ app: String, isClaimed: Bool, of user: UInt32) -> String {
        users[user]?.byKey[Key(app: app, isClaimed: isClaimed)]?.since ?? ""
    }

    // MARK: Writing

    /// - Parameter answer: nil: it is forgotten.
    func keep(_ user: UInt32, _ app: String, isClaimed: Bool, _ answer: AppAnswer?, _ origin: AnswerOrigin) {
        let key = Key(app: app, isClaimed: isClaimed)
        let before = users[user]?.byKey[key]
        if before?.answer == answer, answer == nil || before?.origin == origin { return }
        users[user]?.byKey[key] = answer.map {
            KeptAnswer(app: app, isClaimed: isClaimed, answer: $0, origin: origin, since: Self.today())
        }
        write(user)
    }

    func keep(privacy isOn: Bool, of user: UInt32) {
        guard users[user]?.isPrivate != isOn else { return }
        users[user]?.isPrivate = isOn
        write(user)
    }

    /// Never over a file that could not be read, which would be lost.
    private func write(_ user: UInt32) {
        guard let folder, let said = users[user] else { return }
        Self.makeFolder(folder)
        do throws(SystemFault) { try WholeFile.write(said.text, to: "\(folder)/\(user)") } catch {
            return cannotWrite(user, error)
        }
        if !unsynced.contains(user) { unsynced.append(user) }
        sync(in: folder)
    }

    /// One file at a time; what is written meanwhile waits for the next turn. Where no thread can be had it waits for
    /// the next writing.
    private func sync(in folder: String) {
        guard let user = unsynced.first else { return }
        let path = "\(folder)/\(user)"
        let isBegun = side.begin(
            { () -> SystemFault? in
                do throws(SystemFault) { try WholeFile.sync(path) } catch { return error }
                return nil
            },
            done: { [weak self] fault in
                guard let self else { return }
                if let fault { cannotWrite(user, fault) }
                sync(in: folder)
            })
        if isBegun { unsynced.removeFirst() }
    }

    private func cannotWrite(_ user: UInt32, _ fault: SystemFault) {
        journal.send(.warning, "what user \(user) said of apps cannot be written to \(folder ?? ""): \(fault)")
    }

    private static func makeFolder(_ folder: String) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            // There already, or it cannot be made: then writing says why.
            _ = mkdir(path, 0o700)
        }
    }

    /// `2026-11-23T09:12:00Z`
    private static func today() -> String {
        var seconds = time(nil)
        var parts = tm()
        gmtime_r(&seconds, &parts)
        func two(_ number: Int32) -> String { number < 10 ? "0\(number)" : "\(number)" }
        return "\(1900 + parts.tm_year)-\(two(1 + parts.tm_mon))-\(two(parts.tm_mday))"
            + "T\(two(parts.tm_hour)):\(two(parts.tm_min)):\(two(parts.tm_sec))Z"
    }
}
