import ArbiterProtocol
import Bus
import BusTesting
import System
import Testing

/// A logind that is followed, and what was told of it, oldest first.
private final class Desk: LogindDelegate {
    let loop: EventLoop
    let bus: FakeLogind
    private(set) var logind: Logind!
    private var told: [String] = []

    init(_ prepare: (FakeLogind) -> Void = { _ in }) throws {
        loop = try EventLoop()
        bus = try FakeLogind(on: loop)
        prepare(bus)
        logind = try Logind(address: bus.address, on: loop, delegate: self)
    }

    func logindKnows(_ sessions: [LoginSessionStatus]) {
        told.append("knows [\(sessions.map(Self.words).joined(separator: ", "))]")
    }
    func logindLost(_ why: String) { told.append("lost: \(why)") }
    func loginSessionChanged(_ session: LoginSessionStatus) { told.append("changed \(Self.words(session))") }
    func loginSessionEnded(_ id: String) { told.append("ended \(id)") }
    func machineSleeps(_ asleep: Bool) { told.append(asleep ? "sleeps" : "wakes") }
    func logindRefusedInhibitor(_ why: String) { told.append("refused: \(why)") }

    private static func words(_ session: LoginSessionStatus) -> String {
        var words = "\(session.id) of \(session.user)"
        if !session.seat.isEmpty { words += " at \(session.seat)" }
        if session.isRemote { words += " remote" }
        if session.isActive { words += " active" }
        if session.isLocked { words += " locked" }
        return words
    }

    /// The news since the last call, once nothing more is under way: both ends of the connection are of this loop.
    func news() throws -> [String] {
        try loop.settle()
        defer { told = [] }
        return told
    }

    /// The same, once it has said which sessions there are, for the first time or again.
    @discardableResult
    func known() throws -> [String] {
        try loop.turn(until: { told.contains { $0.hasPrefix("knows") } }, "the sessions")
        return try news()
    }

    func isHeld(of given: Int, _ number: Int) -> Bool { bus.inhibitorsGiven == given && bus.isHeld(number) }

    func letGo(_ number: Int) throws { try loop.turn(until: { !bus.isHeld(number) }, "the inhibitor to be let go") }
}

