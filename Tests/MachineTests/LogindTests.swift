import ArbiterProtocol
import Bus
import BusTesting
import Loop
import Machine
import Testing

/// A logind that is followed, and what was told of it, oldest first.
private final class Desk: LogindDelegate {
    let loop: EventLoop
    let bus: FakeLogind
    private(set) var logind: Logind!
    private(set) var told: [String] = []

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

    func takeTold() -> [String] {
        defer { told = [] }
        return told
    }

    /// Until it has said which sessions there are, for the first time or again.
    func known() throws {
        try loop.turn(until: { told.contains { $0.hasPrefix("knows") } }, "the sessions")
        try settle()
    }

    /// Until nothing more is under way: both ends of the connection are of this loop.
    func settle() throws { while try loop.turn(timeout: 0) {} }

    func letGo(_ number: Int) throws { try loop.turn(until: { !bus.isHeld(number) }, "the inhibitor to be let go") }
}

@Suite("systemd-logind, followed", .timeLimit(.minutes(10)))
struct LogindTests {
    // MARK: Sessions

    @Test("All sessions are told at once, by their ids, when the last of them is known")
    func known() throws {
        let desk = try Desk {
            $0.add("c1", user: 1001, active: true)
            $0.add("2", user: 1000, seat: "", remote: true)
            $0.add("10", user: 1000, locked: true)
            $0.holds = "GetAll"
        }
        try desk.loop.turn(until: { desk.bus.held.count == 3 })
        desk.bus.answer(2)
        desk.bus.answer(0)
        try desk.settle()
        #expect(desk.told == [])
        desk.bus.answer(0)
        try desk.settle()
        #expect(desk.told == ["knows [10 of 1000 at seat0 locked, 2 of 1000 remote, c1 of 1001 at seat0 active]"])
    }

    @Test("A machine without a login session is known to have none")
    func none() throws {
        let desk = try Desk()
        try desk.known()
        #expect(desk.told == ["knows []"])
    }

