import Arbiter
import ArbiterProtocol
import PolicyFile
import Testing
import TomlFile

@Suite("Modes in a policy file")
struct ModeTests {
    /// Texts of calendars, with their normal forms.
    static let spans = [
        ("22:00-06:00", "22:00-06:00"), ("mon-fri 08:00-18:00", "mon-fri 08:00-18:00"),
        ("sat,sun 10:00-16:00", "sat,sun 10:00-16:00"), ("fri-mon 20:00-24:00", "mon,fri,sat,sun 20:00-24:00"),
        ("mon-sun 00:00-24:00", "00:00-24:00"), ("wed 00:00-00:30", "wed 00:00-00:30"),
    ]

    @Test("Days are named alone, in lists and in runs", arguments: spans)
    func read(text: String, written: String) throws { #expect(try CalendarSpan(text).written == written) }

    /// Minutes of the week: of each day, from Monday's midnight.
    private static func minute(_ day: CalendarSpan.Day, _ hour: Int, _ minute: Int = 0) -> Int {
        (day.rawValue * 24 + hour) * 60 + minute
    }

    static let moments: [(String, CalendarSpan.Day, Int, Int, Bool)] = [
        ("22:00-06:00", .mon, 21, 59, false), ("22:00-06:00", .mon, 22, 0, true),
        // Past midnight, and from Sunday into Monday.
        ("22:00-06:00", .tue, 5, 59, true), ("22:00-06:00", .tue, 6, 0, false), ("22:00-06:00", .mon, 0, 0, true),
        // The night of a day that is named belongs to it; the next one's does not.
        ("fri 22:00-06:00", .sat, 3, 0, true), ("fri 22:00-06:00", .fri, 3, 0, false),
        ("sun 22:00-06:00", .mon, 3, 0, true), ("sat 22:00-06:00", .mon, 3, 0, false),
        ("mon-fri 08:00-18:00", .sat, 12, 0, false), ("mon-fri 08:00-18:00", .fri, 17, 59, true),
        ("sun 00:00-24:00", .sun, 23, 59, true), ("sun 00:00-24:00", .mon, 0, 0, false),
        ("08:00-08:00", .mon, 8, 0, false),
    ]

    @Test("A part of the week holds from its first minute to the last, past midnight too", arguments: moments)
    func weekly(text: String, day: CalendarSpan.Day, hour: Int, minute: Int, expected: Bool) throws {
        #expect(try CalendarSpan(text).holds(at: Self.minute(day, hour, minute)) == expected)
    }

    /// Berlin in 2026: 29 March, 01:00 UTC, one hour ahead becomes two; 25 October, 01:00 UTC, back.
    private static func berlin(_ moment: Int64) -> Int64 {
        (1_774_746_000..<1_792_890_000).contains(moment) ? 7200 : 3600
    }

    /// When a calendar says something else next, in UTC.
    static let changes: [(String, Int64, Int64?)] = [
        // 28 March, 23:00 local: the night is an hour shorter, and ends at 06:00 by the new clock, 04:00 UTC.
        ("22:00-06:00", 1_774_735_200, 1_774_756_800),
        // 02:30 is left out: the part begins when the clock goes on, at 03:00 local, 01:00 UTC.
        ("02:30-04:00", 1_774_735_200, 1_774_746_000),
        // 25 October: the hour from 02:00 comes twice, and the part with it.
        ("02:00-03:00", 1_792_886_400, 1_792_893_600),
        // Whole weeks never change, and neither does what never holds.
        ("00:00-24:00", 1_774_735_200, nil),
    ]

    @Test("Clocks that are put forward and back move a calendar with them", arguments: changes)
    func clocks(text: String, moment: Int64, change: Int64?) throws {
        var policy = Policy(name: "p")
        policy.modes = [Mode(name: "night", at: [try CalendarSpan(text)])]
        #expect(CalendarClock(policy, offset: Self.berlin).change(after: moment) == change)
    }

    @Test("The first mode whose calendar holds is the calendar's word")
    func firstDeclared() throws {
        let policy = try parse(
            """
            name = "p"
            [[mode]]
            name = "lunch"
            at = "12:00-13:00"
            [[mode]]
            name = "day"
            at = "08:00-18:00"
            """)
        #expect(policy.calendarMode(at: Self.minute(.wed, 12))?.name == "lunch")
        #expect(policy.calendarMode(at: Self.minute(.wed, 13))?.name == "day")
        #expect(policy.calendarMode(at: Self.minute(.wed, 18)) == nil)
    }
}
