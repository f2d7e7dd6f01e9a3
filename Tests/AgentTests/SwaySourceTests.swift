import Agent
import BusTesting
import Glibc
import System
import Testing

@Suite("A sway's windows, over its socket", .timeLimit(.minutes(10)))
struct SwaySourceTests {
    /// A source that has been opened, and its sway.
    private final class Followed {
        let loop: EventLoop
        let sway: ScriptedSway
        let folder: Scratch
        private(set) var source: SwaySource!
        /// The windows at each reported change.
        private(set) var told: [(windows: [UInt32]?, trouble: String?)] = []
        var changes: Int { told.count }

        /// - Parameter pace: no time, unless a test is about it.
        init(pace: Duration = .zero, backOff: BackOff = BackOff(first: .milliseconds(1), longest: .seconds(1))) throws {
            loop = try EventLoop()
            folder = try Scratch()
            sway = try ScriptedSway(at: folder.path + "/socket")
            source = try SwaySource(on: loop, socket: sway.path, folder: nil, pace: pace, backOff: backOff) {
                [unowned self] in told.append((source.desktop?.windows.map(\.id), source.trouble))
            }
            source.open()
        }

        /// A source after its first requests, with these windows.
        static func greeted(_ windows: Int...) throws -> Followed {
            let followed = try Followed()
            try followed.hears(ScriptedSway.Message.greeting)
            if !windows.isEmpty { try followed.learns(windows) }
            return followed
        }

        /// Sway says its windows, and they are known from then on.
        func learns(_ windows: [Int]) throws {
            sway.say(ScriptedSway.tree(windows))
            try becomes(windows.map { UInt32($0) })
        }

        /// Until sway has been asked this and nothing else since it was made, and all is done that was due.
        func hears(_ asked: [ScriptedSway.Message], at place: SourceLocation = #_sourceLocation) throws {
            try isAsked(asked.count)
            try loop.turnWhatIsDue()
            sway.look()
            #expect(sway.asked == asked, sourceLocation: place)
        }

        /// Until the windows are these; nil: until they are not known.
        func becomes(_ windows: [UInt32]?) throws {
            try loop.turn(until: { source.desktop?.windows.map(\.id) == windows }, "the windows to be \(windows ?? [])")
        }

        func leave() { source = nil }

        func isAsked(_ count: Int) throws { try loop.turn(until: { sway.hasHeard(count) }, "\(count) requests") }

        func becomes(trouble: String) throws {
            try loop.turn(until: { source.trouble == trouble }, "“\(trouble)”, and not “\(source.trouble ?? "")”,")
        }
    }

    private typealias Message = ScriptedSway.Message
    private let greeting = Message.greeting

