import Arbiter
import ArbiterProtocol
import Broker
import BusTesting
import PolicyFile
import System
import Testing

/// A broker with a calendar, at a moment that a test sets. Moments of long ago are due at once for the real timer beneath.
private final class Office: CalendarObserverOwner {
    let loop: EventLoop
    /// Seconds since 1970.
    var now = Office.monday
    /// The seconds by which local time is ahead.
    var offset: (Int64) -> Int64 = { _ in 0 }
    var policy: Policy
    private(set) var watch: CalendarObserver!
    private(set) var told: [String?] = []

    /// 2001-09-17, midnight in UTC.
    static let monday: Int64 = 1_000_684_800
    static let hour: Int64 = 3600

    init(_ modes: String, at now: Int64) throws {
        loop = try EventLoop()
        policy = try Self.policy(modes)
        self.now = now
        watch = try CalendarObserver(
            self, on: loop, now: { [unowned self] in self.now }, offset: { [unowned self] in self.offset($0) })
    }

    static func policy(_ modes: String) throws -> Policy {
        try PolicyFile.parse("name = \"p\"\n" + modes, file: "p.toml")
    }

    func take(_ modes: String) throws {
        policy = try Self.policy(modes)
        watch.look(at: policy)
    }

    func calendarChanged(to mode: String?) { told.append(mode) }

    /// The timer rings at its moment.
    func ring() throws {
        now = try #require(watch.next)
        let before = watch.next
        try loop.turn(until: { watch.next != before }, "the timer")
    }
}

@Suite("The policy's calendar, by the clock on the wall", .timeLimit(.minutes(10)))
struct CalendarObserverTests {
    static let day = """
        [[mode]]
        name = "day"
        at = "mon-fri 08:00-18:00"
        """
    private static let (monday, hour, quarter) = (Office.monday, Office.hour, CalendarClock.quarter)

    @Test("Each boundary is told at its minute, once, whatever is looked at in between")
    func boundaries() throws {
        let office = try Office(Self.day, at: Self.monday + 7 * Self.hour)
        #expect(office.told == [] && office.watch.mode == nil)
        var told: [(Int64, String?)] = []
        while office.now < Self.monday + 33 * Self.hour {
            let count = office.told.count
            try office.ring()
            for mode in office.told.dropFirst(count) { told.append((office.now - Self.monday, mode)) }
        }
        #expect(told.map(\.0) == [8 * Self.hour, 18 * Self.hour, 32 * Self.hour])
        #expect(told.map(\.1) == ["day", nil, "day"])
    }

    @Test("A machine that is given another zone is in it a quarter of an hour later at the latest")
    func zone() throws {
        let office = try Office(Self.day, at: Self.monday + 6 * Self.hour + 60)
        office.offset = { _ in 2 * Self.hour }
        try office.ring()
        #expect(office.now == Self.monday + 6 * Self.hour + Self.quarter && office.told == ["day"])
        #expect(office.watch.change == Self.monday + 16 * Self.hour && office.watch.changeWords == "2001-09-17 18:00")
    }

    @Test("A clock that somebody sets back or forward is looked at where it is now")
    func clockSet() throws {
        let office = try Office(Self.day, at: Self.monday + 12 * Self.hour)
        for (hour, told, change) in [
            (3, ["day", nil], 8), (36, ["day", nil, "day"], 42),
        ] as [(Int64, [String?], Int64)] {
            office.now = Self.monday + hour * Self.hour
            office.watch.look(at: office.policy)
            #expect(office.told == told && office.watch.change == Self.monday + change * Self.hour)
        }
    }

    @Test("Without a calendar nothing wakes the broker, and the mode that an earlier one said ends")
    func withoutCalendar() throws {
        let none = try Office("", at: Self.monday + 12 * Self.hour)
        #expect(none.told == [] && none.watch.next == nil && none.watch.changeWords == "")
        let office = try Office(Self.day, at: Self.monday + 12 * Self.hour)
        try office.take("")
        #expect(office.told == ["day", nil] && office.watch.mode == nil)
        #expect(office.watch.next == nil && office.watch.change == nil)
        try office.loop.settle()
        #expect(office.told == ["day", nil])
        // The next policy with a calendar is followed.
        try office.take(Self.day)
        #expect(office.told == ["day", nil, "day"])
        try office.ring()
        #expect(office.watch.next != nil)
    }

    @Test("Of a policy that is about to be loaded its own calendar is told beforehand, and no mode ends for a moment")
    func beforehand() throws {
        let office = try Office(Self.day, at: Self.monday + 12 * Self.hour)
        let longer = try Office.policy(Self.day.replacing("18:00", with: "20:00"))
        office.watch.look(at: longer)
        #expect(office.told == ["day"] && office.watch.change == Self.monday + 20 * Self.hour)
        office.policy = longer
        office.watch.look(at: try Office.policy(Self.day.replacing("\"day\"", with: "\"open\"")))
        #expect(office.told == ["day", "open"])
    }
}
