import ArbiterProtocol
import Broker
import Foundation
import System
import Testing

/// A store in a folder of its own, whose work beside the loop is done by the test.
private final class Desk {
    let folder = "/tmp/camarb-answers.\(UUID().uuidString)"
    private(set) var store: AnswerStore!
    private(set) var warnings: [String] = []
    private(set) var gone: [UInt32] = []
    private var jobs: [(job: AnswerStore.Job, done: (SystemFault?) -> Void)] = []
    var begun = 0
    var hasNoThread = false

    init(folder given: String?? = nil) {
        store = AnswerStore(
            folder: given ?? folder,
            aside: { [unowned self] job, done in
                if hasNoThread { return false }
                begun += 1
                jobs.append((job, done))
                return true
            }, warn: { [unowned self] _, sentence in warnings.append(sentence) })
        store.onGone = { [unowned self] in gone.append($0) }
    }

    deinit { try? FileManager.default.removeItem(atPath: folder) }

    static func with1000(folder given: String?? = nil) throws -> Desk {
        let desk = Desk(folder: given)
        try desk.come(1000)
        return desk
    }

    func work() {
        let (job, done) = jobs.removeFirst()
        done(job())
    }
    func workAll() { while !isIdle { work() } }
    var isIdle: Bool { jobs.isEmpty }

    func place(_ text: String, of user: UInt32) throws {
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try text.write(toFile: path(of: user), atomically: false, encoding: .utf8)
    }
    func path(of user: UInt32) -> String { "\(folder)/\(user)" }
    func text(of user: UInt32) -> String? { try? String(contentsOfFile: path(of: user), encoding: .utf8) }

    /// A client of the user comes: all its lines.
    @discardableResult
    func come(_ user: UInt32) throws -> [KeptLines.Line] {
        var lines = try store.lines(of: user)
        var found: [KeptLines.Line] = []
        while let line = lines.next() {
            store.take(line, of: user)
            found.append(line)
        }
        return found
    }

    func allow(_ app: String, of user: UInt32) { store.keep(user, app, isClaimed: false, .allow, .user) }
}

private let date = "2026-11-23T09:12:00Z"

@Suite("What is kept of users' answers")
struct AnswerStoreTests {
    @Test("The loop writes nothing: one job writes all that is said meanwhile, and who waits is told then")
    func waiting() throws {
        let desk = try Desk.with1000()
        var told: [String] = []
        func tell(_ what: String) { desk.store.whenWritten(1000) { told.append(what) } }
        tell("nothing is said")
        for app in ["first", "second"] {
            desk.allow(app, of: 1000)
            tell(app)
        }
        #expect(told == ["nothing is said"] && desk.text(of: 1000) == nil && desk.begun == 1)
        // Begun with the first answer, before a caller waited: later answers may not be in it.
        desk.work()
        #expect(told == ["nothing is said"] && !desk.isIdle)
        desk.work()
        #expect(told == ["nothing is said", "first", "second"] && desk.begun == 2 && desk.isIdle)
        // Nothing changes, and the file under way has it.
        for _ in 1...2 { desk.allow("third", of: 1000) }
        tell("third")
        desk.work()
        #expect(told.last == "third" && desk.isIdle)
    }

    @Test("The memory of a user without a client goes when its file is written, and not earlier")
    func leaving() throws {
        let desk = try Desk.with1000()
        desk.allow("photos", of: 1000)
        desk.allow("notes", of: 1000)
        desk.store.leave(1000)
        desk.work()
        #expect(desk.gone.isEmpty && desk.store.count(of: 1000) == 2)
        // Back before the file was written: nothing is read, and nothing is lost.
        #expect(try desk.come(1000).count == 2)
        desk.work()
        #expect(desk.gone.isEmpty)
        desk.store.leave(1000)
        #expect(desk.gone == [1000] && desk.store.count(of: 1000) == 0)
        #expect(try desk.come(1000).count == 2)
    }

