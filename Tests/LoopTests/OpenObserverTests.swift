import BusTesting
import CLinux
import System
import Testing

private final class WatchedFile {
    let loop: EventLoop
    private(set) var observer: OpenObserver!
    private(set) var opened = 0
    private(set) var closed = 0
    private(set) var news = 0
    let program: OpeningProgram

    init() throws {
        loop = try EventLoop()
        program = try OpeningProgram(on: loop)
        observer = try OpenObserver(on: loop) { [unowned self] news in
            #expect(!news.isIncomplete)
            opened += news.opened
            closed += news.closed
            self.news += 1
        }
        try #require(camarb_open_watch_add(observer.descriptor, program.path) == 0)
    }
}

@Suite("News of a file that is opened", .timeLimit(.minutes(10)))
struct OpenObserverTests {
    private static let second: Int64 = 1_000_000_000

    @Test("News take two hundred turns within a second, and then wait for the next one")
    func turns() {
        var turns = OpenObserver.TurnsOfASecond()
        let began: Int64 = 77 * Self.second + 5
        for number in 1..<200 { #expect(turns.take(at: began + Int64(number)) == nil, "turn \(number)") }
        // The second began with the first of them.
        #expect(turns.take(at: began + Self.second) == began + 1 + Self.second)
        // It has passed: as many again.
        for number in 1..<200 { #expect(turns.take(at: began + 1 + Self.second + Int64(number)) == nil) }
        #expect(turns.take(at: began + 2 * Self.second) == began + 2 + 2 * Self.second)
    }

    @Test("News that come more rarely never wait")
    func rareTurns() {
        var turns = OpenObserver.TurnsOfASecond()
        for number in 1...2000 { #expect(turns.take(at: 9 * Self.second + Int64(number) * Self.second / 150) == nil) }
    }

    @Test(
        "Whoever opens and closes a file without end has it told in two hundred turns a second, and all of it is told")
    func endless() throws {
        let file = try WatchedFile()
        let began = EventLoop.now
        for _ in 0..<1000 {
            try file.program.openAndClose(times: 1)
            _ = try file.loop.turn(timeout: 0)
        }
        // However slow the machine: those of each second that has begun since.
        #expect(Int64(file.news) <= (1 + (EventLoop.now - began) / Self.second) * 200)
        try file.loop.turn(until: { file.opened == 1000 && file.closed == 1000 })
        // And what comes afterwards is, too.
        let before = file.news
        try file.program.openAndClose(times: 1)
        try file.loop.turn(until: { file.opened == 1001 && file.closed == 1001 })
        #expect(file.news > before)
    }

    @Test("What has arrived can be taken without waiting for its turn, a bufferful at a time")
    func takeOne() throws {
        let file = try WatchedFile()
        file.observer.takeOne()
        #expect(file.news == 0)
        try file.program.openAndClose(times: 300)
        file.observer.takeOne()
        #expect(file.news == 1 && file.opened > 0 && file.opened < 300)
        try file.loop.turn(until: { file.opened == 300 && file.closed == 300 })
        #expect(file.news > 2)
    }
}
