import ArbiterProtocol
import Broker
import BusTesting
import CLinux
import Glibc
import System
import Testing

/// A file in place of a camera's node, with a broker and its recorder core.
private final class WatchedFile: NodeObserverOwner {
    let loop: EventLoop
    var nodeUse = NodeObserver.OwnUse.none
    var isHeldOutside = false
    var nodeUsersMost: Int?
    var isReadable = true
    private(set) var looks = 0
    /// Programs that were reported to have it open, oldest first.
    private(set) var told: [String?] = []
    var whenLooked: () -> Void = {}
    private(set) lazy var watch = NodeObserver(self, on: loop)
    let program: OpeningProgram

    init() throws {
        loop = try EventLoop()
        program = try OpeningProgram(on: loop)
    }

    static func watched() throws -> WatchedFile {
        let file = try WatchedFile()
        file.watch.begin()
        #expect(file.watch.trouble == nil)
        return file
    }

    func watchNode(_ descriptor: Int32, _ done: @escaping (Result<Void, BrokerError>) -> Void) {
        guard isReadable else { return done(.failure(BrokerError(.deviceFault, "cannot watch it: not permitted"))) }
        #expect(camarb_open_watch_add(descriptor, program.path) == 0)
        done(.success(()))
    }

    /// Like a recorder core: the node is open meanwhile.
    func lookAtNode(_ done: @escaping (Result<String, BrokerError>) -> Void) {
        looks += 1
        if nodeUse == .none { #expect(throws: Never.self) { try program.openAndClose(times: 1) } }
        whenLooked()
        done(.success("PID 77 (cheese)"))
    }

    func nodeIsOpen(in program: String?) { told.append(program) }

    func untilSeen() throws {
        try loop.turn(until: { told.last == NodeObserverTests.cheese }, "the program to be seen")
    }
    func untilGone() throws { try loop.turn(until: { told.last == .some(nil) }, "its end") }
}

@Suite("Programs that open a camera's node without asking", .timeLimit(.minutes(10)))
struct NodeObserverTests {
    static let cheese = "PID 77 (cheese)"

    @Test("What our own recorder core opens for a grant is told to nobody, and a program beside it is")
    func ours() throws {
        let file = try WatchedFile.watched()
        file.nodeUse = .opening
        let own = try file.program.open()
        // Read before the next one comes: the kernel merges two equal ones.
        try file.loop.settle()
        file.nodeUse = .open
        file.watch.ownUseChanged()
        let looks = file.looks
        let outside = try file.program.open()
        try file.untilSeen()
        try file.program.close(outside)
        try file.untilGone()
        #expect(file.told == [Self.cheese, nil])
        #expect(file.looks > looks)
        try file.program.close(own)
    }

    @Test("A program that streams holds the camera and does not merely have it open; a look follows its close at once")
    func streams() throws {
        let file = try WatchedFile.watched()
        file.whenLooked = { [unowned file] in file.isHeldOutside = true }
        let outside = try file.program.open()
        try file.loop.turn(until: { file.isHeldOutside }, "the look that finds it")
        #expect(file.told == [])
        var isClosed = false
        file.whenLooked = { [unowned file] in if isClosed { file.isHeldOutside = false } }
        try file.program.close(outside)
        isClosed = true
        try file.loop.turn(until: { !file.isHeldOutside }, "the look that finds it gone")
        #expect(file.told == [])
    }

    @Test("Programs that open and close the node without end have it looked at in pauses")
    func endless() throws {
        let began = EventLoop.now
        let file = try WatchedFile.watched()
        for _ in 0..<2000 {
            try file.program.openAndClose(times: 1)
            _ = try file.loop.turn(timeout: 0)
        }
        // However slow the machine: one for each pause that there was time for, one at the beginning and one at the end.
        let pauses = (EventLoop.now - began) / NodeObserver.pauses.lowerBound
        #expect(file.looks <= pauses + 2)
    }

    @Test("After more openings than the kernel keeps a new look finds the programs that still have it open")
    func overflows() throws {
        let file = try WatchedFile.watched()
        let outside = try file.program.open()
        // Two for each, and a queue has 16,384 by default.
        try file.program.openAndClose(times: 9000)
        file.nodeUsersMost = 1
        try file.untilSeen()
        file.nodeUsersMost = 0
        try file.program.close(outside)
        try file.untilGone()
    }

    @Test("A node that may not be watched is said to be unwatched, and why")
    func unreadable() throws {
        let file = try WatchedFile()
        file.isReadable = false
        file.watch.begin()
        #expect(file.watch.trouble == "cannot watch it: not permitted")
        #expect(file.looks == 0)
        file.watch.end()
        #expect(file.watch.trouble == nil)
    }
}