    @Test("What cannot be written stays in memory, also without a client, and is written when it can be")
    func unwritable() throws {
        let desk = try Desk.with1000()
        // After it was read, the name becomes a folder.
        try FileManager.default.createDirectory(
            atPath: desk.path(of: 1000) + "/x", withIntermediateDirectories: true)
        desk.allow("photos", of: 1000)
        var isTold = false
        desk.store.whenWritten(1000) { isTold = true }
        desk.workAll()
        #expect(isTold && desk.warnings.count == 1 && desk.warnings[0].contains("cannot be written"))
        desk.store.leave(1000)
        desk.workAll()
        #expect(desk.gone.isEmpty && desk.store.count(of: 1000) == 1)
        #expect(try desk.come(1000).count == 1)
        try FileManager.default.removeItem(atPath: desk.path(of: 1000))
        desk.store.leave(1000)
        desk.work()
        #expect(desk.gone == [1000] && desk.text(of: 1000)?.hasSuffix(" photos\n") == true)
    }

    @Test(
        "A file that cannot be read is never written over: a folder, a FIFO, a link",
        arguments: ["folder", "fifo", "link"])
    func unreadable(_ what: String) throws {
        let desk = Desk()
        try desk.place("allow vouched user \(date) other\n", of: 1)
        let path = desk.path(of: 1000)
        switch what {
        case "folder": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        case "fifo": #expect(mkfifo(path, 0o600) == 0)
        default: #expect(symlink(desk.path(of: 1), path) == 0)
        }
        #expect(throws: SystemFault.self) { try desk.come(1000) }
        desk.allow("photos", of: 1000)
        desk.store.keep(privacy: true, of: 1000)
        var isTold = false
        desk.store.whenWritten(1000) { isTold = true }
        desk.store.leave(1000)
        #expect(isTold && desk.begun == 0 && desk.store.count(of: 1000) == 0)
        #expect(desk.text(of: 1) == "allow vouched user \(date) other\n")
    }

    @Test("As many users as there are files to be had have one, and those who have one keep theirs")
    func files() throws {
        let desk = try Desk.with1000()
        for user in 1...UInt32(AnswerStore.filesMax - 1) { try desk.place("", of: user) }
        try desk.come(2000)
        #expect(desk.store.hasRoom(for: 1000) && desk.store.hasRoom(for: 2000))
        desk.allow("photos", of: 1000)
        // Its file is not there yet, and counts.
        #expect(desk.store.hasRoom(for: 1000) && !desk.store.hasRoom(for: 2000))
        desk.workAll()
        #expect(desk.store.hasRoom(for: 1000) && !desk.store.hasRoom(for: 2000))
        desk.store.keep(1000, "photos", isClaimed: false, nil, .user)
        desk.workAll()
        #expect(desk.text(of: 1000) == nil && desk.store.hasRoom(for: 2000))
        // A file of nothing but the privacy switch counts, too.
        desk.store.keep(privacy: true, of: 2000)
        desk.workAll()
        #expect(desk.store.hasRoom(for: 2000) && !desk.store.hasRoom(for: 1000))
    }

    @Test("Where no thread can be had the loop itself writes")
    func noThread() throws {
        let desk = try Desk.with1000()
        desk.hasNoThread = true
        desk.allow("photos", of: 1000)
        var isTold = false
        desk.store.whenWritten(1000) { isTold = true }
        #expect(isTold && desk.text(of: 1000)?.hasSuffix(" photos\n") == true)
    }

    @Test("Without a folder what is said stays for the broker's life")
    func noFolder() throws {
        let desk = try Desk.with1000(folder: .some(nil))
        desk.allow("photos", of: 1000)
        desk.store.leave(1000)
        #expect(desk.begun == 0 && desk.gone.isEmpty)
        #expect(try desk.come(1000).count == 1)
    }
}