    @Test("What comes, changes and ends is told once each, and nothing that is as before")
    func changes() throws {
        let desk = try Desk { $0.add("1", user: 1000) }
        try desk.known()
        _ = desk.takeTold()
        desk.bus.say(changed: "1", ["Active": .boolean(true)])
        desk.bus.say(changed: "1", ["Active": .boolean(true)])
        desk.bus.say(changed: "1", ["LockedHint": .boolean(true), "IdleHint": .boolean(true)])
        desk.bus.say(changed: "1", ["Active": .boolean(false)], of: "org.freedesktop.login1.User")
        desk.bus.say(changed: "unheard", ["Active": .boolean(false)])
        desk.bus.add("2", user: 1001)
        desk.bus.say(new: "2")
        try desk.settle()
        desk.bus.say(removed: "1")
        desk.bus.say(removed: "1")
        try desk.settle()
        #expect(
            desk.told == [
                "changed 1 of 1000 at seat0 active", "changed 1 of 1000 at seat0 active locked",
                "changed 2 of 1001 at seat0", "ended 1",
            ])
    }

    @Test("The session of a user's manager is nobody's login, whatever changes of it")
    func managers() throws {
        let desk = try Desk {
            $0.add("1", user: 1000)
            $0.add("2", user: 1000, seat: "", active: true, class: "manager")
            $0.add("3", user: 1001, seat: "", active: true, class: "manager-early")
        }
        try desk.known()
        desk.bus.say(changed: "2", ["Active": .boolean(false)])
        desk.bus.add("4", user: 1002, seat: "", active: true, class: "manager")
        desk.bus.say(new: "4")
        try desk.settle()
        desk.bus.say(removed: "2")
        try desk.settle()
        #expect(desk.told == ["knows [1 of 1000 at seat0]"])
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
        try desk.settle()
        #expect(desk.told == [])
        desk.bus.answer(0)
        try desk.settle()
        #expect(desk.told == ["knows [2 of 1001 at seat0]"])
        // The same, with an answer that was on its way.
        desk.bus.holds = nil
        desk.bus.add("3", user: 1002)
        desk.bus.say(new: "3")
        desk.bus.say(removed: "3")
        desk.bus.add("3", user: 1002)
        try desk.settle()
        #expect(desk.takeTold() == ["knows [2 of 1001 at seat0]"])
    }

    @Test("No more sessions are followed than there may be, and few questions are under way at once")
    func bound() throws {
        let desk = try Desk { bus in
            for number in 0..<Logind.sessionsMax + 3 { bus.add("\(number)", user: 1000) }
            bus.holds = "GetAll"
        }
        try desk.loop.turn(until: { !desk.bus.held.isEmpty })
        try desk.settle()
        var asked = 0
        while !desk.bus.held.isEmpty {
            #expect(desk.bus.held.count == min(Logind.askedMax, Logind.sessionsMax - asked))
            #expect(desk.told == [])
            desk.bus.answer(0)
            asked += 1
            try desk.settle()
        }
        #expect(asked == Logind.sessionsMax && desk.logind.leftOut == 3)
        #expect(desk.told.count == 1 && desk.told[0].split(separator: ",").count == Logind.sessionsMax)
        // There is room for another when one has ended.
        desk.bus.holds = nil
        _ = desk.takeTold()
        desk.bus.add("late", user: 1001)
        desk.bus.say(new: "late")
        desk.bus.say(removed: "0")
        desk.bus.say(new: "late")
        try desk.settle()
        #expect(desk.told == ["ended 0", "changed late of 1001 at seat0"] && desk.logind.leftOut == 4)
    }

    // MARK: Whom it believes

    @Test("Whoever is not the owner of logind's name is not believed, while it runs and when it has ended")
    func impostor() throws {
        let desk = try Desk { $0.add("1", user: 1000) }
        try desk.known()
        func lie(_ sender: String) throws {
            desk.bus.say(asleep: true, sender: sender)
            desk.bus.say(changed: "1", ["Active": .boolean(true)], sender: sender)
            desk.bus.say(new: "1", sender: sender)
            desk.bus.say("SessionRemoved", sender: sender) { signal in
                signal.append("1")
                signal.append(objectPath: "/org/freedesktop/login1/session/s1")
            }
            desk.bus.say(owner: "", sender: sender)
            try desk.settle()
        }
        _ = desk.takeTold()
        try lie(":1.66")
        #expect(desk.takeTold() == [])
        desk.bus.say(owner: "")
        try desk.settle()
        #expect(desk.takeTold() == ["lost: logind has ended"])
        try lie(":1.7")
        #expect(desk.takeTold() == [])
    }

    // MARK: Beginning and end

    @Test("Where logind does not run that is told, and it is followed as soon as its name has an owner")
    func doesNotRun() throws {
        let desk = try Desk { $0.say(owner: "") }
        try desk.loop.turn(until: { !desk.told.isEmpty })
        try desk.settle()
        #expect(desk.takeTold() == ["lost: logind does not run"] && desk.bus.calls == [])
        desk.bus.add("1", user: 1000)
        desk.bus.say(owner: ":1.8")
        try desk.settle()
        #expect(desk.told == ["knows [1 of 1000 at seat0]"])
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
        try desk.settle()
        for _ in 0..<earlier { desk.bus.answer(0) }
        try desk.settle()
        #expect(desk.told == [] && desk.logind.sleepDelay == 5_000_000_000)
        try desk.letGo(0)
        desk.bus.isAsleep = false
        desk.bus.delay = .uint64(2_000_000)
        desk.bus.sessions = []
        desk.bus.holds = nil
        while !desk.bus.held.isEmpty { desk.bus.answer(0) }
        try desk.settle()
        #expect(desk.told == ["knows []"] && desk.logind.sleepDelay == 2_000_000_000)
        #expect(desk.bus.inhibitorsGiven == 2 && desk.bus.isHeld(1))
    }

    @Test("A logind that does not say which sessions there are is asked again, after twice as long each time")
    func busy() throws {
        let desk = try Desk {
            $0.busyFor = 2
            $0.add("1", user: 1000)
        }
        try desk.known()
        // From reading to reading: a moment that is taken after an answer may be later than the timer that the answer armed.
        let asked = desk.bus.sessionsAskedAt
        #expect(asked.count == 3 && asked[1] - asked[0] >= 1_000_000_000 && asked[2] - asked[1] >= 2_000_000_000)
        let sentence = "lost: logind does not say which sessions there are: too busy"
        #expect(desk.told == [sentence, sentence, "knows [1 of 1000 at seat0]"])
        #expect(desk.bus.isHeld(desk.bus.inhibitorsGiven - 1))
    }

    @Test("A bus that is lost is looked for again, and all of logind is asked anew")
    func busLost() throws {
        let desk = try Desk {
            $0.add("1", user: 1000)
            $0.isAsleep = true
        }
        try desk.known()
        #expect(desk.takeTold() == ["sleeps", "knows [1 of 1000 at seat0]"])
        desk.bus.isAsleep = false
        desk.bus.dropConnection()
        try desk.known()
        #expect(desk.told == ["wakes", "lost: the system bus has ended the connection", "knows [1 of 1000 at seat0]"])
        try desk.letGo(0)
        #expect(desk.bus.inhibitorsGiven == 2 && desk.bus.isHeld(1))
    }

    // MARK: Sleep

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
        #expect(desk.bus.inhibitorsGiven == 1 && desk.bus.isHeld(0))
        _ = desk.takeTold()
        desk.bus.say(asleep: true)
        desk.bus.say(asleep: true)
        try desk.settle()
        #expect(desk.takeTold() == ["sleeps"] && desk.bus.isHeld(0))
        desk.logind.letSleep()
        desk.logind.letSleep()
        try desk.letGo(0)
        #expect(desk.bus.inhibitorsGiven == 1)
        desk.bus.say(asleep: false)
        desk.bus.say(asleep: false)
        try desk.settle()
        #expect(desk.takeTold() == ["wakes"] && desk.bus.inhibitorsGiven == 2 && desk.bus.isHeld(1))
        // It did not sleep after all: the one that was not let go is still held.
        desk.bus.say(asleep: true)
        desk.bus.say(asleep: false)
        try desk.settle()
        #expect(desk.takeTold() == ["sleeps", "wakes"] && desk.bus.inhibitorsGiven == 2 && desk.bus.isHeld(1))
    }

    @Test("A machine that was about to sleep before anybody looked is told so, and wakes with the end of its logind")
    func asleepBefore() throws {
        let desk = try Desk { $0.isAsleep = true }
        try desk.known()
        #expect(desk.takeTold() == ["sleeps", "knows []"])
        desk.bus.say(owner: "")
        try desk.settle()
        #expect(desk.told == ["wakes", "lost: logind has ended"])
        try desk.letGo(0)
        #expect(desk.bus.inhibitorsGiven == 1)
    }

    @Test("A logind that gives no inhibitor is told of, with its reason, and is asked again with the next waking")
    func refused() throws {
        let desk = try Desk { $0.refusesInhibitors = true }
        try desk.known()
        #expect(desk.takeTold() == ["refused: Permission denied", "knows []"])
        desk.bus.refusesInhibitors = false
        desk.bus.say(asleep: true)
        desk.bus.say(asleep: false)
        try desk.settle()
        #expect(desk.told == ["sleeps", "wakes"] && desk.bus.inhibitorsGiven == 1 && desk.bus.isHeld(0))
    }

    @Test("Two inhibitors that were asked for are one that is held")
    func twoAnswers() throws {
        let desk = try Desk { $0.holds = "Inhibit" }
        try desk.known()
        desk.bus.say(asleep: true)
        desk.bus.say(asleep: false)
        try desk.settle()
        #expect(desk.bus.count("Inhibit") == 2)
        desk.bus.answer(0)
        desk.bus.answer(0)
        try desk.settle()
        #expect(desk.bus.isHeld(0))
        try desk.letGo(1)
        desk.logind.letSleep()
        try desk.letGo(0)
    }
}