@Suite("systemd-logind, followed", .timeLimit(.minutes(10)))
struct LogindTests {
    @Test("What comes, changes and ends is told once each, and nothing that is as before")
    func changes() throws {
        let desk = try Desk { $0.add("1", user: 1000) }
        try desk.known()
        for _ in 1...2 { desk.bus.say(changed: "1", ["Active": .boolean(true)]) }
        desk.bus.say(changed: "1", ["LockedHint": .boolean(true), "IdleHint": .boolean(true)])
        desk.bus.say(changed: "1", ["Active": .boolean(false)], of: "org.freedesktop.login1.User")
        desk.bus.say(changed: "unheard", ["Active": .boolean(false)])
        desk.bus.add("2", user: 1001)
        desk.bus.say(new: "2")
        #expect(
            try desk.news() == [
                "changed 1 of 1000 at seat0 active", "changed 1 of 1000 at seat0 active locked",
                "changed 2 of 1001 at seat0",
            ])
        for _ in 1...2 { desk.bus.say(removed: "1") }
        #expect(try desk.news() == ["ended 1"])
    }

    @Test("The session of a user's manager is nobody's login, whatever changes of it")
    func managers() throws {
        let desk = try Desk {
            $0.add("1", user: 1000)
            $0.add("2", user: 1000, seat: "", active: true, class: "manager")
            $0.add("3", user: 1001, seat: "", active: true, class: "manager-early")
        }
        #expect(try desk.known() == ["knows [1 of 1000 at seat0]"])
        desk.bus.say(changed: "2", ["Active": .boolean(false)])
        desk.bus.add("4", user: 1002, seat: "", active: true, class: "manager")
        desk.bus.say(new: "4")
        desk.bus.say(removed: "2")
        #expect(try desk.news() == [])
    }

    @Test("A session that ends while it is asked about is not told of, and holds up nobody")
    func endsWhileAsked() throws {
        let desk = try Desk {
            $0.add("1", user: 1000)
            $0.add("2", user: 1001)
            $0.holds = "GetAll 1"
        }
        try desk.loop.turn(until: { desk.bus.held.count == 1 })
        desk.bus.say(removed: "1")
        #expect(try desk.news() == [])
        desk.bus.answer(0)
        #expect(try desk.news() == ["knows [2 of 1001 at seat0]"])
        // The same, with an answer that was on its way.
        desk.bus.holds = nil
        desk.bus.add("3", user: 1002)
        desk.bus.say(new: "3")
        desk.bus.say(removed: "3")
        desk.bus.add("3", user: 1002)
        #expect(try desk.news() == [])
    }

    @Test("No more sessions are followed than there may be, and few questions are under way at once")
    func bound() throws {
        let desk = try Desk { bus in
            for number in 0..<Logind.sessionsMax + 3 { bus.add("\(number)", user: 1000) }
            bus.holds = "GetAll"
        }
        try desk.loop.turn(until: { !desk.bus.held.isEmpty })
        var asked = 0
        var told = try desk.news()
        while !desk.bus.held.isEmpty {
            #expect(desk.bus.held.count == min(Logind.askedMax, Logind.sessionsMax - asked))
            #expect(told == [])
            desk.bus.answer(0)
            asked += 1
            told = try desk.news()
        }
        #expect(asked == Logind.sessionsMax && desk.logind.leftOut == 3)
        // All at once, when the last of them is known, by their ids.
        #expect(told.count == 1 && told[0].split(separator: ",").count == Logind.sessionsMax)
        #expect(told[0].hasPrefix("knows [0 of 1000 at seat0, 1 of 1000 at seat0, 10 of"))
        // There is room for another when one has ended.
        desk.bus.holds = nil
        desk.bus.add("late", user: 1001)
        desk.bus.say(new: "late")
        desk.bus.say(removed: "0")
        desk.bus.say(new: "late")
        #expect(try desk.news() == ["ended 0", "changed late of 1001 at seat0"] && desk.logind.leftOut == 4)
    }

    @Test("Whoever is not the owner of logind's name is not believed, while it runs and when it has ended")
    func impostor() throws {
        let desk = try Desk { $0.add("1", user: 1000) }
        try desk.known()
        func lie(_ sender: String) throws -> [String] {
            desk.bus.say(asleep: true, sender: sender)
            desk.bus.say(changed: "1", ["Active": .boolean(true)], sender: sender)
            desk.bus.say(new: "1", sender: sender)
            desk.bus.say("SessionRemoved", of: "1", sender: sender)
            desk.bus.say(owner: "", sender: sender)
            return try desk.news()
        }
        #expect(try lie(":1.66") == [])
        desk.bus.say(owner: "")
        #expect(try desk.news() == ["lost: logind has ended"])
        #expect(try lie(":1.7") == [])
    }

    @Test("Another logind is asked anew, and nothing that an earlier one was still to answer counts")
    func another() throws {
        let desk = try Desk {
            $0.add("1", user: 1000)
            $0.holds = ""
        }
        try desk.loop.turn(until: { desk.bus.held.count == 4 })
        let earlier = desk.bus.held.count
        desk.bus.delay = .uint64(1)
        desk.bus.isAsleep = true
        desk.bus.say(owner: ":1.8")
        try desk.loop.settle()
        for _ in 0..<earlier { desk.bus.answer(0) }
        #expect(try desk.news() == [] && desk.logind.sleepDelay == 5_000_000_000)
        try desk.letGo(0)
        desk.bus.isAsleep = false
        desk.bus.delay = .uint64(2_000_000)
        desk.bus.sessions = []
        desk.bus.holds = nil
        while !desk.bus.held.isEmpty { desk.bus.answer(0) }
        #expect(try desk.news() == ["knows []"] && desk.logind.sleepDelay == 2_000_000_000)
        #expect(desk.isHeld(of: 2, 1))
    }

    @Test("A logind that does not say which sessions there are is asked again, after twice as long each time")
    func busy() throws {
        let desk = try Desk {
            $0.busyFor = 2
            $0.add("1", user: 1000)
        }
        let sentence = "lost: logind does not say which sessions there are: too busy"
        #expect(try desk.known() == [sentence, sentence, "knows [1 of 1000 at seat0]"])
        // From reading to reading: a moment that is taken after an answer may be later than the timer that the answer armed.
        let asked = desk.bus.sessionsAskedAt
        #expect(asked.count == 3 && asked[1] - asked[0] >= 1_000_000_000 && asked[2] - asked[1] >= 2_000_000_000)
        #expect(desk.bus.isHeld(desk.bus.inhibitorsGiven - 1))
    }

    /// Microseconds there, nanoseconds here.
    @Test(
        "How long logind waits for inhibitors is its own word, and five seconds where it has none that makes sense",
        arguments: [
            (.uint64(0), 0), (.uint64(1), 1_000), (.uint64(5_000_000), 5_000_000_000),
            (.uint64(90_000_000), 90_000_000_000), (.uint64(9_223_372_036_854_774), 9_223_372_036_854_774_000),
            (.uint64(9_223_372_036_854_775), 5_000_000_000), (.uint64(.max), 5_000_000_000),
            (.string("90s"), 5_000_000_000), (nil, 5_000_000_000),
        ] as [(WireValue?, Int64)])
    func delay(_ said: WireValue?, _ nanoseconds: Int64) throws {
        let desk = try Desk { $0.delay = said }
        try desk.known()
        #expect(desk.logind.sleepDelay == nanoseconds)
    }

    @Test("One inhibitor is held while the machine is awake, let go when it may sleep, and taken again when it wakes")
    func inhibitor() throws {
        let desk = try Desk()
        try desk.known()
        #expect(desk.isHeld(of: 1, 0))
        for _ in 1...2 { desk.bus.say(asleep: true) }
        #expect(try desk.news() == ["sleeps"] && desk.bus.isHeld(0))
        for _ in 1...2 { desk.logind.letSleep() }
        try desk.letGo(0)
        #expect(desk.bus.inhibitorsGiven == 1)
        for _ in 1...2 { desk.bus.say(asleep: false) }
        #expect(try desk.news() == ["wakes"] && desk.isHeld(of: 2, 1))
        // It did not sleep after all: the one that was not let go is still held.
        for asleep in [true, false] { desk.bus.say(asleep: asleep) }
        #expect(try desk.news() == ["sleeps", "wakes"] && desk.isHeld(of: 2, 1))
    }

    @Test("A logind that gives no inhibitor is told of, with its reason, and is asked again with the next waking")
    func refused() throws {
        let desk = try Desk { $0.refusesInhibitors = true }
        #expect(try desk.known() == ["refused: Permission denied", "knows []"])
        desk.bus.refusesInhibitors = false
        for asleep in [true, false] { desk.bus.say(asleep: asleep) }
        #expect(try desk.news() == ["sleeps", "wakes"] && desk.isHeld(of: 1, 0))
    }

    @Test("Two inhibitors that were asked for are one that is held")
    func twoAnswers() throws {
        let desk = try Desk { $0.holds = "Inhibit" }
        try desk.known()
        for asleep in [true, false] { desk.bus.say(asleep: asleep) }
        try desk.loop.settle()
        #expect(desk.bus.count("Inhibit") == 2)
        for _ in 1...2 { desk.bus.answer(0) }
        try desk.loop.settle()
        #expect(desk.bus.isHeld(0))
        try desk.letGo(1)
        desk.logind.letSleep()
        try desk.letGo(0)
    }
}
