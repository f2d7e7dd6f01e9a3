package import ArbiterProtocol
import Glibc
package import System

/// Users' answers about their apps, kept from one broker to the next: a file for each user, in a folder that is the broker's
/// alone, and in memory for as long as the user has a client.
///
///     file ──a client comes: its lines, one by one──▶ in memory ──an answer──▶ to be written ──beside the loop──┐
///      ▲                                                 │  ▲                                                  │
///      └────────────the last client has left─────────────┘  └──────────────────────────────────────────────────┘
///
/// A file is written as a whole, in one step, and synced. One is written at a time, once for all answers that came meanwhile.
/// Answers that cannot be written stay in memory, also without a client, and are written again when the user's next client
/// leaves. A file that cannot be read is never written over.
package final class AnswerStore {
    /// As many answers as the core takes, with names as long as they may be.
    static let bytesMax = 512 * 1024
    /// Users with a file: as many as there may be connections, and 92 MB at the most. A user that has a file keeps it, however
    /// many others come.
    package static let filesMax = 512

    package typealias Job = @Sendable () -> SystemFault?
    /// Begins a job elsewhere, and calls back on the loop's thread; false where it cannot be begun.
    package typealias Aside = (_ job: @escaping Job, _ done: @escaping (SystemFault?) -> Void) -> Bool

    /// `nil` where nothing outlives the broker.
    package let folder: String?
    private let aside: Aside
    private let warn: (_ user: UInt32, _ sentence: String) -> Void
    /// Users who have a client, or whose file is still to be written.
    private var users: [UInt32: Known] = [:]
    /// Users whose file is to be written, once each, in the order of their answers.
    private var unwritten: [UInt32] = []
    private var writing: UInt32?
    /// Called once a user is in memory no longer.
    package var onGone: (UInt32) -> Void = { _ in }

    private struct Known {
        var answers = Answers()
        /// On the disk, empty files left aside.
        var hasFile: Bool
        var isUnwritten = false
        var isLeaving = false
        /// Work that waits until all answers so far are written.
        var waiting: [() -> Void] = []
    }

    private struct Answers {
        var byKey: [Key: KeptAnswer] = [:]
        /// The user's privacy switch for all of its sessions.
        var isPrivate = false
        var isEmpty: Bool { byKey.isEmpty && !isPrivate }

        /// The lines of a file, in the order of the names.
        var text: String {
            let answers = byKey.values.sorted { ($0.app, $0.isClaimed ? 1 : 0) < ($1.app, $1.isClaimed ? 1 : 0) }
            return (isPrivate ? KeptLines.privateLine + "\n" : "") + answers.map { $0.line + "\n" }.joined()
        }
    }

    private struct Key: Hashable {
        var app: String
        var isClaimed: Bool
    }

    package init(
        folder: String?, aside: @escaping Aside, warn: @escaping (_ user: UInt32, _ sentence: String) -> Void
    ) {
        (self.folder, self.aside, self.warn) = (folder, aside, warn)
    }

    /// The service manager's folder, for a service; else that of a user's programs.
    package static var usualFolder: String? {
        // Several folders have colons between them.
        if let state = environment("STATE_DIRECTORY"), state.hasPrefix("/") {
            return String(state.prefix { $0 != ":" }) + "/answers"
        }
        return StateFolder.ofUser.map { $0 + "/answers" }
    }

    // MARK: Reading

    /// The user's lines, for the caller to `take` one after the other. From then on the user has a client.
    package func lines(of user: UInt32) throws(SystemFault) -> KeptLines {
        if users[user] != nil {
            users[user]?.isLeaving = false
            return KeptLines(users[user].map { Array($0.answers.text.utf8) } ?? [])
        }
        let bytes = try read(user, atMost: Self.bytesMax)
        users[user] = Known(hasFile: bytes != nil)
        return KeptLines(bytes ?? [])
    }

    /// Takes a line into memory; a second line about one app is passed over.
    package func take(_ line: KeptLines.Line, of user: UInt32) {
        switch line {
        case .isPrivate: users[user]?.answers.isPrivate = true
        case .answer(let answer):
            let key = Key(app: answer.app, isClaimed: answer.isClaimed)
            if users[user]?.answers.byKey[key] == nil { users[user]?.answers.byKey[key] = answer }
        case .unreadable(let number):
            warn(user, "\(path(of: user)): line \(number) is passed over: it is nothing that a broker wrote.")
        }
    }

    /// The user's privacy switch, which is the file's first line, also where the user is not in memory.
    package func isPrivate(_ user: UInt32) -> Bool {
        if let known = users[user] { return known.answers.isPrivate }
        let line = Array((KeptLines.privateLine + "\n").utf8)
        return (try? read(user, atMost: line.count)) == line
    }

    private func read(_ user: UInt32, atMost bytesMax: Int) throws(SystemFault) -> [UInt8]? {
        folder == nil ? nil : try WholeFile.read(path(of: user), atMost: bytesMax)
    }

    private func path(of user: UInt32) -> String { "\(folder ?? "")/\(user)" }

    /// The date of an answer; "" where that is not known.
    package func since(_ app: String, isClaimed: Bool, of user: UInt32) -> String {
        users[user]?.answers.byKey[Key(app: app, isClaimed: isClaimed)]?.since ?? ""
    }

    package func count(of user: UInt32) -> Int {
        users[user].map { $0.answers.byKey.count + ($0.answers.isPrivate ? 1 : 0) } ?? 0
    }

    // MARK: Answers

    /// Whether the user has a file, or there are fewer than `filesMax`.
    package func hasRoom(for user: UInt32) -> Bool {
        guard let folder, let known = users[user], !known.hasFile, !known.isUnwritten else { return true }
        let coming = users.values.count { !$0.hasFile && $0.isUnwritten }
        // Others are unfinished.
        let files = namesInFolder(folder).count { name in
            name.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        }
        return coming + files < Self.filesMax
    }

    package func keep(_ user: UInt32, _ app: String, isClaimed: Bool, _ answer: AppAnswer?, _ origin: AnswerOrigin) {
        let key = Key(app: app, isClaimed: isClaimed)
        let before = users[user]?.answers.byKey[key]
        if before?.answer == answer, answer == nil || before?.origin == origin { return }
        users[user]?.answers.byKey[key] = answer.map {
            KeptAnswer(app: app, isClaimed: isClaimed, answer: $0, origin: origin, since: WallClock.writtenNow)
        }
        changed(user)
    }

    package func keep(privacy isOn: Bool, of user: UInt32) {
        guard users[user]?.answers.isPrivate != isOn else { return }
        users[user]?.answers.isPrivate = isOn
        changed(user)
    }

    /// Does work once all answers so far are in the user's file, or could not be written to it; at once, where they are.
    package func whenWritten(_ user: UInt32, _ work: @escaping () -> Void) {
        guard unwritten.contains(user) || writing == user else { return work() }
        users[user]?.waiting.append(work)
    }

    /// The last client of a user has left: its answers leave memory as soon as its file is written.
    package func leave(_ user: UInt32) {
        guard users[user] != nil else { return }
        users[user]?.isLeaving = true
        if users[user]?.isUnwritten == true { changed(user) } else { drop(user) }
    }

    // MARK: Writing

    private func changed(_ user: UInt32) {
        // Never over a file that could not be read: then the user is not in memory.
        guard folder != nil, users[user] != nil else { return }
        users[user]?.isUnwritten = true
        if !unwritten.contains(user) { unwritten.append(user) }
        writeNext()
    }

    private func writeNext() {
        guard writing == nil, let folder, !unwritten.isEmpty else { return }
        let user = unwritten.removeFirst()
        guard let known = users[user] else { return writeNext() }
        writing = user
        // Later work waits for the next writing.
        users[user]?.waiting = []
        let (answers, path) = (known.answers, path(of: user))
        let job: Job = { Self.write(answers, to: path, in: folder) }
        let done: (SystemFault?) -> Void = { [weak self] fault in self?.wrote(user, fault, known.waiting) }
        // Where no thread can be had, the loop waits for the disk.
        if !aside(job, done) { done(job()) }
    }

    private func wrote(_ user: UInt32, _ fault: SystemFault?, _ waiting: [() -> Void]) {
        writing = nil
        if let fault {
            warn(user, "what user \(user) said of apps cannot be written to \(folder ?? ""): \(fault)")
        } else if !unwritten.contains(user), let known = users[user] {
            users[user]?.isUnwritten = false
            users[user]?.hasFile = !known.answers.isEmpty
        }
        var waiting = waiting
        if !unwritten.contains(user), let late = users[user]?.waiting {
            waiting += late
            users[user]?.waiting = []
        }
        for work in waiting { work() }
        if users[user]?.isLeaving == true { drop(user) }
        writeNext()
    }

    private func drop(_ user: UInt32) {
        // Without a folder there is nothing to read it from again.
        guard folder != nil, users[user]?.isUnwritten == false, writing != user else { return }
        users[user] = nil
        onGone(user)
    }

    /// A user without answers has no file.
    private static func write(_ answers: Answers, to path: String, in folder: String) -> SystemFault? {
        let text = answers.text
        makeFolder(folder)
        do throws(SystemFault) {
            guard text.isEmpty else {
                try WholeFile.write(text, to: path)
                try WholeFile.sync(path)
                return nil
            }
            guard unlink(path) == 0 || errno == ENOENT else { throw SystemFault("remove \(path)", errno) }
            try WholeFile.syncFolder(of: path)
            return nil
        } catch { return error }
    }

    private static func makeFolder(_ folder: String) {
        var path = ""
        for part in folder.split(separator: "/") {
            path += "/" + part
            // Where it is not there and cannot be made, writing fails.
            _ = mkdir(path, 0o700)
        }
    }
}