    @Test("A sway is asked who it is, to tell of changes, and for its tree, whose windows are known from then on")
    func greets() throws {
        let followed = try Followed.greeted()
        #expect(!followed.source.isSettled && followed.source.name == "sway" && followed.changes == 0)
        followed.sway.say(
            ScriptedSway.version("1.7-0123 (Aug 1 2021, branch 'x')"), Message(kind: 2, text: #"{"success":true}"#),
            ScriptedSway.tree(5, 6))
        try followed.becomes([5, 6])
        func window(_ id: UInt32) -> Window {
            Window(id: id, process: 1000 + Int32(id), frame: Window.Frame(x: 0, y: 25, width: 400, height: 575))
        }
        #expect(followed.source.desktop == Desktop(windows: [window(5), window(6)], active: 6))
        #expect(followed.source.trouble == nil && followed.source.name == "sway 1.7-0123" && followed.changes == 1)
        try followed.hears(greeting)
    }

    @Test(
        "A sway is called by what its version says first, in 32 bytes at most, or by nothing more",
        arguments: [
            ("", "sway"), (" 1.7", "sway"), ("1.7", "sway 1.7"), ("1.7 (Aug 1 2021)", "sway 1.7"),
            (String(repeating: "x", count: 33), "sway " + String(repeating: "x", count: 32)),
        ])
    func names(version: String, name: String) throws {
        let followed = try Followed.greeted()
        followed.sway.say(ScriptedSway.version(version), ScriptedSway.tree(5))
        try followed.becomes([5])
        #expect(followed.source.name == name)
    }

    @Test("Whoever is told that something is another finds windows without trouble, or a trouble without windows")
    func told() throws {
        let followed = try Followed.greeted(5)
        followed.sway.die()
        try followed.isAsked(6)
        // Nobody is told of a tree that says what is known.
        followed.sway.say(ScriptedSway.tree(6), ScriptedSway.event("focus"))
        try followed.hears(greeting + greeting + [.tree])
        followed.sway.say(ScriptedSway.tree(6))
        try followed.loop.turnWhatIsDue()
        #expect(followed.told.map(\.windows) == [[5], nil, [6]])
        #expect(followed.told.map(\.trouble) == [nil, "sway went away", nil])
    }

    @Test("A source that nobody has any more leaves its sway")
    func leaves() throws {
        let followed = try Followed.greeted()
        #expect(!followed.sway.isLeft)
        followed.leave()
        try followed.loop.turn(until: { followed.sway.isLeft }, "the end of its connection")
    }

    @Test("After a change the tree is asked for once, and after another title, mark or urgency it is not")
    func changes() throws {
        let followed = try Followed.greeted(5)
        for change in ["title", "mark", "urgent"] { followed.sway.say(ScriptedSway.event(change)) }
        try followed.hears(greeting)
        let changes = ["focus", "new", "close", "fullscreen_mode", "move", "floating"].map(ScriptedSway.event)
        // An event without a kind counts as a change.
        let wordless = ["{}", "[]", "{", #"{"change":7}"#].map { Message(kind: 0x8000_0000, text: $0) }
        for (count, change) in (changes + wordless).enumerated() {
            followed.sway.say(change)
            try followed.hears(greeting + Array(repeating: .tree, count: count + 1))
            try followed.learns([5, 10 + count])
        }
    }

    @Test("A change while a tree is under way is asked about when that has come, without a further event, and once")
    func changeDuringAReading() throws {
        let followed = try Followed.greeted()
        followed.sway.say(ScriptedSway.event("focus"), ScriptedSway.event("new"), ScriptedSway.event("focus"))
        try followed.hears(greeting)
        followed.sway.say(ScriptedSway.tree(5))
        try followed.hears(greeting + [.tree])
        try followed.learns([5, 6])
        try followed.hears(greeting + [.tree])
    }

    @Test("From one tree to the next is a pace at least, however often something changes")
    func pace() throws {
        let began = EventLoop.now
        let followed = try Followed(pace: SwaySource.pace)
        for count in 0..<4 {
            let asked = greeting + Array(repeating: Message.tree, count: count)
            try followed.isAsked(asked.count)
            #expect(EventLoop.now - began >= Int64(count) * 50_000_000)
            #expect(followed.sway.asked == asked)
            followed.sway.say(ScriptedSway.tree(5 + count))
            for _ in 0..<20 { followed.sway.say(ScriptedSway.event("focus")) }
            try followed.becomes([5 + UInt32(count)])
        }
    }

    @Test("An answer that comes byte by byte is one, and those that come together are each heard")
    func pieces() throws {
        let followed = try Followed.greeted()
        for byte in ScriptedSway.version("1.8").bytes + ScriptedSway.tree(5).bytes {
            followed.sway.send([byte])
            while try followed.loop.turn(timeout: 0) {}
        }
        try followed.becomes([5])
        #expect(followed.source.name == "sway 1.8" && followed.changes == 1)
        followed.sway.say(ScriptedSway.event("focus"), ScriptedSway.version("1.9"), ScriptedSway.event("title"))
        try followed.hears(greeting + [.tree])
        #expect(followed.source.name == "sway 1.9")
    }

    @Test("A tree that cannot be read leaves the windows not known, which is said, and the next one is read")
    func unreadableTree() throws {
        let followed = try Followed.greeted()
        var asked = greeting
        for text in ["{", "[]", #"{"type":"con","nodes":[]}"#, "{}", ""] {
            try followed.learns([5])
            #expect(followed.source.trouble == nil)
            followed.sway.say(ScriptedSway.event("new"))
            asked.append(.tree)
            try followed.hears(asked)
            followed.sway.say(Message(kind: 4, text: text))
            try followed.becomes(trouble: "sway's list of windows cannot be read")
            #expect(followed.source.desktop == nil)
            followed.sway.say(ScriptedSway.event("new"))
            asked.append(.tree)
            try followed.hears(asked)
        }
        #expect(followed.sway.connections == 1)
    }

    @Test(
        "What does not speak as sway does, says too much, refuses, or is i3, is left with a sentence, and tried again",
        arguments: [
            (Array("HTTP/1.1 400 Bad Request".utf8), "what listens at sway's socket does not speak as sway does"),
            (
                Array("i3-ipc".utf8) + [1, 0, 64, 0] + [4, 0, 0, 0],
                "sway's list of windows has 4194305 bytes; 4194304 are read at most"
            ),
            (
                ScriptedSway.Message(kind: 2, text: #"{"success":false}"#).bytes,
                "sway does not tell when its windows change"
            ),
            (
                ScriptedSway.Message(kind: 7, text: #"{"human_readable":"4.22 (2023)","major":4,"minor":22}"#).bytes,
                "this is i3, which runs on X11 and names no processes: --windows x11 is for it"
            ),
        ])
    func strangers(said: [UInt8], sentence: String) throws {
        let followed = try Followed.greeted()
        followed.sway.send(said)
        try followed.becomes(trouble: sentence)
        #expect(followed.source.desktop == nil)
        followed.sway.die()
        try followed.isAsked(6)
        try followed.learns([5])
        #expect(followed.source.trouble == nil && followed.sway.asked == greeting + greeting)
    }

    @Test("A sway that dies between a request for its tree and the answer is read again when it is back")
    func diesWhileItIsRead() throws {
        let followed = try Followed()
        for round in 1...3 {
            try followed.isAsked(3 * round)
            followed.sway.die()
            try followed.becomes(trouble: "sway went away")
        }
        try followed.hears(greeting + greeting + greeting + greeting)
        try followed.learns([5])
    }

    @Test("Half an answer of a sway that died, however long, is not put before what the next one says")
    func diesWhileItAnswers() throws {
        let followed = try Followed.greeted()
        // As many bytes as are read at most are waited for.
        followed.sway.send(Array("i3-ipc".utf8) + [0, 0, 64, 0] + [4, 0, 0, 0])
        try followed.loop.turnWhatIsDue()
        #expect(!followed.source.isSettled)
        followed.sway.die()
        try followed.hears(greeting + greeting)
        try followed.learns([6])
        #expect(followed.sway.connections == 2)
    }

    @Test("What changed in a sway that died is not asked about at the next one, whose first tree is newer")
    func changeBeforeDeath() throws {
        let followed = try Followed.greeted()
        followed.sway.say(ScriptedSway.event("focus"))
        try followed.loop.turnWhatIsDue()
        followed.sway.die()
        try followed.hears(greeting + greeting)
        try followed.learns([5])
        try followed.hears(greeting + greeting)
    }

    @Test("A sway that is known is tried again after the shortest wait each time it dies")
    func backOffIsReset() throws {
        // Twice as long each time would be nine hours by then.
        let followed = try Followed(backOff: BackOff(first: .milliseconds(1), longest: .seconds(100_000)))
        for round in 1...25 {
            try followed.isAsked(3 * round)
            try followed.learns([5])
            followed.sway.die()
            try followed.becomes(nil)
        }
    }

    @Test("What never becomes known is tried less and less often")
    func backOffGrows() throws {
        let began = EventLoop.now
        let followed = try Followed(backOff: BackOff(first: .milliseconds(1), longest: .seconds(1)))
        for round in 0..<7 {
            try followed.isAsked(3 * (round + 1))
            #expect(EventLoop.now - began >= (1 << Int64(round) - 1) * 1_000_000)
            followed.sway.say(ScriptedSway.version("1.7"), Message(kind: 4, text: "{}"))
            try followed.becomes(trouble: "sway's list of windows cannot be read")
            followed.sway.die()
            try followed.becomes(trouble: "sway went away")
        }
    }

    @Test("Where nobody listens, the reason is said, and a sway that starts later is found")
    func notThere() throws {
        let (loop, folder) = (try EventLoop(), try Scratch())
        let backOff = BackOff(first: .milliseconds(1), longest: .milliseconds(1))
        let source = try SwaySource(on: loop, socket: folder.path + "/socket", folder: nil, backOff: backOff) {}
        source.open()
        #expect(source.trouble == "sway does not answer: No such file or directory")
        let sway = try ScriptedSway(at: folder.path + "/socket")
        try loop.turn(until: { sway.hasHeard(3) }, "it to be found")
    }

    @Test("The socket that is named comes first, and then one of the user's folder with a name as sway gives it alone")
    func otherNames() throws {
        let (loop, folder) = (try EventLoop(), try Scratch())
        let names = [
            "sway-ipc.\(geteuid() + 1).1.sock", "sway-ipc.\(geteuid()).1", "i3-ipc.\(geteuid()).1.sock",
            "xsway-ipc.\(geteuid()).1.sock",
        ]
        let others = try names.map { try ScriptedSway(at: "\(folder.path)/\($0)") }
        let sway = try ScriptedSway(at: "\(folder.path)/sway-ipc.\(geteuid()).4711.sock")
        for (count, named) in [nil, folder.path + "/gone"].enumerated() {
            let source = try SwaySource(on: loop, socket: named, folder: folder.path) {}
            source.open()
            try loop.turn(until: { sway.hasHeard(3 * count + 3) }, "it to be found")
            #expect(source.trouble == nil)
            sway.die()
        }
        let named = try ScriptedSway(at: folder.path + "/named")
        let source = try SwaySource(on: loop, socket: named.path, folder: folder.path) {}
        source.open()
        try loop.turn(until: { named.hasHeard(3) }, "the one that is named")
        for other in others + [sway] { other.look() }
        #expect(others.map(\.connections) == [0, 0, 0, 0] && sway.connections == 2 && source.trouble == nil)
    }
}
